package importer

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		text  string
		point byte
		unit  int
		ns    int64
		step  int64
	}{
		{"0.000592672", '.', unitS, 592672, 1},
		{"13.149443249999999", '.', unitS, 13149443250, 1},
		{"2.375e-05", '.', unitS, 23750, 10},
		{"2.00000068e-09", '.', unitS, 2, 1},
		{"0.0006894375", '.', unitS, 689438, 1}, // half up
		{"-0.0006894375", '.', unitS, -689437, 1},
		{"1796039122.116921", '.', unitS, 1796039122116921000, 1000},
		{"54414000.00000000000000000000", '.', unitNs, 54414000, 1},
		{"0,000592672", ',', unitS, 592672, 1},
		{"1796039122116", '.', unitMs, 1796039122116000000, 1e6},
		{"1.796E+09", '.', unitS, 1796000000000000000, 1e15},
		{"0", '.', unitS, 0, 1e9},
		{"-0.5", '.', unitUs, -500, 100},
		{"9223372036.854775807", '.', unitS, math.MaxInt64, 1},
		{"0.0000000000000000000000001", '.', unitS, 0, 1},
		{"380.000000", '.', unitUs, 380000, 1},
		{"5", '.', unitS, 5e9, 1e9},
	} {
		d, n := parseDecimal([]byte(c.text), c.point)
		if n != len(c.text) {
			t.Errorf("%s: took %d bytes", c.text, n)
		}
		ns, ok := d.ns(c.unit)
		if !ok || ns != c.ns || d.step(c.unit) != c.step {
			t.Errorf("%s in 10^%d ns: %d (%v), step %d; want %d, step %d", c.text, c.unit, ns, ok, d.step(c.unit), c.ns, c.step)
		}
	}
}

func TestDecimalRefuses(t *testing.T) {
	for _, text := range []string{"", "-", ".", "x", "e5", "+"} {
		if _, n := parseDecimal([]byte(text), '.'); n != 0 {
			t.Errorf("%q: took %d bytes", text, n)
		}
	}
	for _, text := range []string{"9223372036.854775808", "1e30", "99999999999999999999999999", "1e9999999999"} {
		d, n := parseDecimal([]byte(text), '.')
		if ns, ok := d.ns(unitS); ok || n != len(text) {
			t.Errorf("%q: %d, want out of range", text, ns)
		}
	}
}

// FuzzDecimal compares with exact rational arithmetic.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0.000592672", "13.149443249999999", "2.375e-05", "-1.5", "9223372036.854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, n := parseDecimal([]byte(s), '.')
		if n == 0 || len(s) > 18 {
			return
		}
		ns, ok := d.ns(unitS)
		exact, parsed := new(big.Rat).SetString(s[:n])
		if !parsed || !ok || strings.ContainsAny(s[:n], "xX_") {
			return
		}
		exact.Mul(exact, big.NewRat(1e9, 1))
		exact.Add(exact, big.NewRat(1, 2))
		floor := new(big.Int).Div(exact.Num(), exact.Denom())
		if floor.Cmp(big.NewInt(ns)) != 0 {
			t.Errorf("%q: %d ns, want %s", s[:n], ns, floor)
		}
	})
}

func TestQuantum(t *testing.T) {
	rising := func(first, period, jitter int64) func(i int64) int64 {
		return func(i int64) int64 { return first + i*period + i*7919%13*jitter }
	}
	for _, c := range []struct {
		name   string
		at     func(int64) int64
		step   int64
		fine   int64
		digits int
		n      int64
		want   int64
	}{
		{"fixed digits", rising(0, 20e6, 1e6), 1e6, 0, 0, 40, 1e6},
		{"a sample clock below the digits", rising(54414000, 83000, 1000), 1, 0, 0, 100, 1000},
		{"an exact grid is a period", rising(0, 5e6, 0), 1000, 0, 0, 1000, 1000},
		{"few stamps prove no clock", rising(0, 45e6, 0), 1e6, 0, 0, 4, 1e6},
		{"nine digits late in a capture", rising(1234e9, 80000, 10000), 10000, 1, 9, 200, 10000},
		{"zeros dropped, the duration shows the step", rising(0, 5e6, 0), 1e6, 1, 4, 200, 1},
		{"no stamps", rising(0, 0, 0), 0, 0, 0, 0, 0},
	} {
		var q quantum
		for i := range c.n {
			q.stamp(c.step, c.fine, c.digits)
			if i > 0 {
				q.difference(c.at(i) - c.at(i-1))
			}
		}
		if q.ns() != c.want {
			t.Errorf("%s: %d, want %d", c.name, q.ns(), c.want)
		}
	}
}

