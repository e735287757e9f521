package capture

import "serialtiming/internal/clock"

// Event is one arrival: the characters that one read returned together.
type Event struct {
	Arrived clock.Instant // the read returned
	Bytes   []byte        // never empty; valid until the next call of Next
	// Waiting: the characters already waited when the capture began, so the
	// stamp says when the capture began and not when they came.
	Waiting bool
	// Lost is how many characters were read but lost to a full ring just
	// before this event.
	Lost int64
}

// Reader takes events out of a ring. One ordinary goroutine polls it, about
// every 20 ms.
type Reader struct {
	ring *Ring
	buf  []byte
}

// NewReader makes the one reader of a ring.
func NewReader(r *Ring) *Reader { return &Reader{ring: r, buf: make([]byte, 0, readSize)} }

// Next gives the oldest event, false when there is none (yet). After [Run] has
// returned, false means that all were taken.
//
// The slots of one event are committed one by one, so an event may be half
// there: then the rest follows within microseconds, and Next looks again.
func (r *Reader) Next() (Event, bool) {
	s := r.ring.Peek()
	if s == nil {
		return Event{}, false
	}
	e := Event{Arrived: s.arrived, Waiting: s.flags&waiting != 0, Lost: int64(s.lost)}
	r.buf = r.buf[:0]
	for {
		if s = r.ring.Peek(); s == nil {
			continue
		}
		r.buf = append(r.buf, s.bytes[:s.n]...)
		last := s.flags&more == 0
		r.ring.Advance()
		if last {
			break
		}
	}
	e.Bytes = r.buf
	return e, true
}
