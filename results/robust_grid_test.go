package results

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPeriodThroughTheGrid plants 80 ppm in ten minutes of 5 ms with 20 µs of
// jitter, 1 % outliers, skipped periods and a clock that is set.
func TestPeriodThroughTheGrid(t *testing.T) {
	for _, skips := range []bool{false, true} {
		for _, step := range []int64{0, 250e3, -250e3, -2e6, 2.4e6, 301e6} {
			r := rand.New(rand.NewPCG(1, 1))
			tally := NewTally(TallyOptions{Table: TableKind{Bin: time.Millisecond}, PeriodNS: 5e6, Announced: 5e6, Grid: true})
			slot := 0.
			for i := range int64(120_000) {
				at := int64(slot*5e6*(1+80e-6)) + int64(r.ExpFloat64()*20e3)
				if r.IntN(100) == 0 {
					at += int64(r.Float64() * 3e6)
				}
				if i >= 50_000 {
					at += step
				}
				tally.Event(at, 1, 0)
				tally.Place(at, i, true, false)
				if slot++; skips && i%20_000 == 777 {
					slot += 3
				}
			}
			var run Run
			tally.Fill(&run)
			if p := run.Period; p.PPM == nil || math.Abs(*p.PPM-80) > 1 {
				t.Errorf("step %d, skips %v: %+v", step, skips, p)
			}
			if got := has(run.Findings, CodeClockStep); got != (step != 0) {
				t.Errorf("step %d, skips %v: %v", step, skips, run.Findings)
			}
		}
	}
}
