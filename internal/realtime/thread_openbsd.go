package realtime

import "strconv"

const (
	niceForRealtime = -20 // the most that OpenBSD has to give
	elevate         = "doas"
)

// prepareThread asks for nothing: OpenBSD has one scheduler, no processor
// affinity and no timer slack. The nice value is the process's.
func (s *Session) prepareThread() []Grant {
	grants := []Grant{}
	if s.request.CPU >= 0 {
		grants = append(grants, Grant{
			Item: ItemCPU, Asked: strconv.Itoa(s.request.CPU), Got: "any",
			Why: "OpenBSD binds no thread to a processor", Hint: "drop --cpu",
		})
	}
	g := s.grantNice()
	if s.priority.Level == Realtime {
		g.Why = "OpenBSD has no real-time scheduling; a nice value is all there is"
	}
	return append(grants, g)
}
