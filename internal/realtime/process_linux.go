package realtime

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockMemory locks what is there and what comes, after it has made sure that
// this cannot hurt: with MCL_FUTURE in force and a limit, a later mmap of the
// Go runtime would fail and kill the process.
//
// What is there is brought in at once (MCL_CURRENT). What comes is locked as
// it is touched (MCL_ONFAULT): the runtime maps its heap in pieces of 64 MiB,
// and bringing in a whole piece in the middle of a run takes the address
// space's lock for tens of milliseconds, which stops every page fault of the
// process. The first call comes alone: where the capability is one in name
// only (a container), it fails without any effect.
func (s *Session) lockMemory() Grant {
	g := Grant{Item: ItemMemory, Asked: "locked", Got: "not locked"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		g.Why = "the limit cannot be read: " + err.Error()
		return g
	}
	if limit.Cur != unix.RLIM_INFINITY && !capable(unix.CAP_IPC_LOCK) {
		g.Why = fmt.Sprintf("at most %d KiB may be locked", limit.Cur>>10)
		g.Hint = rightsHint("cap_ipc_lock", "memlock unlimited")
		return g
	}
	err := unix.Mlockall(unix.MCL_CURRENT)
	if err == nil {
		err = unix.Mlockall(unix.MCL_FUTURE | unix.MCL_ONFAULT)
		s.onRestore(func() { unix.Munlockall() })
	}
	if err != nil {
		unix.Munlockall()
		g.Why = "mlockall: " + err.Error()
		g.Hint = rightsHint("cap_ipc_lock", "memlock unlimited")
		return g
	}
	g.Got = "locked"
	return g
}

// prepareSystem keeps the processors out of deep idle states, whose exit may
// take 100 µs and more. The request lasts as long as the file is open.
func (s *Session) prepareSystem() []Grant {
	const path = "/dev/cpu_dma_latency"
	if s.priority.Level > High {
		return nil
	}
	g := Grant{Item: ItemIdle, Asked: "exit in 0 us", Got: "as the system chooses"}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.Write([]byte{0, 0, 0, 0})
		s.onRestore(func() { f.Close() })
	}
	if err != nil {
		g.Why = err.Error()
		if os.IsPermission(err) {
			g.Hint = "run as root, or let your group open " + path +
				` with a udev rule: KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"`
		}
		return []Grant{g}
	}
	g.Got = "asked, not readable"
	var b [4]byte
	if n, err := f.ReadAt(b[:], 0); err == nil && n == 4 {
		g.Got = fmt.Sprintf("exit in %d us", int32(binary.NativeEndian.Uint32(b[:])))
	}
	return []Grant{g}
}

// capable tells whether the process has the capability in effect.
func capable(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// rightsHint says how to get a right for this program or for one's group.
func rightsHint(capability, limit string) string {
	program, err := os.Executable()
	if err != nil {
		program = "PROGRAM"
	}
	return fmt.Sprintf("sudo setcap 'cap_sys_nice,cap_ipc_lock+ep' %s (this needs %s); or join the group realtime or audio with"+
		" \"@realtime - %s\" in /etc/security/limits.d, and log in again", program, capability, limit)
}
