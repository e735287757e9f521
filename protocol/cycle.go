package protocol

import (
	"fmt"
	"strconv"
)

// Cycle is an endless stream of characters: Length values from First upwards,
// then again. Length 1 is a constant character.
type Cycle struct {
	First  byte
	Length int // 1..256
}

// The cycles of the harness.
var (
	Printable = Cycle{' ', 95} // ' ' to '~', the stream of 1998
	Counter   = Cycle{0, 256}  // 0 to 255, for foreign logs
)

// Constant is the cycle that sends c only.
func Constant(c byte) Cycle { return Cycle{c, 1} }

// ParseChar reads the value of --char and of the announcement's key char:
// "cycle", "nul" or "0xNN".
func ParseChar(s string) (Cycle, error) {
	switch s {
	case "cycle":
		return Printable, nil
	case "nul":
		return Constant(0), nil
	}
	if len(s) != 4 || s[:2] != "0x" {
		return Cycle{}, fmt.Errorf("character %q is none of cycle, nul, 0xNN", s)
	}
	v, err := strconv.ParseUint(s[2:], 16, 8)
	if err != nil {
		return Cycle{}, fmt.Errorf("character %q is none of cycle, nul, 0xNN", s)
	}
	if c := byte(v); IsDelimiter(c) {
		return Cycle{}, fmt.Errorf("character %s delimits the announcements", s)
	}
	return Constant(byte(v)), nil
}

// String is what ParseChar reads, or "counter".
func (c Cycle) String() string {
	switch {
	case c == Printable:
		return "cycle"
	case c == Counter:
		return "counter"
	case c == Constant(0):
		return "nul"
	case c.Length == 1:
		return fmt.Sprintf("0x%02x", c.First)
	}
	return fmt.Sprintf("0x%02x+%d", c.First, c.Length)
}

// Char is the character at place n >= 0; place 0 holds First.
func (c Cycle) Char(n int64) byte { return c.First + byte(n%int64(c.Length)) }

// Contains says whether b occurs in the cycle.
func (c Cycle) Contains(b byte) bool { return int(b)-int(c.First) < c.Length && b >= c.First }

// Index is the first place of b, a character of the cycle: 0..Length-1.
func (c Cycle) Index(b byte) int { return int(b) - int(c.First) }

// Next is the character that follows b, a character of the cycle.
func (c Cycle) Next(b byte) byte {
	if c.Index(b) == c.Length-1 {
		return c.First
	}
	return b + 1
}

// Distance is how many places b lies behind a, 0..Length-1; both are
// characters of the cycle.
func (c Cycle) Distance(a, b byte) int {
	d := int(b) - int(a)
	if d < 0 {
		d += c.Length
	}
	return d
}

// Widest is the largest character of the cycle: what a line must be able to
// carry.
func (c Cycle) Widest() byte { return c.First + byte(c.Length-1) }
