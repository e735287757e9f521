//go:build !linux && !windows && !darwin && !freebsd && !openbsd

package realtime

import "strconv"

// What the other systems have (priority classes, time constraints, rtprio) is
// not built yet: every request is refused with that reason, and the run goes
// on without.
const notBuilt = "not built for this system yet"

func (s *Session) lockMemory() Grant {
	return Grant{Item: ItemMemory, Asked: "locked", Got: "not locked", Why: notBuilt}
}

func (s *Session) prepareSystem() []Grant { return nil }

func (s *Session) prepareThread() []Grant {
	grants := []Grant{}
	if s.request.CPU >= 0 {
		grants = append(grants, Grant{Item: ItemCPU, Asked: strconv.Itoa(s.request.CPU), Got: "any", Why: notBuilt})
	}
	g := Grant{Item: ItemPriority, Asked: s.priority.String(), Got: "normal"}
	if s.priority.Level != Normal {
		g.Why = notBuilt
	}
	return append(grants, g)
}
