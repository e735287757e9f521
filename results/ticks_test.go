package results

import (
	"math"
	"testing"
)

func TestReadingTicksInvertTheReading(t *testing.T) {
	for _, hz := range []int64{1024, 1000, 18, 8192, 1_000_000} {
		for n := range int64(3000) {
			low, high := ReadingTicks(Reading(n, hz), hz)
			if n < low || n > high {
				t.Fatalf("%d Hz: %d ticks read %d, which stands for %d to %d", hz, n, Reading(n, hz), low, high)
			}
			if Reading(low, hz) != Reading(n, hz) || Reading(high, hz) != Reading(n, hz) || low > 0 && Reading(low-1, hz) == Reading(n, hz) || Reading(high+1, hz) == Reading(n, hz) {
				t.Fatalf("%d Hz: reading %d does not stand for all of %d to %d", hz, Reading(n, hz), low, high)
			}
		}
	}
}

func TestReadingSpanHoldsTheInterval(t *testing.T) {
	const hz = 1024
	for _, interval := range []int64{1, 900_000, 976_562, 976_563, 5_000_000, 41_990_000, 42_000_000, 1_018_500_000} {
		for phase := int64(0); phase < 976_563; phase += 1009 {
			m := Reading(Ticks(phase+interval, hz)-Ticks(phase, hz), hz)
			if from, to := ReadingSpan(m, hz); float64(interval) < from || float64(interval) > to {
				t.Fatalf("%d ns at %d reads %d, which stands for %.0f to %.0f", interval, phase, m, from, to)
			}
		}
	}
}

func TestOnTime(t *testing.T) {
	for _, c := range []struct{ period, hz, low, high int64 }{
		{5_000_000, 1024, 4, 5}, {1_000_000, 1024, 0, 1}, {5_000_000, 1000, 5, 6}, {20_000_000, 1024, 19, 20},
	} {
		if low, high := OnTime(c.period, c.hz); low != c.low || high != c.high {
			t.Errorf("%d ns at %d Hz: %d to %d, want %d to %d", c.period, c.hz, low, high, c.low, c.high)
		}
	}
}

// TestDeriveFindsTheMean: whatever the readings, their ticks add up to the
// time that passed.
func TestDeriveFindsTheMean(t *testing.T) {
	const hz = 1024
	for _, c := range []struct {
		period float64
		jitter int64
		quiet  bool
	}{{5_003_500, 0, true}, {5_003_500, 1_500_000, false}, {2_000_000, 300_000, false}, {50_000_000, 20_000_000, false}} {
		table := NewTable(TableKind{Bin: 1e6, Hz: hz})
		const n = 5000
		at := func(i int64) int64 { return int64(float64(i)*c.period) + i*i%97*c.jitter/97 }
		for i := range int64(n) {
			table.Add(at(i), at(i+1))
		}
		data := table.data()
		d := Derive(&data, int64(c.period))
		mean := float64(at(n)-at(0)) / n
		if math.Abs(*d.MeanNS-mean) > *d.MeanPlusMinusNS+0.001 || *d.MeanPlusMinusNS > c.period/50 {
			t.Errorf("period %.0f: mean %.1f ± %.1f, truly %.1f", c.period, *d.MeanNS, *d.MeanPlusMinusNS, mean)
		}
		if (d.PeriodNS != nil) != c.quiet {
			t.Errorf("period %.0f: %v is claimed", c.period, d.PeriodNS)
		}
		if d.Worst.DelayFromNS == nil || *d.Worst.DelayToNS <= *d.Worst.DelayFromNS {
			t.Errorf("worst %+v", d.Worst)
		}
	}
}

func TestDeriveClaimsNothingOfNothing(t *testing.T) {
	if d := Derive(&TableData{BinNS: 1e6, Rows: RowsJSON{{5, 9}}}, 5e6); d != nil {
		t.Errorf("bins are no readings: %+v", d)
	}
	hz := int64(1024)
	if d := Derive(&TableData{TickHz: &hz}, 5e6); d.MeanNS != nil || d.MeanReading != nil || d.Worst != nil || d.PeriodNS != nil {
		t.Errorf("an empty table: %+v", d)
	}
	if d := Derive(&TableData{TickHz: &hz, Over: 1, Rows: RowsJSON{{4, 9999}}}, 5e6); d.MeanNS != nil || d.Worst != nil || d.PeriodNS != nil {
		t.Errorf("an interval beyond the table has no length: %+v", d)
	}
	if d := Derive(&TableData{TickHz: &hz, Rows: RowsJSON{{4, 9999}}}, 0); d.OnTime != nil || d.PeriodNS != nil || d.Worst.DelayFromNS != nil {
		t.Errorf("without a period nothing is late: %+v", d)
	}
}
