package probe

import (
	"context"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/protocol"
)

// machine is one that keeps every rate up to a limit; in long runs up to a
// lower one.
type machine struct {
	steps, long float64
	tried       []Attempt
}

func (m *machine) try(step string, rate float64) Attempt {
	limit := m.steps
	took := time.Second
	if step == stepConfirm {
		limit, took = m.long, 6*time.Second
	}
	a := Attempt{Step: step, RateHZ: rate, TookNS: int64(took), OK: rate <= limit}
	m.tried = append(m.tried, a)
	return a
}

func never() bool { return false }

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name              string
		most, steps, long float64
		low, high         float64 // of the confirmed rate; 0: none
	}{
		{"seed 004's 22 kHz", rateMost, 22000, 22000, 22000 / rateClose, 22000},
		{"backs off a bit", rateMost, 22000, 21000, 18000, 21000},
		{"backs off more", rateMost, 22000, 14000, 10000, 14000},
		{"slow", rateMost, 60, 60, 60 / rateClose, 60},
		{"the line's limit", 960, 5000, 5000, 960, 960},
		{"faster than can be asked", rateMost, 1e9, 1e9, rateMost, rateMost},
		{"nothing passes", rateMost, .5, .5, 0, 0},
		{"nothing holds", rateMost, 5000, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &machine{steps: c.steps, long: c.long}
			s := search(c.most, m.try, never)
			if s.confirmed < c.low || s.confirmed > c.high {
				t.Errorf("confirmed %.1f, want %.1f to %.1f: %+v", s.confirmed, c.low, c.high, m.tried)
			}
			if (s.confirmedFor == 6*time.Second) != (c.low > 0) {
				t.Errorf("confirmed for %v", s.confirmedFor)
			}
			if s.passed > c.steps || s.failed > 0 && s.failed <= c.long || s.failed == 0 && c.low == 0 {
				t.Errorf("passed %.1f, failed %.1f", s.passed, s.failed)
			}
			units := 0
			for _, a := range m.tried {
				units++
				if a.Step == stepConfirm {
					units += rateConfirm - 1
				}
			}
			if units > rateUnits || len(m.tried) != len(s.attempts) {
				t.Errorf("%d units of %d, %d attempts", units, rateUnits, len(s.attempts))
			}
		})
	}
}

func TestSearchEndsWhenTold(t *testing.T) {
	m := &machine{steps: 22000, long: 22000}
	s := search(rateMost, m.try, func() bool { return len(m.tried) == 3 })
	if len(m.tried) != 3 || s.confirmed != 0 || s.passed != 2000 {
		t.Errorf("%d tried, %+v", len(m.tried), s)
	}
}

func TestPeriodOf(t *testing.T) {
	for rate, want := range map[float64]time.Duration{1: time.Second, 1000: time.Millisecond, 3: 333333334, 1e6: time.Microsecond} {
		if got := periodOf(rate); got != want {
			t.Errorf("%v Hz: %v, want %v", rate, got, want)
		}
	}
}

// What came back is held to the cycle: a gap is one fault, not one for every
// character behind it.
func TestEchoOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(b []byte) []byte
		wrong int64
	}{
		{"right", func(b []byte) []byte { return b }, 0},
		{"one lost", func(b []byte) []byte { return append(b[:50:50], b[51:]...) }, 1},
		{"one changed", func(b []byte) []byte { b[50] = 0x80; return b }, 1},
		{"one twice", func(b []byte) []byte { return append(b[:51:51], b[50:]...) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e echo
			for _, b := range c.edit(append(payload(0), payload(0)...)) {
				e.take(b)
			}
			if e.wrong != c.wrong {
				t.Errorf("%d wrong, want %d", e.wrong, c.wrong)
			}
		})
	}
}

// described is a port of which only the description is asked.
type described struct {
	serialport.Port
	info serialport.Info
}

func (d described) Info() serialport.Info { return d.info }

func TestOnlyARealLineHasASpeed(t *testing.T) {
	r := &run{o: Options{LimitHZ: 960}}
	for _, c := range []struct {
		port  serialport.Port
		most  float64
		speed bool
	}{
		{nil, rateMost, false},
		{described{}, 960, true},
		{described{info: serialport.Info{Virtual: true}}, rateMost, false},
	} {
		var cell RateCell
		if most := r.claims(&cell, c.port); most != c.most || (cell.LimitHZ != nil) != c.speed {
			t.Errorf("%+v: at most %v Hz, limit %v", c.port, most, cell.LimitHZ)
		}
		p := &printer{}
		p.rateCell(&cell)
		if strings.Contains(p.String(), "the line carries") != c.speed {
			t.Errorf("%+v: %s", c.port, p.String())
		}
	}
}

// A rate reads alike in the headline and in its attempt's row.
func TestRatesAreRoundedOnce(t *testing.T) {
	for _, rate := range []float64{3861.1, 3861.05, 9999.7, 20000, 33333.4} {
		var cell RateCell
		cell.take(searched{passed: rate, confirmed: rate, confirmedFor: 1})
		if want := round1(1e9 / float64(periodOf(rate))); *cell.ConfirmedHZ != want || *cell.PassedHZ != want || cell.FailedHZ != nil {
			t.Errorf("%v: %v and %v, the attempt has %v", rate, *cell.ConfirmedHZ, *cell.PassedHZ, want)
		}
	}
}

// heard is a port that keeps what was written to it.
type heard struct {
	serialport.Port
	got []byte
}

func (h *heard) Flush() error                { return nil }
func (h *heard) Write(b []byte) (int, error) { h.got = append(h.got, b...); return len(b), nil }
func (h *heard) Fd() (uintptr, bool)         { return 0, false }

// The cycle goes on from attempt to attempt.
func TestTheCycleGoesOn(t *testing.T) {
	r := newRun(context.Background(), Options{Probe: "rate", Live: func(func() string) {}, Granted: func([]realtime.Grant) {}})
	port := &heard{}
	err := r.prepared("normal", 1, -1, func(s *realtime.Session) error {
		for range 3 {
			if a, _, _ := r.attempt(s, wait.Absolute, port, 10000, quota{count: 50}); a.Sent != 50 {
				t.Errorf("%+v", a)
			}
		}
		return nil
	})
	if err != nil || len(port.got) != 150 {
		t.Fatalf("%d characters, %v", len(port.got), err)
	}
	for i, b := range port.got {
		if want := protocol.Printable.Char(int64(i)); b != want {
			t.Fatalf("character %d is %q, want %q", i, b, want)
		}
	}
}
