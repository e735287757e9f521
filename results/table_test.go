package results

import (
	"math"
	"testing"
	"time"
)

// tickShares counts the readings of an exact stream over a duration.
func tickShares(period float64, d time.Duration) (t *Table, n int64) {
	t = NewTable(TableKind{Bin: time.Millisecond, Hz: 1024})
	at := func(i int64) int64 { return int64(math.Round(float64(i) * period)) }
	n = int64(float64(d) / period)
	for i := range n {
		t.Add(at(i), at(i+1))
	}
	return t, n
}

func TestDOSReadingOfExactStreams(t *testing.T) {
	// Shares derived from the rule; the quiet tables of Windows NT published
	// in 1998 read 5 in 12.29 to 12.36 %.
	for _, c := range []struct {
		period float64
		fours  float64
	}{{5e6, 0.88}, {5.0035e6, 0.8764}} {
		table, n := tickShares(c.period, 24*time.Hour)
		rows := table.Rows()
		if len(rows) != 2 || rows[0].Key != 4 || rows[1].Key != 5 {
			t.Fatalf("period %g: rows %v", c.period, rows)
		}
		if share := float64(rows[0].Count) / float64(n); math.Abs(share-c.fours) > 0.0001 {
			t.Errorf("period %g: %.5f read 4, want %.5f", c.period, share, c.fours)
		}
	}
}

func TestDOSReadingBeatsWithTheTick(t *testing.T) {
	// A period of whole ticks always reads the same; close to it, the slow
	// beat shows in the count of the neighbour: one tick in a beat.
	tick := 1e9 / 1024
	table, n := tickShares(5*tick, time.Hour)
	if rows := table.Rows(); len(rows) > 2 || rows[0].Key != 4 || float64(rows[0].Count) < 0.999*float64(n) {
		t.Errorf("5 ticks exactly: %v of %d", rows, n)
	}
	for _, eps := range []float64{1e-4, 1e-3, 1e-2} {
		table, n := tickShares((6-eps)*tick, 24*time.Hour)
		var fours, fives int64
		for _, r := range table.Rows() {
			switch r.Key {
			case 4: // 5 ticks
				fours = r.Count
			case 5: // 6 ticks
				fives = r.Count
			default:
				t.Errorf("eps %g: a reading of %d", eps, r.Key)
			}
		}
		if got := float64(fours) / float64(n); math.Abs(got-eps) > eps/20+1e-6 {
			t.Errorf("eps %g: share of 5 ticks is %g", eps, got)
		}
		if fours+fives != n {
			t.Errorf("eps %g: %d + %d of %d", eps, fours, fives, n)
		}
	}
}

func TestTicksIsFloorOnBothSidesOfZero(t *testing.T) {
	for _, c := range []struct{ t, want int64 }{
		{0, 0}, {1, 0}, {976_562, 0}, {976_563, 1}, {1e9, 1024}, {1e9 - 1, 1023}, {-1, -1}, {-976_562, -1}, {-976_563, -2}, {-1e9, -1024},
		{math.MaxInt64, 9444732965739}, {100 * 365 * 86400 * 1e9, 100 * 365 * 86400 * 1024},
	} {
		if got := Ticks(c.t, 1024); got != c.want {
			t.Errorf("Ticks(%d) = %d, want %d", c.t, got, c.want)
		}
	}
}

func TestTickPhaseMovesTheTicks(t *testing.T) {
	for _, c := range []struct {
		phase time.Duration
		want  int64
	}{{0, 1}, {500 * time.Microsecond, 0}, {-976562 * time.Nanosecond, 1}} {
		table := NewTable(TableKind{Hz: 1000, Phase: c.phase})
		table.Add(900_000, 1_100_000) // 0.9 to 1.1 ms: one tick at 1 ms with phase 0, none at phase 0.5 ms
		if got := table.Rows()[0].Key; got != c.want {
			t.Errorf("phase %v: reading %d, want %d", c.phase, got, c.want)
		}
	}
}

func TestBinsStandForTheirMiddle(t *testing.T) {
	for _, c := range []struct {
		bin      time.Duration
		interval int64
		row      int64
	}{
		{time.Millisecond, 4_999_000, 5}, {time.Millisecond, 5_001_000, 5}, {time.Millisecond, 4_499_999, 4},
		{time.Millisecond, 4_500_000, 5}, {time.Millisecond, 5_499_999, 5}, {time.Millisecond, 5_500_000, 6},
		{time.Millisecond, 1, 0}, {1001, 1501, 1}, {1001, 1502, 2}, {1001, 500, 0}, {1001, 501, 1},
		{time.Millisecond, int64(Longest), 10000},
	} {
		table := NewTable(TableKind{Bin: c.bin})
		table.Add(7, 7+c.interval)
		table.Add(9, 9+c.interval) // the second time through the remembered row
		if rows := table.Rows(); len(rows) != 1 || rows[0] != (Row{c.row, 2}) {
			t.Errorf("bin %v, %d ns: %v, want row %d", c.bin, c.interval, rows, c.row)
		}
	}
}

func TestTableLosesNothing(t *testing.T) {
	for _, kind := range []TableKind{{Bin: time.Microsecond}, {Bin: time.Millisecond}, {Hz: 1024, Phase: -time.Hour}} {
		table := NewTable(kind)
		var n, at int64
		for iv := int64(1); iv < 40e9; iv = iv*5/4 + 1 {
			table.Add(at, at+iv)
			at += iv
			n++
		}
		got := table.Over()
		for _, r := range table.Rows() {
			got += r.Count
		}
		if got != n || table.Over() == 0 {
			t.Errorf("%+v: %d of %d, over %d", kind, got, n, table.Over())
		}
	}
}
