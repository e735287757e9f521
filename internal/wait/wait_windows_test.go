package wait

import (
	"strings"
	"testing"
	"time"

	"serialtiming/internal/clock"
)

func TestPeriodicTakesWholeMillisecondsOnly(t *testing.T) {
	for _, c := range []struct {
		period   time.Duration
		periodic bool
	}{
		{time.Millisecond, true}, {5 * time.Millisecond, true}, {2500 * time.Microsecond, false}, {time.Millisecond + 1, false},
	} {
		w := prepared(t, Periodic, c.period, 0)
		if says := strings.Contains(w.Call(), "whole milliseconds only"); says == c.periodic {
			t.Errorf("%v: %q", c.period, w.Call())
		}
		if (w.kind == Periodic) != c.periodic {
			t.Errorf("%v became %s", c.period, w.kind)
		}
	}
}

// A timer that runs ahead of the clock must not make every point late by what
// is left of its period. The machine may be busy: the best of some tries.
func TestPeriodicThatRunsAhead(t *testing.T) {
	const period, ahead, tries = 80 * time.Millisecond, 20 * time.Millisecond, 10
	best := time.Hour
	for range tries {
		first := clock.Now().Add(10 * time.Millisecond)
		w := prepared(t, Periodic, period, first)
		now := until(w, clock.Now(), first)
		due := first.Add(period + ahead) // the timer expires that much before
		now = until(w, now, due)
		best = min(best, now.Sub(due))
	}
	if best < 0 || best > (period-ahead)/2 {
		t.Errorf("late by %v: the timer was not set to the grid again", best)
	}
}
