package realtime

import (
	"fmt"
	"time"
)

// The timer resolutions of Windows: how often its clock interrupt comes, by
// which sleeps and timers without high resolution end.
const (
	Resolution1ms     = "1ms"     // timeBeginPeriod(1), as in 1998; "" is the same
	ResolutionHalfMs  = "0.5ms"   // NtSetTimerResolution, the finest
	ResolutionDefault = "default" // as the system has it: 15.625 ms, if no other program asks for more
)

// CheckTimerResolution refuses what is none of the resolutions.
func CheckTimerResolution(s string) error {
	switch s {
	case "", Resolution1ms, ResolutionHalfMs, ResolutionDefault:
		return nil
	}
	return fmt.Errorf("unknown timer resolution %q: there are %s, %s, %s",
		s, Resolution1ms, ResolutionHalfMs, ResolutionDefault)
}

// resolutionOf is the interval that a request asks for, 0 for the default.
func resolutionOf(s string) time.Duration {
	switch s {
	case ResolutionDefault:
		return 0
	case ResolutionHalfMs:
		return 500 * time.Microsecond
	}
	return time.Millisecond
}

// resolutionTolerance: hardware gives 0.9766 or 1.001 ms where 1 ms is asked.
const resolutionTolerance = 0.05

// judgeResolution compares what is in force with what was asked. coarsest is
// the system's default; runtimeAsks tells that Go itself asks for 1 ms.
func judgeResolution(asked string, got, coarsest time.Duration, runtimeAsks bool) Grant {
	if asked == "" {
		asked = Resolution1ms
	}
	g := Grant{Item: ItemResolution, Asked: asked, Got: got.String()}
	want := resolutionOf(asked)
	if want == 0 {
		want = coarsest
	}
	off := float64(got-want) / float64(want)
	switch {
	case off > resolutionTolerance:
		g.Why = "the system gave a coarser one"
	case off >= -resolutionTolerance:
	case asked == ResolutionDefault && runtimeAsks:
		g.Why = "the Go runtime itself asks for 1 ms on a Windows without high-resolution timers"
	default:
		g.Why = "another program has asked for a finer one"
		g.Hint = resolutionHint
	}
	return g
}

const resolutionHint = "close browsers and players; `powercfg /energy` lists the programs that ask for a timer resolution"

// watchResolution looks at the resolution and keeps the first change it sees:
// one that was taken back before the end spoilt the run all the same.
func watchResolution(asked string, before time.Duration, query func() (time.Duration, error)) func() (Grant, bool) {
	seen := before
	return func() (Grant, bool) {
		if now, err := query(); err == nil && seen == before {
			seen = now
		}
		return Grant{
			Item: ItemResolution, Asked: asked, Got: fmt.Sprintf("%v, %v at the start", seen, before),
			Why: "another program changed it during the run", Hint: resolutionHint,
		}, seen != before
	}
}

// Changed gives the grants that no longer hold because somebody changed the
// system during the run (so far: the timer resolution of Windows); each says
// what it was and what it is. Once seen, a change is kept. It is cheap: call
// it every 20 ms or so while the run lasts, and before Restore. A change voids
// the run.
func (s *Session) Changed() []Grant {
	var all []Grant
	for _, look := range s.changed {
		if g, yes := look(); yes {
			all = append(all, g)
		}
	}
	return all
}
