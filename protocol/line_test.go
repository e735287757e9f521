package protocol

import (
	"testing"
	"time"
)

func TestCharTime(t *testing.T) {
	for _, c := range []struct {
		line string
		baud int
		want time.Duration
	}{
		{"8N1", 9600, 1_041_667},
		{"8N1", 115200, 86_806},
		{"8N1", 1_000_000, 10_000},
		{"7E1", 9600, 1_041_667},
		{"7N1", 9600, 937_500},
		{"8E1", 9600, 1_145_833},
		{"8N2", 9600, 1_145_833},
		{"5N1.5", 50, 150_000_000},
		{"8M2", 19200, 625_000},
	} {
		l, err := ParseLine(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.CharTime(c.baud); got != c.want {
			t.Errorf("%s at %d: %v, want %v", c.line, c.baud, got, c.want)
		}
	}
}

func TestParseLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"8N1", "8N1"}, {"7e1", "7E1"}, {"5N1.5", "5N1.5"}, {"6O2", "6O2"}, {"7S1", "7S1"},
		{"", ""}, {"8", ""}, {"8N", ""}, {"9N1", ""}, {"4N1", ""}, {"8X1", ""}, {"8N3", ""},
		{"8N1.", ""}, {"8N15", ""}, {"8n1 ", ""}, {"8\xce1", ""},
	} {
		l, err := ParseLine(c.in)
		if err == nil && l.String() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %v, %v, want %q", c.in, l, err, c.want)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add("8N1")
	f.Add("5m1.5")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLine(s)
		if err != nil {
			return
		}
		if back, err := ParseLine(l.String()); err != nil || back != l {
			t.Errorf("%q is %v, which reads as %v, %v", s, l, back, err)
		}
		if l.HalfBits() < 14 || l.HalfBits() > 24 {
			t.Errorf("%v has %d half bits", l, l.HalfBits())
		}
	})
}

func TestLineCarries(t *testing.T) {
	for _, c := range []struct {
		line     string
		cycle    Cycle
		carries  bool
		announce bool
	}{
		{"8N1", Printable, true, true},
		{"7E1", Printable, true, true},
		{"6N1", Printable, false, false},
		{"5N1", Constant(0x1f), true, false},
		{"5N1", Constant(0x20), false, false},
		{"7N1", Constant(0xff), false, true},
		{"8N1", Constant(0xff), true, true},
		{"7N1", Counter, false, true},
	} {
		l, _ := ParseLine(c.line)
		if l.Carries(c.cycle) != c.carries || l.Announces() != c.announce {
			t.Errorf("%s: carries %v: %v; announces: %v", c.line, c.cycle, l.Carries(c.cycle), l.Announces())
		}
	}
}
