package realtime

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32           = windows.NewLazySystemDLL("kernel32.dll")
	procSetInformation = kernel32.NewProc("SetProcessInformation")
	procGetInformation = kernel32.NewProc("GetProcessInformation")
)

// self is the pseudo-handle of this process.
var self = windows.CurrentProcess()

// call is a system call that may be missing from an old Windows.
func call(p *windows.LazyProc, args ...uintptr) (uintptr, error) {
	if p.Find() != nil {
		return 0, fmt.Errorf("this Windows has no %s", p.Name)
	}
	r, _, err := p.Call(args...)
	if r == 0 {
		return 0, fmt.Errorf("%s: %w", p.Name, err)
	}
	return r, nil
}

// classes are the priority classes of the levels, by name.
var classes = map[Level]uint32{
	Realtime: windows.REALTIME_PRIORITY_CLASS,
	High:     windows.HIGH_PRIORITY_CLASS,
	Normal:   windows.NORMAL_PRIORITY_CLASS,
	Low:      windows.BELOW_NORMAL_PRIORITY_CLASS,
}

// prepareSystem sets the priority class (which schedule reads back) and turns
// power throttling off.
func (s *Session) prepareSystem() []Grant {
	before, err := windows.GetPriorityClass(self)
	if err == nil && windows.SetPriorityClass(self, classes[s.priority.Level]) == nil {
		s.onRestore(func() { windows.SetPriorityClass(self, before) })
	}
	return []Grant{s.throttling()}
}

// powerThrottling is PROCESS_POWER_THROTTLING_STATE.
type powerThrottling struct{ version, control, state uint32 }

const (
	processPowerThrottling = 4 // of PROCESS_INFORMATION_CLASS
	throttleSpeed          = 1 // PROCESS_POWER_THROTTLING_EXECUTION_SPEED, Windows 10 1709
	throttleResolution     = 4 // PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, Windows 11
)

// throttling keeps Windows 10 from running this process on slow cores, and
// Windows 11 from taking its timer resolution back when its window is covered.
func (s *Session) throttling() Grant {
	g := Grant{Item: ItemThrottling, Asked: "off", Got: "as the system chooses"}
	mask := uint32(throttleSpeed | throttleResolution)
	err := setThrottling(mask)
	if err != nil { // before Windows 11 there is only the speed
		mask = throttleSpeed
		err = setThrottling(mask)
	}
	if err != nil {
		g.Why = err.Error()
		return g
	}
	s.onRestore(func() { setThrottling(0) })
	got := powerThrottling{version: 1}
	if _, err := call(procGetInformation, uintptr(self), processPowerThrottling,
		uintptr(unsafe.Pointer(&got)), unsafe.Sizeof(got)); err != nil {
		g.Got = "asked, not readable"
		return g
	}
	if got.control&mask != mask || got.state&mask != 0 {
		g.Why = "it reads back as not turned off"
		return g
	}
	g.Got = "off"
	if mask == throttleSpeed {
		g.Got = "off for speed (this Windows knows no more)"
	}
	return g
}

// setThrottling takes the kinds of the mask out of the system's hands; 0 gives
// all back.
func setThrottling(mask uint32) error {
	t := powerThrottling{version: 1, control: mask}
	_, err := call(procSetInformation, uintptr(self), processPowerThrottling,
		uintptr(unsafe.Pointer(&t)), unsafe.Sizeof(t))
	return err
}
