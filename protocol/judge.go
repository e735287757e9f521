package protocol

// Summary is what the check says about a whole run.
type Summary struct {
	Counts
	Received int64 // characters fed
	Sent     int64 // as announced, or Unknown

	// BeforeStart is what was sent before the receiver came; Unknown if it
	// came late and the sender's count is not known.
	BeforeStart int64

	// LostIsMinimum: whole cycles may be missing besides Lost. So it is
	// without the sender's count, and with it for a receiver that came late by
	// a whole cycle or more, of which some may have been lost instead.
	LostIsMinimum bool

	// Inconsistent: more characters came in their order than were sent, so
	// that some that looked right are called extra. A finding.
	Inconsistent bool
}

// Balanced says whether the balance holds:
// sent + duplicated + extra = received + lost + before start. What is unknown
// cannot break it.
func (s Summary) Balanced() bool {
	if s.Sent == Unknown || s.BeforeStart == Unknown {
		return true
	}
	return s.Sent+s.Duplicated+s.Extra == s.Received+s.Lost+s.BeforeStart
}

// Close judges the run: sent is the sender's own count, Unknown if it was not
// announced; period its period in ns, 0 if it has none or it was not
// announced. Close changes nothing, so that it can be asked at any time.
func (k *Checker) Close(sent, period int64) Summary {
	s := Summary{Counts: k.counts, Received: k.Received(), Sent: sent}
	switch {
	case sent < 0:
		s.Sent = Unknown
		k.closeUncounted(&s)
	case k.heard:
		k.closeHeard(&s, period)
	case !k.synced:
		k.closeUnplaced(&s)
	default:
		k.closeLate(&s, period)
	}
	return s
}

// closeUncounted ends a run of which nobody knows how many were sent: the
// fewest faults, and as few lost as fit.
func (k *Checker) closeUncounted(s *Summary) {
	s.LostIsMinimum = true
	if !k.heard {
		s.BeforeStart = Unknown
	}
	n := k.held.n
	switch {
	case !k.synced:
		s.Corrupted += n - k.lone()
	case n > window:
		s.Corrupted += n
	default:
		// Most places first: among equals, corrupted rather than extra.
		best := k.align(n)
		for t := n - 1; t >= 0; t-- {
			if c := k.align(t); c.Total() < best.Total() {
				best = c
			}
		}
		s.Counts = s.plus(best)
	}
}

// lone is 1 if a single character of the cycle is all that came, which is
// right, else 0.
func (k *Checker) lone() int64 {
	if k.held.n == 1 && k.cycle.Contains(k.held.last) {
		return 1
	}
	return 0
}

// closeUnplaced ends a late run whose characters never followed each other.
func (k *Checker) closeUnplaced(s *Summary) {
	n := k.held.n
	s.BeforeStart = max(0, s.Sent-n)
	s.LostIsMinimum = s.BeforeStart > 0
	s.Extra += max(0, n-s.Sent)
	s.Corrupted += max(0, min(n, s.Sent)-k.lone())
}

// closeHeard ends a run whose first place is known: the count tells how many
// places are left.
func (k *Checker) closeHeard(s *Summary, period int64) {
	room := s.Sent - k.pos
	if room < 0 {
		k.overrun(s, -room)
		return
	}
	cycle, n := int64(k.cycle.Length), k.held.n
	need := max(0, room-n) / cycle
	best := k.filled(*s, room, need, period)
	if n > 0 && room >= (need+1)*cycle {
		// The last characters need not have a place.
		if other := k.filled(*s, room, need+1, period); other.Total() < best.Total() {
			best = other
		}
	}
	*s = best
}

// filled is s with up to need whole cycles read into the places in doubt, and
// the rest of the room behind the last right character.
func (k *Checker) filled(s Summary, room, need, period int64) Summary {
	room -= k.doubt.fill(&s.Counts, k.cycle, need, period) * int64(k.cycle.Length)
	s.Counts = s.plus(k.tail(room))
	return s
}

// tail lays the held characters against the places left before the end.
func (k *Checker) tail(room int64) Counts {
	cycle := int64(k.cycle.Length)
	lost := max(0, room-k.held.n) / cycle * cycle // whole cycles
	c := k.align(room - lost)
	c.Lost += lost
	return c
}

// closeLate ends a run whose first right character stands at a place known
// modulo the cycle: so is what was sent before it, and what is left at the end.
func (k *Checker) closeLate(s *Summary, period int64) {
	cycle, n := int64(k.cycle.Length), k.held.n
	room := s.Sent - int64(k.start) - k.pos
	if room < 0 {
		s.BeforeStart = int64(k.start)
		k.overrun(s, -room)
		return
	}
	left := room % cycle
	left += min(max(0, n-left), room-left) / cycle * cycle
	s.BeforeStart = s.Sent - k.pos - left
	if period > 0 {
		// The count leaves both readings of a duplicate; its interval chooses.
		cycles := k.doubt.relose(&s.Counts, k.cycle, s.BeforeStart/cycle, period)
		s.BeforeStart -= cycles * cycle
	}
	s.Counts = s.plus(k.tail(left))
	s.LostIsMinimum = s.BeforeStart >= cycle
}

// overrun ends a run in which over places more were passed than there are.
func (k *Checker) overrun(s *Summary, over int64) {
	s.Counts = s.plus(k.align(0))
	over = k.doubt.unjump(s, k.cycle, over)
	if over <= 0 {
		s.Lost -= over
		return
	}
	if k.cycle.Length == 1 {
		// Each place is like the next: the corrupted ones need none.
		extra := min(over, s.Corrupted)
		s.Corrupted -= extra
		s.Extra += extra
		s.Duplicated += over - extra
		return
	}
	s.Inconsistent = true
	// What looked right, from the end; then what cannot have been sent at all.
	s.Extra += takeFrom(&over, s.right())
	s.Lost -= takeFrom(&over, s.Lost)
	s.BeforeStart -= takeFrom(&over, s.BeforeStart)
	s.Corrupted -= over
	s.Extra += over
}

// takeFrom takes as much of over as there is, and returns it.
func takeFrom(over *int64, there int64) int64 {
	n := min(*over, there)
	*over -= n
	return n
}

// right is the number of characters that nothing is said against.
func (s *Summary) right() int64 {
	return s.Received - s.Duplicated - s.Corrupted - s.Extra
}
