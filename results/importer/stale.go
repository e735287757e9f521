package importer

// The first chunk of a capture is often what had waited in a buffer before the
// capture began: its stamp is the time of the capture's start, and the
// interval behind it means nothing. It is told by comparison with the chunks
// that follow: it is larger than each of them, and either four times as large
// (and at least eight bytes), or the silence behind it is more than three
// times each of the next.
const openingChunks = 17

// open reads the first chunks and judges the first of them.
func (s *Source) open() {
	s.opened = true
	for len(s.opening) < openingChunks {
		q, err := s.dequeue()
		if err != nil {
			s.err = err
			break
		}
		q.data = append([]byte(nil), q.data...)
		s.opening = append(s.opening, q)
	}
	switch s.err.(type) {
	case *Refusal, *ChannelsError:
		s.opening = nil
		return
	}
	s.stale = staleFirst(s.opening)
}

// staleFirst needs the first chunk and at least three after it.
func staleFirst(q []queued) bool {
	if len(q) < 4 {
		return false
	}
	largest, longest := 0, int64(0)
	for i, c := range q[1:] {
		largest = max(largest, len(c.data))
		if i > 0 {
			longest = max(longest, c.at-q[i].at)
		}
	}
	n, silence := len(q[0].data), q[1].at-q[0].at
	if n <= largest || n < 2 {
		return false
	}
	return n >= 8 && n >= 4*largest || longest > 0 && silence > 3*longest
}
