//go:build darwin || freebsd || openbsd

package realtime

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// niceOf is what high and low are beside the ordinary 0; on these systems it
// is the process's.
var niceOf = map[Level]int{Realtime: niceForRealtime, High: -10, Normal: 0, Low: 10}

// prepareSystem sets the nice value; grantNice reads it back for the thread's
// grant.
func (s *Session) prepareSystem() []Grant {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	want := niceOf[s.priority.Level]
	if err != nil || want == before {
		return nil
	}
	if unix.Setpriority(unix.PRIO_PROCESS, 0, want) == nil {
		s.onRestore(func() { unix.Setpriority(unix.PRIO_PROCESS, 0, before) })
	}
	return nil
}

// grantNice tells what became of high, normal and low, and of realtime where a
// nice value is all there is.
func (s *Session) grantNice() Grant {
	g := Grant{Item: ItemPriority, Asked: s.priority.String()}
	got, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		g.Got, g.Why = "unknown", "getpriority: "+err.Error()
		return g
	}
	g.Got = "nice " + strconv.Itoa(got)
	if got != niceOf[s.priority.Level] {
		g.Why = fmt.Sprintf("nice %d was refused", niceOf[s.priority.Level])
		g.Hint = "run it with " + elevate
	}
	return g
}
