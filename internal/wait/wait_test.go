package wait

import (
	"errors"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/clock"
)

// patience is how late a busy machine may be in these tests; a wait of the
// wrong unit or grid is later.
const patience = 20 * time.Second

func TestParseKind(t *testing.T) {
	for _, k := range Kinds() {
		got, err := ParseKind(string(k))
		if err != nil || got != k {
			t.Errorf("%s: %q, %v", k, got, err)
		}
	}
	for _, s := range []string{"", "Absolute", "absolute ", "timerfd"} {
		_, err := ParseKind(s)
		if err == nil {
			t.Errorf("%q was taken", s)
			continue
		}
		for _, k := range Kinds() {
			if !strings.Contains(err.Error(), string(k)) {
				t.Errorf("%q: the error names no %s: %v", s, k, err)
			}
		}
	}
}

func FuzzParseKind(f *testing.F) {
	f.Add("absolute")
	f.Add("spin\x00")
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseKind(s); err == nil && string(k) != s {
			t.Errorf("%q became %q", s, k)
		}
	})
}

func TestDefaultIsAKind(t *testing.T) {
	if _, err := ParseKind(string(Default())); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []Config{
		{Kind: "tomorrow", Period: time.Millisecond},
		{Kind: Absolute},
		{Kind: Absolute, Period: -1},
	} {
		if w, err := New(c); err == nil {
			w.Close()
			t.Errorf("%+v was taken", c)
		}
	}
}

// prepared gives a waiter, or skips where the system has none of the kind.
func prepared(t *testing.T, k Kind, period time.Duration, start clock.Instant) *Waiter {
	t.Helper()
	w, err := New(Config{Kind: k, Period: period, Start: start})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("no %s here", k)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// until waits as the hot loops do: again until it is time.
func until(w *Waiter, now, due clock.Instant) clock.Instant {
	for now < due {
		now = w.Until(now, due)
	}
	return now
}

// Every kind comes back, at or after the due time and not much later, point
// after point of a grid.
func TestEveryKindWaits(t *testing.T) {
	const period, points = 2 * time.Millisecond, 50
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			if k.Call() == "" {
				t.Error("no name of its system call")
			}
			first := clock.Now().Add(period)
			w := prepared(t, k, period, first)
			if w.Call() == "" {
				t.Error("the waiter has no name of its system call")
			}
			now := clock.Now()
			for n := range points {
				due := first.Add(time.Duration(n) * period)
				now = until(w, now, due)
				if now < due {
					t.Fatalf("point %d: woke %v early", n, due.Sub(now))
				}
			}
			if took := now.Sub(first); took > points*period+patience {
				t.Errorf("%d points took %v", points, took)
			}
		})
	}
}

func TestNothingToWaitFor(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			w := prepared(t, k, time.Hour, 0)
			now := clock.Now()
			if got := w.Until(now, now); got != now {
				t.Errorf("due now: %v", got.Sub(now))
			}
			if got := w.Until(now, now-1); got != now {
				t.Errorf("due before: %v", got.Sub(now))
			}
		})
	}
}

// No wait is longer than a slice, so that whoever waits can stop.
func TestALongWaitComesBackInSlices(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			start := clock.Now()
			due := start.Add(time.Hour)
			w := prepared(t, k, time.Hour, due)
			woke := w.Until(start, due)
			if woke >= due {
				t.Fatal("an hour passed")
			}
			if d := woke.Sub(start); d > Slice+patience {
				t.Errorf("back after %v", d)
			}
		})
	}
}

// Expiries that nobody read do not wake a wait for a later point early, nor
// make it late by a period for each.
func TestPeriodicAfterAStall(t *testing.T) {
	const period = 5 * time.Millisecond
	first := clock.Now().Add(period)
	w := prepared(t, Periodic, period, first)
	now := until(w, clock.Now(), first)
	time.Sleep(6 * period)
	due := first.Add(20 * period)
	if now = until(w, clock.Now(), due); now < due {
		t.Errorf("woke %v early", due.Sub(now))
	}
	if late := now.Sub(due); late > patience {
		t.Errorf("woke %v late", late)
	}
}

func TestSpinningIsCounted(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			const period = 2 * time.Millisecond
			first := clock.Now().Add(period)
			w := prepared(t, k, period, first)
			until(w, clock.Now(), first)
			if spun := w.Spun(); (spun > 0) != k.Spins() && k != Hybrid {
				t.Errorf("spun %v", spun)
			}
			if (w.Margin() > 0) != (k == Hybrid) {
				t.Errorf("margin %v", w.Margin())
			}
		})
	}
}

func TestWaitsDoNotAllocate(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			const period = time.Millisecond
			start := clock.Now()
			w := prepared(t, k, period, start.Add(period))
			n := testing.AllocsPerRun(20, func() {
				now := clock.Now()
				until(w, now, now.Add(period))
			})
			if n != 0 {
				t.Errorf("%v allocations a wait", n)
			}
		})
	}
}
