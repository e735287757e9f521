package protocol

import "testing"

func TestCycle(t *testing.T) {
	for _, c := range []struct {
		cycle Cycle
		name  string
		n     int64
		char  byte
		next  byte
	}{
		{Printable, "cycle", 0, ' ', '!'},
		{Printable, "cycle", 94, '~', ' '},
		{Printable, "cycle", 95, ' ', '!'},
		{Printable, "cycle", 1_000_000_000_000, ' ' + 45, ' ' + 46},
		{Counter, "counter", 255, 255, 0},
		{Counter, "counter", 256, 0, 1},
		{Constant(0), "nul", 7, 0, 0},
		{Constant('U'), "0x55", 7, 'U', 'U'},
	} {
		if got := c.cycle.String(); got != c.name {
			t.Errorf("%v is called %q", c, got)
		}
		if got := c.cycle.Char(c.n); got != c.char {
			t.Errorf("%s: place %d holds %q, want %q", c.name, c.n, got, c.char)
		}
		if got := c.cycle.Next(c.char); got != c.next {
			t.Errorf("%s: %q is followed by %q, want %q", c.name, c.char, got, c.next)
		}
	}
}

func TestCycleDistance(t *testing.T) {
	for _, c := range []Cycle{Printable, Counter, Constant('x')} {
		for i := range 256 {
			a, b := c.Char(int64(i)*7), byte(i)
			if c.Contains(b) && c.Char(int64(c.Index(a)+c.Distance(a, b))) != b {
				t.Errorf("%v: from %q to %q is not %d", c, a, b, c.Distance(a, b))
			}
		}
	}
	if Printable.Contains(0x1f) || Printable.Contains(0x7f) || !Printable.Contains('~') {
		t.Error("the cycle is not the printable characters")
	}
}

func TestParseChar(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Cycle
		ok   bool
	}{
		{"cycle", Printable, true},
		{"nul", Constant(0), true},
		{"0x00", Constant(0), true},
		{"0x55", Constant('U'), true},
		{"0xFF", Constant(255), true},
		{"0x01", Cycle{}, false}, // SOH
		{"0x04", Cycle{}, false}, // EOT
		{"0x1FF", Cycle{}, false},
		{"0x5", Cycle{}, false},
		{"55", Cycle{}, false},
		{"0x+5", Cycle{}, false},
		{"", Cycle{}, false},
		{"counter", Cycle{}, false},
	} {
		got, err := ParseChar(c.in)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.in, got, err)
		}
		if back, err := ParseChar(got.String()); c.ok && (err != nil || back != got) {
			t.Errorf("%q prints as %q", c.in, got)
		}
	}
}
