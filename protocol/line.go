package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Line is how characters are framed on the wire, printed as "8N1".
type Line struct {
	Data   int    // data bits, 5..8
	Parity byte   // 'N' none, 'E' even, 'O' odd, 'M' mark, 'S' space
	Stop   string // stop bits: "1", "1.5" or "2"
}

// ParseLine reads "8N1", "7E1", "5N1.5"; the parity also in lower case.
func ParseLine(s string) (Line, error) {
	if len(s) < 3 {
		return Line{}, fmt.Errorf("line %q is not of the form 8N1", s)
	}
	l := Line{int(s[0]) - '0', s[1], s[2:]}
	if 'a' <= l.Parity && l.Parity <= 'z' {
		l.Parity -= 'a' - 'A'
	}
	switch {
	case l.Data < 5 || l.Data > 8:
		return Line{}, fmt.Errorf("line %q: the data bits are 5, 6, 7 or 8", s)
	case !strings.ContainsRune("NEOMS", rune(l.Parity)):
		return Line{}, fmt.Errorf("line %q: the parity is N, E, O, M or S", s)
	case l.Stop != "1" && l.Stop != "1.5" && l.Stop != "2":
		return Line{}, fmt.Errorf("line %q: the stop bits are 1, 1.5 or 2", s)
	}
	return l, nil
}

// String is what ParseLine reads.
func (l Line) String() string { return fmt.Sprintf("%d%c%s", l.Data, l.Parity, l.Stop) }

// HalfBits is the length of one character in half bits: start bit, data bits,
// parity bit and stop bits. 8N1 has 20.
func (l Line) HalfBits() int {
	n := 2 * (1 + l.Data)
	if l.Parity != 'N' {
		n += 2
	}
	switch l.Stop {
	case "1.5":
		return n + 3
	case "2":
		return n + 4
	}
	return n + 2
}

// CharTime is the character time, start bit to end of stop bit, to the nearest
// nanosecond: 1.041667 ms for 8N1 at 9600 baud. baud > 0.
func (l Line) CharTime(baud int) time.Duration {
	half := int64(l.HalfBits()) * int64(time.Second)
	return time.Duration((half + int64(baud)) / (2 * int64(baud)))
}

// Fits says whether the data bits carry the character b.
func (l Line) Fits(b byte) bool { return int(b)>>l.Data == 0 }

// Carries says whether the data bits carry every character of the cycle.
func (l Line) Carries(c Cycle) bool { return l.Fits(c.Widest()) }

// Announces says whether the data bits carry an announcement, which is 7-bit
// text.
func (l Line) Announces() bool { return l.Data >= 7 }
