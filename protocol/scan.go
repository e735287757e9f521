package protocol

import "time"

// ItemKind says what the scanner found.
type ItemKind uint8

const (
	// Payload is a character of the stream: Byte arrived at At.
	Payload ItemKind = iota
	// Announced is a whole frame, delimiters included, in Frame; its first
	// byte arrived at At, its last at End. Decode reads it.
	Announced
	// Torn is a frame that began and was damaged, cut short, or too long.
	// None of its bytes are payload.
	Torn
	// StrayEnd is an EOT outside a frame. When it is the first that is heard
	// at all, what came before it was the tail of a frame whose start was
	// missed; elsewhere it is noise, a wrong character.
	StrayEnd
)

// Item is one thing that the scanner found.
type Item struct {
	Kind  ItemKind
	Byte  byte   // of Payload and StrayEnd
	At    int64  // ns: arrival of the byte, or of the first byte of the frame
	End   int64  // ns: arrival of the last byte of the frame
	Frame []byte // of Announced and Torn; valid until the next Feed
}

// Scanner parts the characters of the stream from the frames between them. It
// is fed byte by byte:
//
//	if s.Plain(b) {
//		// b is payload
//	} else {
//		for _, it := range s.Feed(b, at) { … }
//	}
//
// Plain is inlined and answers for nearly every character. Nothing is
// allocated once the scanner is made.
type Scanner struct {
	busy  bool  // inside a frame, or in what may be the start of one
	gap   int64 // ns: the silence that ends a frame
	last  int64 // ns: arrival of the last byte taken into buf
	start int64 // ns: arrival of the first
	buf   []byte
	early [len(head) + 1]int64 // arrivals of the first bytes of buf
	out   []Item
}

// NewScanner makes a scanner for a line with that character time (0 if
// unknown).
func NewScanner(charTime time.Duration) *Scanner {
	return &Scanner{
		gap: int64(FrameGap(charTime)),
		buf: make([]byte, 0, MaxFrame),
		out: make([]Item, 0, len(head)+3),
	}
}

// Plain says whether b, the next byte, is simply payload. If so, that is all:
// it needs no Feed.
func (s *Scanner) Plain(b byte) bool { return b != SOH && b != EOT && !s.busy }

// Busy says whether bytes are held back that may be a frame.
func (s *Scanner) Busy() bool { return s.busy }

// Feed takes the next byte and gives what is known thereby, in the order of
// arrival: nothing while a frame is coming in. A noise SOH comes back as
// payload with the bytes held behind it, each with its own instant. The items
// are valid until the next call.
func (s *Scanner) Feed(b byte, at int64) []Item {
	s.out = s.out[:0]
	if s.busy && at-s.last > s.gap {
		s.giveUp()
	}
	if !s.busy {
		s.begin(b, at)
		return s.out
	}
	s.take(b, at)
	switch n := len(s.buf); {
	case n <= len(head)+1 && b != head[n-2]:
		s.giveBack(b, at)
	case n > len(head)+1 && (b == EOT || n == MaxFrame):
		s.finish()
	}
	return s.out
}

// Idle tells the scanner that now nothing has come for a while; bytes held
// back for longer than FrameGap are given out, as Feed would.
func (s *Scanner) Idle(now int64) []Item {
	s.out = s.out[:0]
	if s.busy && now-s.last > s.gap {
		s.giveUp()
	}
	return s.out
}

// Flush ends the stream: what is held back is given out, as Feed would.
func (s *Scanner) Flush() []Item {
	s.out = s.out[:0]
	if s.busy {
		s.giveUp()
	}
	return s.out
}

// begin takes a byte outside a frame.
func (s *Scanner) begin(b byte, at int64) {
	switch b {
	case SOH:
		s.busy, s.start, s.buf = true, at, s.buf[:0]
		s.take(b, at)
	case EOT:
		s.out = append(s.out, Item{Kind: StrayEnd, Byte: b, At: at})
	default:
		s.out = append(s.out, Item{Kind: Payload, Byte: b, At: at})
	}
}

func (s *Scanner) take(b byte, at int64) {
	if n := len(s.buf); n < len(s.early) {
		s.early[n] = at
	}
	s.buf = append(s.buf, b)
	s.last = at
}

// giveBack finds that the last byte, b, is not that of a frame's head: the
// bytes before it are payload, and b may begin something itself.
func (s *Scanner) giveBack(b byte, at int64) {
	s.buf = s.buf[:len(s.buf)-1]
	s.giveUp()
	s.begin(b, at)
}

// giveUp ends what is held: payload while the head is not complete, else a
// torn frame.
func (s *Scanner) giveUp() {
	s.busy = false
	if len(s.buf) > len(head) {
		s.out = append(s.out, Item{Kind: Torn, At: s.start, End: s.last, Frame: s.buf})
		return
	}
	for i, b := range s.buf {
		s.out = append(s.out, Item{Kind: Payload, Byte: b, At: s.early[i]})
	}
}

// finish ends a frame at its EOT, or where it became too long.
func (s *Scanner) finish() {
	s.busy = false
	kind := Announced
	if _, _, err := openFrame(s.buf); err != nil {
		kind = Torn
	}
	s.out = append(s.out, Item{Kind: kind, At: s.start, End: s.last, Frame: s.buf})
}
