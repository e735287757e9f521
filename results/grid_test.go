package results

import (
	"math"
	"math/rand/v2"
	"testing"
)

// stream makes arrivals of a sender whose clock is off by ppm, with delays.
type stream struct {
	period int64
	ppm    float64
	delay  func(i int) int64
	skip   map[int]int64 // periods skipped after character i (a grid-keeping sender)
	n      int
}

func (s stream) run(g *grid) (dues []int64) {
	slot := 0.0
	for i := range s.n {
		due := 1_000_000 + int64(math.Round(slot*float64(s.period)*(1+s.ppm*1e-6)))
		g.add(due+s.delay(i), int64(i), false, false)
		dues = append(dues, due)
		slot += float64(1 + s.skip[i])
	}
	g.finish()
	return dues
}

func TestGridFindsLatenessThroughClockDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, ppm := range []float64{0, 80, -80, 500} {
		var got []int64
		g := newGrid(5_000_000, true, func(v int64, _ *gridPoint) { got = append(got, v) })
		want := make([]int64, 0, 20000)
		s := stream{period: 5_000_000, ppm: ppm, n: 20000, delay: func(i int) int64 {
			d := int64(r.ExpFloat64() * 20_000)
			if i%1000 == 500 {
				d = 3_000_000
			}
			want = append(want, d)
			return d
		}}
		s.run(g)
		if len(got) != s.n {
			t.Fatalf("%d latenesses of %d", len(got), s.n)
		}
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 2500 {
				t.Fatalf("%g ppm: character %d is %d late, want %d", ppm, i, got[i], want[i])
			}
		}
		b, se, ok := g.knots.slope()
		if found := b / 5; !ok || math.Abs(found-ppm) > 1 || se/5 > 1 {
			t.Errorf("%g ppm: found %g ± %g", ppm, found, se/5)
		}
	}
}

func TestGridAfterAStall(t *testing.T) {
	// Character 700 is held up for 2.3 periods. A sender that keeps its grid
	// skips two periods and goes on; one that shifts moves by the delay.
	const p = 5_000_000
	for _, whole := range []bool{true, false} {
		var got []int64
		g := newGrid(p, whole, func(v int64, _ *gridPoint) { got = append(got, v) })
		at := int64(0)
		for i := range 3000 {
			if i == 700 {
				g.add(at+int64(2.3*p), int64(i), false, false)
				at += map[bool]int64{true: 3 * p, false: int64(3.3 * p)}[whole]
				continue
			}
			g.add(at, int64(i), false, false)
			at += p
		}
		g.finish()
		for i, v := range got {
			want := int64(0)
			if i == 700 {
				want = int64(2.3 * p)
			}
			if v != want {
				t.Fatalf("whole %v: character %d is %d late, want %d", whole, i, v, want)
			}
		}
		if b, _, ok := g.knots.slope(); whole && (!ok || math.Abs(b) > 1e-6) {
			t.Errorf("a skipped period moved the measured one by %g ns", b)
		}
	}
}

func TestGridKeepsABurst(t *testing.T) {
	// A stall of 40 periods caught up at once is lateness, not a new grid.
	const p = 1_000_000
	var got []int64
	g := newGrid(p, true, func(v int64, _ *gridPoint) { got = append(got, v) })
	for i := range 2000 {
		at := int64(i) * p
		if i >= 900 && i < 940 {
			at = 940 * p
		}
		g.add(at, int64(i), false, false)
	}
	g.finish()
	for i, v := range got {
		want := int64(0)
		if i >= 900 && i < 940 {
			want = int64(940-i) * p
		}
		if v != want {
			t.Fatalf("character %d is %d late, want %d", i, v, want)
		}
	}
}

func TestGridDoesNotCallALossLate(t *testing.T) {
	const p = 1_000_000
	var worst int64
	g := newGrid(p, true, func(v int64, _ *gridPoint) { worst = max(worst, v) })
	for i := range 1500 {
		at := int64(i) * p
		if i >= 600 {
			at += 190 * p // two whole cycles went unseen
		}
		g.add(at, int64(i), i == 600, false)
	}
	g.finish()
	if worst != 0 {
		t.Errorf("lateness %d behind a loss", worst)
	}
}

func TestGridOfASleepingSender(t *testing.T) {
	// Each period is 65 µs longer than asked: that is the measured period, not lateness.
	r := rand.New(rand.NewPCG(5, 6))
	var h Histogram
	g := newGrid(1_000_000, false, func(v int64, p *gridPoint) { h.Record(v, p.at, false) })
	at := int64(0)
	for i := range 10000 {
		at += 1_065_000 + int64(r.NormFloat64()*2000)
		g.add(at, int64(i), false, false)
	}
	g.finish()
	if v, _ := h.Max(); v > 500_000 || h.Count() != 10000 {
		t.Errorf("max lateness %d of %d", v, h.Count())
	}
}
