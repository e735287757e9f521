package results

import (
	"math"
	"math/rand/v2"
	"testing"
)

// planted is a stream for the robust fit: ten minutes of 5 ms unless said.
type planted struct {
	ppm, jitter float64 // of the clocks; ns
	outliers    float64 // share of characters 1 to 50 ms late
	stepAt      int     // character before which the receiver's clock is set
	step        float64 // by so many ns
	n           int
	period      float64
}

// lows feeds what the grid feeds: the lowest of each 64 characters.
func (s planted) lows(r *rand.Rand, f *robustFit) {
	if s.n == 0 {
		s.n, s.period = 120_000, 5e6
	}
	var low robustPoint
	for i := range s.n {
		y := float64(i)*s.period*s.ppm*1e-6 + math.Abs(r.NormFloat64())*s.jitter + 1e9
		if r.Float64() < s.outliers {
			y += 1e6 + r.Float64()*49e6
		}
		if s.step != 0 && i >= s.stepAt {
			y += s.step
		}
		if i%64 == 0 || y < low.y {
			low = robustPoint{float64(i), y}
		}
		if i%64 == 63 {
			f.add(low.x, low.y)
		}
	}
}

func TestRobustFitFindsThePlantedPeriod(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		s     planted
		steps int
	}{
		{"jitter of 20 µs", planted{ppm: 80, jitter: 20e3}, 0},
		{"slow clock", planted{ppm: -80, jitter: 20e3}, 0},
		{"1 % outliers", planted{ppm: 80, jitter: 20e3, outliers: .01}, 0},
		{"20 % outliers", planted{ppm: 80, jitter: 20e3, outliers: .2}, 0},
		{"a step of 10 ms", planted{ppm: 80, jitter: 20e3, outliers: .01, stepAt: 60_000, step: 10e6}, 1},
		{"a step of 2 ms back", planted{ppm: 80, jitter: 20e3, outliers: .01, stepAt: 20_000, step: -2e6}, 1},
		{"a step of 250 µs", planted{ppm: 80, jitter: 20e3, stepAt: 90_000, step: 250e3}, 1},
		{"an hour back", planted{ppm: 80, jitter: 20e3, stepAt: 110_000, step: -3600e9}, 1},
		{"half an hour of 100 ms", planted{ppm: 12, jitter: 20e3, n: 18_000, period: 1e8}, 0},
		{"half a minute", planted{ppm: 80, jitter: 20e3, n: 6_000, period: 5e6}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f robustFit
			c.s.lows(r, &f)
			period := c.s.period
			if period == 0 {
				period = 5e6
			}
			b, se, ok := f.slope()
			ppm, pm := b/period*1e6, 1.96*se/period*1e6
			if !ok || math.Abs(ppm-c.s.ppm) > 1 || pm > 1 {
				t.Errorf("%.3f ± %.3f ppm, planted %g", ppm, pm, c.s.ppm)
			}
			steps := f.clockSteps(int64(period))
			if len(steps) != c.steps {
				t.Fatalf("%d steps: %v", len(steps), steps)
			}
			for _, s := range steps {
				at := float64(c.s.stepAt)*period + 1e9 + c.s.step // as stamped
				if math.Abs(s.SizeNS-c.s.step) > 20e3 || math.Abs(s.AtNS-at) > 8e9 {
					t.Errorf("step %v, planted %g at %g", s, c.s.step, at)
				}
			}
			if len(f.points) > robustPoints {
				t.Errorf("%d points", len(f.points))
			}
		})
	}
}

func TestRobustUncertaintyIsHonest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, outliers := range []float64{0, .01} {
		covered, trials := 0, 200
		for range trials {
			var f robustFit
			planted{ppm: 80, jitter: 20e3, outliers: outliers, n: 30_000, period: 5e6}.lows(r, &f)
			b, se, ok := f.slope()
			if ok && math.Abs(b-400) <= 1.96*se {
				covered++
			}
		}
		if share := float64(covered) / float64(trials); share < .9 {
			t.Errorf("%g outliers: the 95 %% interval covers the truth in %.0f %%", outliers, share*100)
		}
	}
}

func TestRobustFitOfAClockThatWanders(t *testing.T) {
	// A crystal that warms up: 0 to 2 ppm in ten minutes. No step, and an
	// uncertainty that is not that of white noise.
	r := rand.New(rand.NewPCG(7, 8))
	var f robustFit
	for i := range 1875 {
		x := float64(i) * 64
		y := x * x / 120_000 * 1e-6 * 5e6 // slope 2 ppm at the end
		f.add(x, y+math.Abs(r.NormFloat64())*1e3)
	}
	b, se, ok := f.slope()
	if ppm, pm := b/5, 1.96*se/5; !ok || math.Abs(ppm-1) > .2 || pm < .02 {
		t.Errorf("%.3f ± %.3f ppm", ppm, pm)
	}
	if s := f.steps(); len(s) > 0 {
		t.Errorf("steps %v", s)
	}
}

func TestRobustSpellIsNoClockStep(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var f robustFit
	for i := range 400 {
		y := math.Abs(r.NormFloat64()) * 2e3
		if i > 150 && i < 220 {
			y += 300e3
		}
		f.add(float64(i)*64, y)
	}
	if s := f.clockSteps(5e6); len(s) > 0 {
		t.Errorf("a spell of load is called %v", s)
	}
}

func TestRobustFitOfLittle(t *testing.T) {
	var f robustFit
	for i := range 4 {
		if _, _, ok := f.slope(); ok {
			t.Errorf("a slope from %d points", i)
		}
		f.add(float64(i), 1)
	}
	same := robustFit{}
	for range 10 {
		same.add(3, 1)
	}
	if _, _, ok := same.slope(); ok {
		t.Error("a slope from one place")
	}
}

func BenchmarkRobustAdd(b *testing.B) {
	var f robustFit
	x := 0.
	for b.Loop() {
		x += 64
		f.add(x, x*3)
	}
}

func BenchmarkRobustSlope(b *testing.B) {
	var f robustFit
	r := rand.New(rand.NewPCG(1, 2))
	planted{ppm: 80, jitter: 20e3}.lows(r, &f)
	for b.Loop() {
		f.slope()
	}
}
