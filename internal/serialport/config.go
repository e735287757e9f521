package serialport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (c Config) withDefaults() Config {
	if c.ReadTimeout <= 0 {
		c.ReadTimeout = DefaultReadTimeout
	}
	if c.PeerWait <= 0 {
		c.PeerWait = DefaultPeerWait
	}
	if c.Waiting == nil {
		c.Waiting = func(string) {}
	}
	return c
}

// validate has one sentence a rule. What a particular port cannot do shows
// when it is opened.
func (c Config) validate() error {
	switch {
	case c.Baud <= 0:
		return fmt.Errorf("%w: %d baud", ErrSetting, c.Baud)
	case c.Data < 5 || c.Data > 8:
		return fmt.Errorf("%w: %d data bits (5 to 8 are possible)", ErrSetting, c.Data)
	case !strings.ContainsRune("NEOMS", rune(c.Parity)):
		return fmt.Errorf("%w: parity %q (N, E, O, M or S)", ErrSetting, c.Parity)
	case !slices.Contains([]string{"1", "1.5", "2"}, c.Stop):
		return fmt.Errorf("%w: %q stop bits (1, 1.5 or 2)", ErrSetting, c.Stop)
	}
	return nil
}

// line is the line setting as people write it: 8N1.
func (c Config) line() string { return strconv.Itoa(c.Data) + string(rune(c.Parity)) + c.Stop }

// speedTolerance is how far the speed in force may lie from the one asked for:
// beyond 2 % each side's share of a receiver's half bit in ten is used up.
const speedTolerance = 0.02

// compare judges what was read back from the port. Zero values are unknown.
func (c Config) compare(i Info) (warning string, err error) {
	off := float64(i.Baud-c.Baud) / float64(c.Baud)
	if i.Baud != 0 && (off > speedTolerance || off < -speedTolerance) {
		return "", fmt.Errorf("%w: it took %d baud instead of %d", ErrSetting, i.Baud, c.Baud)
	}
	if i.Line == "" || i.Line == c.line() {
		return "", nil
	}
	if i.Virtual { // has no bits to be wrong about
		return fmt.Sprintf("%s took %s instead of %s", printable(i.Name), i.Line, c.line()), nil
	}
	return "", fmt.Errorf("%w: it took %s instead of %s", ErrSetting, i.Line, c.line())
}

// printable is s itself if it may be shown on a terminal, else its Go syntax.
func printable(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// cleaned drops from an adapter's or driver's text what may not be shown.
func cleaned(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, s))
}