func TestQuantumSeesAMillisecondClockUnderMicroseconds(t *testing.T) {
	var q quantum
	for i := range int64(200) {
		q.stamp(1000, 0, 0)
		q.difference((4 + i*i%9) * 1e6)
	}
	if q.ns() != 1e6 {
		t.Errorf("%d, want 1 ms", q.ns())
	}
}

func TestStaleFirst(t *testing.T) {
	chunks := func(at string, sizes ...int) []queued {
		var q []queued
		var now int64
		for i, f := range strings.Fields(at) {
			var ms int64
			fmt.Sscan(f, &ms)
			now += ms * 1e6
			q = append(q, queued{at: now, data: make([]byte, sizes[min(i, len(sizes)-1)])})
		}
		return q
	}
	for _, c := range []struct {
		name string
		q    []queued
		want bool
	}{
		{"backlog, then silence", chunks("0 970 20 20 20 40", 25, 1, 1, 3, 1), true},
		{"backlog without silence", chunks("0 13 20 20 20", 25, 1), true},
		{"a small backlog, then silence", chunks("0 970 20 20 20", 2, 1), true},
		{"one character after a pause", chunks("0 970 20 20 20", 1, 1), false},
		{"chunks of a size", chunks("0 20 20 20 20", 8, 8), false},
		{"a message first, pauses between all", chunks("0 500 480 510 490", 10, 9), false},
		{"too few to tell", chunks("0 970 20", 25, 1), false},
	} {
		if got := staleFirst(c.q); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestStamp(t *testing.T) {
	const day = 20787 * dayNs // 2026-11-30
	for _, c := range []struct {
		text string
		ns   int64
		kind stampKind
		n    int
	}{
		{"2026-11-30 11:43:48.979939: x", day + 42228979939000, dateTime, 26},
		{"2026/11/30 11:43:48", day + 42228*second, dateTime, 19},
		{"2026-11-30T11:43:48.000000001+01:30", day + 42228*second + 1 - 90*minuteNs, dateTime, 35},
		{"2026-11-30T11:43:48-0100", day + 42228*second + hourNs, dateTime, 24},
		{"2026-11-30T11:43:48Z", day + 42228*second, dateTime, 20},
		{"1970-01-01 00:00:00", 0, dateTime, 19},
		{"2000-02-29 00:00:00", 951782400 * second, dateTime, 19},
		{"18:2:13.521 ->", 64933521 * 1000000, timeOfDay, 11},
		{"23:59:59,9", 86399900 * 1000000, timeOfDay, 10},
		{"3 01:02:03.004 x", 3*dayNs + 3723004*1000000, dayClock, 14},
		{"12.345678 x", 12345678000, seconds, 9},
		{"Feb  3 00:00:01 x", daysFrom1970(2000, 2, 3)*dayNs + second, dateTime, 15},
		{"12 x", 0, noStamp, 0},
		{"2026-13-30 11:43:48", 0, noStamp, 0},
		{"11:61:00", 0, noStamp, 0},
		{"Foo 30 11:55:48", 0, noStamp, 0},
		{"2026-11-30", 0, noStamp, 0},
	} {
		s, n := parseStamp([]byte(c.text))
		if n != c.n || n > 0 && (s.ns != c.ns || s.kind != c.kind) {
			t.Errorf("%q: %d ns, kind %d, %d bytes; want %d, %d, %d", c.text, s.ns, s.kind, n, c.ns, c.kind, c.n)
		}
	}
}

func TestUnwrap(t *testing.T) {
	u := unwrapper{period: dayNs, sink: &sink{}}
	in := []int64{dayNs - 3, dayNs - 1, 1, dayNs - 2, 2, 1}
	want := []int64{dayNs - 3, dayNs - 1, dayNs + 1, dayNs - 2, dayNs + 2, dayNs + 1}
	for i, v := range in {
		if got := u.put(v); got != want[i] {
			t.Errorf("step %d: %d, want %d", i, got, want[i])
		}
	}
	if u.sink.report.Wraps != 2 {
		t.Errorf("%d wraps, want 2", u.sink.report.Wraps)
	}
}
