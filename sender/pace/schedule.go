package pace

import (
	"time"

	"serialtiming/internal/clock"
)

// Schedule says when each character is due. It is arithmetic alone: the
// instants come from the caller, so the same numbers come out of a test's
// clock and of the machine's.
//
// With skip and burst, character n of an undisturbed stream is due at exactly
// First + n·Period; the sum of whole nanoseconds never drifts.
type Schedule struct {
	First  clock.Instant // when the first character is due
	Period time.Duration // 0: back to back, every character is due at once
	Policy Policy
	// Relative moves the grid after every character, not only after a missed
	// period: the way of a relative sleep. It goes with shift.
	Relative bool
	// End is the instant from which on nothing is due any more; 0 means none.
	End clock.Instant

	due    clock.Instant
	missed int64
	policy policyCode
}

// policyCode is the policy as the hot loop compares it.
type policyCode uint8

const (
	skipCode policyCode = iota
	burstCode
	shiftCode
)

// Start puts the schedule to its first character.
func (s *Schedule) Start() {
	s.due, s.missed = s.First, 0
	switch s.Policy {
	case Burst:
		s.policy = burstCode
	case Shift:
		s.policy = shiftCode
	default:
		s.policy = skipCode
	}
}

// Due is when the next character is due.
//
//go:nosplit
func (s *Schedule) Due() clock.Instant { return s.due }

// Missed is how many points of the grid were left out so far. Only skip
// leaves any out.
//
//go:nosplit
func (s *Schedule) Missed() int64 { return s.missed }

// Over tells that nothing is due any more.
//
//go:nosplit
func (s *Schedule) Over() bool { return s.End != 0 && s.due >= s.End }

// Sent takes the instant at which the write of the character that was due
// returned, and moves to the next one:
//
//   - skip: the next point of the grid that is not yet over (a point that is
//     right now still counts); the points between are missed.
//   - burst: the next point of the grid, also when it is over.
//   - shift: the next point of the grid, or, when a whole period or more was
//     missed, one period after now: the grid moves.
//   - relative: one period after now, always.
//   - period 0: now.
//
// Points from End on are not missed, since nothing was due there.
//
//go:nosplit
func (s *Schedule) Sent(now clock.Instant) {
	period := clock.Instant(s.Period)
	next := s.due + period
	switch {
	case period == 0:
		next = now
	case s.Relative:
		next = now + period
	case now <= next || s.policy == burstCode:
	case s.policy == shiftCode:
		next = now + period
	default:
		over := (now - next + period - 1) / period // points that lie before now
		if s.End != 0 {
			over = min(over, max((s.End-next+period-1)/period, 0))
		}
		s.missed += int64(over)
		next += over * period
	}
	s.due = next
}
