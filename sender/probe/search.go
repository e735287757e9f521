package probe

import (
	"math"
	"time"
)

// The search for the highest rate: steps of ten seconds, confirmed for sixty,
// backing off when that fails, as seed 004 found its rates "by detecting
// analog input overruns and then backing off a bit".
const (
	rateStep    = 10 * time.Second
	rateSteps   = 12     // of the search at most
	rateConfirm = 6      // a confirmation is so many steps long
	rateUnits   = 36     // steps in all: what the search leaves is for confirmations
	rateClose   = 1.05   // passed and failed are near enough
	rateBackOff = 0.1    // the first time, then 0.2, 0.3, …: a search may have been lucky
	rateFirst   = 1000.0 // Hz
	rateLeast   = 1.0
	rateMost    = 1e6 // a period of 1 µs: no timer here is finer
)

// Kinds of an attempt.
const (
	stepSearch  = "search"
	stepConfirm = "confirm"
)

// searched is what a search found; rates of 0 mean none.
type searched struct {
	passed, failed, confirmed float64
	confirmedFor              time.Duration
	attempts                  []Attempt
}

// search looks for the highest rate up to most at which try succeeds: doubling
// (or halving) until one rate passes and one fails, then between them. try
// runs one rate, in a step or six times as long; stop is asked before each.
func search(most float64, try func(step string, rate float64) Attempt, stop func() bool) searched {
	var s searched
	most = min(most, rateMost)
	rate := min(rateFirst, most)
	for range rateSteps {
		if stop() {
			return s
		}
		a := try(stepSearch, rate)
		s.attempts = append(s.attempts, a)
		if stop() {
			return s // it may have been cut short
		}
		if a.OK {
			s.passed = max(s.passed, rate)
		} else {
			s.failed = rate
		}
		next, more := s.next(rate, most)
		if !more {
			break
		}
		rate = next
	}
	if s.passed > 0 {
		s.confirm(try, stop)
	}
	return s
}

// next gives the rate to try next; more is false when the search is over.
func (s *searched) next(rate, most float64) (next float64, more bool) {
	switch {
	case s.failed == 0:
		return min(2*rate, most), s.passed < most
	case s.passed == 0:
		return max(rate/2, rateLeast), rate > rateLeast
	}
	return math.Sqrt(s.passed * s.failed), s.failed > s.passed*rateClose
}

// confirm runs the highest rate that passed for longer, and lower ones when it
// fails, as long as there are steps left.
func (s *searched) confirm(try func(step string, rate float64) Attempt, stop func() bool) {
	rate := s.passed
	left := rateUnits - len(s.attempts)
	for back := 1; left >= rateConfirm && rate >= rateLeast; back++ {
		if stop() {
			return
		}
		left -= rateConfirm
		a := try(stepConfirm, rate)
		s.attempts = append(s.attempts, a)
		if stop() {
			return
		}
		if a.OK {
			s.confirmed, s.confirmedFor = a.RateHZ, time.Duration(a.TookNS)
			return
		}
		if s.failed == 0 || rate < s.failed {
			s.failed = rate
		}
		rate *= 1 - rateBackOff*float64(back)
	}
}

// periodOf is a rate as the hot loop takes it: whole nanoseconds, rounded down
// in rate.
func periodOf(rate float64) time.Duration {
	return time.Duration(math.Ceil(1e9/rate - 1e-6))
}
