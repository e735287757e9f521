package results

import "strings"

// Flags are the marks of one arrival in the run log, a letter each (see the
// run log's format in log.go): f framing, p parity, o overrun, b break,
// d disturbed.
type Flags uint8

// The marks, in the order in which the log writes their letters.
const (
	Framing   Flags = 1 << iota // the stop bit was wrong
	Parity                      // the parity bit was wrong
	Overrun                     // characters were lost before this one
	Break                       // the line was held low
	Disturbed                   // the receiver itself was held up
)

const flagLetters = "fpobd"

// String gives the letters of the log, "" for none.
func (f Flags) String() string {
	var b strings.Builder
	for i := range len(flagLetters) {
		if f&(1<<i) != 0 {
			b.WriteByte(flagLetters[i])
		}
	}
	return b.String()
}

// ParseFlags reads letters as String writes them. Letters that it does not
// know are ignored, as the log's format asks.
func ParseFlags(s string) Flags {
	var f Flags
	for i := range len(s) {
		if k := strings.IndexByte(flagLetters, s[i]); k >= 0 {
			f |= 1 << k
		}
	}
	return f
}

// Event is one arrival: the characters that one read returned together. They
// share one instant; no interval exists inside an event.
type Event struct {
	At    int64  // ns since the log's zero
	Bytes []byte // never empty; valid until the next event is read
	Flags Flags  // of the whole event
	Stale bool   // it had waited before the capture began: At is not its arrival
}
