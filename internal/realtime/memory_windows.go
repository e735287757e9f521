package realtime

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	minEnabled  = 1 // QUOTA_LIMITS_HARDWS_MIN_ENABLE: the least is kept under pressure too
	maxDisabled = 8 // QUOTA_LIMITS_HARDWS_MAX_DISABLE: the most may be exceeded
	// workingSlack is what may come in later and is not locked, yet kept.
	workingSlack = 64 << 20
	noAccess     = windows.PAGE_NOACCESS | windows.PAGE_GUARD
)

// region is a piece of committed memory.
type region struct{ at, size uintptr }

// lockMemory raises the least working set above all that the process has, and
// locks every page of it. Windows cannot lock what comes later; that lies
// within the working set that it must keep.
func (s *Session) lockMemory() Grant {
	g := Grant{Item: ItemMemory, Asked: "locked", Got: "not locked"}
	all := committed()
	total := uintptr(0)
	for _, r := range all {
		total += r.size
	}
	var least, most uintptr
	var flags uint32
	windows.GetProcessWorkingSetSizeEx(self, &least, &most, &flags)
	want := total + workingSlack
	if err := windows.SetProcessWorkingSetSizeEx(self, want, want+workingSlack, minEnabled|maxDisabled); err != nil {
		g.Why = fmt.Sprintf("SetProcessWorkingSetSizeEx to %d MiB: %v", want>>20, err)
		g.Hint = "run as Administrator, or give your account the right \"Increase a process working set\""
		return g
	}
	s.onRestore(func() { windows.SetProcessWorkingSetSizeEx(self, least, most, flags) })
	locked, err := s.lockAll(all)
	g.Got = fmt.Sprintf("%d of %d MiB locked", locked>>20, total>>20)
	switch {
	case err != nil:
		g.Why = "VirtualLock: " + err.Error()
	case locked < total:
		g.Why = "pages read back as not locked, although VirtualLock succeeded"
	default:
		g.Got = "locked"
	}
	return g
}

// lockAll locks the regions and gives how much reads back as locked, judged by
// the first page of each; err is the first refusal.
func (s *Session) lockAll(all []region) (locked uintptr, first error) {
	s.onRestore(func() {
		for _, r := range all {
			windows.VirtualUnlock(r.at, r.size)
		}
	})
	pages := make([]windows.PSAPI_WORKING_SET_EX_INFORMATION, len(all))
	for i, r := range all {
		if err := windows.VirtualLock(r.at, r.size); err != nil && first == nil {
			first = fmt.Errorf("%d KiB: %w", r.size>>10, err)
		}
		*(*uintptr)(unsafe.Pointer(&pages[i].VirtualAddress)) = r.at
	}
	size := unsafe.Sizeof(pages[0]) * uintptr(len(pages))
	if err := windows.QueryWorkingSetEx(self, uintptr(unsafe.Pointer(&pages[0])), uint32(size)); err != nil {
		return 0, fmt.Errorf("QueryWorkingSetEx: %w", err)
	}
	for i, r := range all {
		if a := pages[i].VirtualAttributes; a.Valid() && a.Locked() {
			locked += r.size
		}
	}
	return locked, first
}

// committed lists the process's own memory: heap, stacks, the program and its
// libraries. Files that are merely mapped are left out.
func committed() []region {
	all := make([]region, 0, 4096)
	for at := uintptr(0); ; {
		var m windows.MemoryBasicInformation
		if windows.VirtualQuery(at, &m, unsafe.Sizeof(m)) != nil || m.RegionSize == 0 {
			return all
		}
		const mapped = 0x40000 // MEM_MAPPED
		if m.State == windows.MEM_COMMIT && m.Type != mapped && m.Protect&noAccess == 0 {
			all = append(all, region{m.BaseAddress, m.RegionSize})
		}
		at = m.BaseAddress + m.RegionSize
	}
}
