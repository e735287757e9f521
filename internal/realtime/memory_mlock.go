//go:build freebsd || openbsd

package realtime

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockMemory locks what is there. What comes later is left alone: these
// systems have no way to lock memory as it is touched, and to lock it as it is
// mapped would bring in the Go runtime's large reservations, or fail them and
// kill the process.
func (s *Session) lockMemory() Grant {
	g := Grant{Item: ItemMemory, Asked: "locked", Got: "not locked"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		g.Why = "the limit cannot be read: " + err.Error()
		return g
	}
	if err := unix.Mlockall(unix.MCL_CURRENT); err != nil {
		g.Why = fmt.Sprintf("mlockall: %v (at most %d KiB may be locked)", err, limit.Cur>>10)
		if os.Geteuid() != 0 {
			g.Hint = "run it with " + elevate + ", or raise memorylocked in login.conf"
		}
		return g
	}
	s.onRestore(func() { unix.Munlockall() })
	g.Got = "what was there is locked"
	return g
}
