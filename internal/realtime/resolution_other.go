//go:build !windows

package realtime

// timerResolution: only Windows has a clock interrupt that programs can set.
func (s *Session) timerResolution() []Grant {
	asked := s.request.TimerResolution
	if asked == "" || asked == ResolutionDefault {
		return nil
	}
	return []Grant{{
		Item: ItemResolution, Asked: asked, Got: "none",
		Why: "only Windows has a timer resolution to set", Hint: "drop --timer-resolution",
	}}
}
