package results

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// world is a simulated run: a sender with a timer, a policy and stalls, a
// line, a receiver that may gather characters, stamps. Instants are ns.
type world struct {
	r       *rand.Rand
	n       int
	period  float64
	char    float64
	ppm     float64
	jitter  func() float64
	shape   string
	policy  string                  // skip, burst, shift
	tick    float64                 // the sender wakes on multiples of it
	stall   func(t float64) float64 // end of the stall that t lies in, else t
	raster  float64                 // the receiver delivers on multiples of it
	trigger int                     // the receiver's FIFO delivers so many together
	stamp   float64                 // step of the stamps
	told    int64                   // period as announced, 0 none
	back    bool                    // back to back
	hold    func(t float64) float64 // the receiver reads nothing until then
	step    float64                 // the receiver's clock is set by that
	stepAt  float64                 // at this part of the run, 0 to 1
	fit     bool                    // no character is left out: the two clocks can be fitted
	wrong   float64                 // the baud rate told is so many times lower than the real one
}

type arrival struct {
	at int64
	n  int
}

// clean draws a run without a culprit.
func clean(r *rand.Rand, n int) *world {
	periods := []float64{1e6, 1.234e6, 2e6, 2.5e6, 3.7e6, 5e6, 10e6, 20e6, 50e6, 15.625e6, 16e6, 4e6}
	bauds := []float64{9600, 19200, 38400, 115200, 230400, 921600}
	w := &world{r: r, n: n, policy: "skip", ppm: r.NormFloat64() * 40}
	for {
		w.period, w.char = pick(r, periods), 1e10/pick(r, bauds)
		if w.char < .45*w.period {
			break
		}
	}
	w.stall = func(t float64) float64 { return t }
	w.hold, w.fit = w.stall, true
	w.told = int64(w.period)
	if r.IntN(4) == 0 && w.period != 15.625e6 { // such a one, untold, is taken for Windows' tick
		w.told = 0
	}
	w.stamp = pick(r, []float64{1, 1, 1, 41.67, 100})
	w.setJitter(math.Exp(math.Log(500) + r.Float64()*math.Log(.04*w.period/500)))
	return w
}

// setJitter draws a shape of that scale in ns.
func (w *world) setJitter(scale float64) {
	r := w.r
	spell, level := 0, 1.
	shapes := map[string]func() float64{
		"spells": func() float64 { // of about 60 characters, quiet and loaded
			if spell--; spell < 0 {
				spell, level = int(r.ExpFloat64()*60), pick(r, []float64{1, 1, 3})
			}
			return r.ExpFloat64() * scale * level / 3
		},
		"rare": func() float64 { // a large delay now and then
			if r.IntN(200) == 0 {
				return r.Float64() * .6 * w.period
			}
			return r.NormFloat64() * scale / 2
		},
		"normal":      func() float64 { return r.NormFloat64() * scale },
		"exponential": func() float64 { return r.ExpFloat64() * scale },
		"lognormal":   func() float64 { return math.Exp(r.NormFloat64()) * scale / 2 },
		"pareto":      func() float64 { return min((math.Pow(1-r.Float64(), -1/2.2)-1)*scale/2, w.period) },
		"two states": func() float64 {
			if r.IntN(3) == 0 {
				return scale + r.NormFloat64()*scale/4
			}
			return r.NormFloat64() * scale / 4
		},
	}
	w.shape = pick(r, []string{"normal", "exponential", "lognormal", "pareto", "two states", "spells", "rare"})
	w.jitter = shapes[w.shape]
}

func pick[T any](r *rand.Rand, v []T) T { return v[r.IntN(len(v))] }

// sent gives the instants at which characters leave.
func (w *world) sent() []float64 {
	t0 := w.r.Float64() * 1e9
	due, last := t0, 0.
	out := make([]float64, 0, w.n)
	for len(out) < w.n {
		t := due
		switch {
		case w.back, w.policy == "burst" && due <= last: // no wait
			t = w.stall(last)
		case w.tick > 0:
			t = w.stall(math.Ceil(t/w.tick-1e-9)*w.tick) + max(w.jitter(), 0)
		default:
			t = w.stall(max(t, last)) + w.jitter()
		}
		t = max(t, last+w.char*1.002)
		out = append(out, t)
		last = t
		due += w.period
		switch {
		case w.policy == "shift":
			due = t + w.period
		case w.policy == "skip" && due < t:
			due = t0 + math.Ceil((t-t0)/w.period)*w.period
		}
	}
	return out
}

// arrivals gives what the receiver stamps.
func (w *world) arrivals() []arrival {
	var out []arrival
	chars := 0
	for i, t := range w.sent() {
		t = w.hold(t*(1+w.ppm*1e-6) + w.char)
		chars++
		if w.trigger > 0 && chars < w.trigger && i < w.n-1 {
			continue
		}
		near := 1.
		if w.raster > 0 {
			t = math.Ceil(t/w.raster)*w.raster + math.Abs(w.jitter())
			near = w.raster / 2
		}
		if float64(i) >= w.stepAt*float64(w.n) {
			t += w.step
		}
		at := int64(math.Round(math.Round(t/w.stamp) * w.stamp))
		if k := len(out) - 1; k >= 0 && math.Abs(float64(at-out[k].at)) < near {
			out[k].n += chars
		} else {
			out = append(out, arrival{at, chars})
		}
		chars = 0
	}
	return out
}

func (w *world) String() string {
	return fmt.Sprintf("%d of %s at %s a character, told %d, jitter %s, %s, stamps %g",
		w.n, spanText(w.period), spanText(w.char), w.told, w.shape, w.policy, w.stamp)
}

// findings runs a world through the evidence.
func (w *world) findings() []Finding {
	e := NewEvidence(EvidenceOptions{PeriodNS: w.told, CharNS: int64(w.char * max(w.wrong, 1))})
	var run Run
	var fit robustFit
	var low robustPoint
	last := int64(math.MinInt64)
	for i, a := range w.arrivals() {
		e.Event(a.at, a.n, 0)
		if a.at < last {
			run.Steps.Backward++
		}
		last = a.at
		y := float64(a.at) - float64(i)*w.period
		if i%64 == 0 || y < low.y {
			low = robustPoint{float64(i), y}
		}
		if i%64 == 63 && w.fit {
			fit.add(low.x, low.y)
		}
	}
	e.Steps(fit.clockSteps(int64(w.period)))
	return Findings(&run, e)
}

// culprit is something that Findings has to name.
type culprit struct {
	name string
	code string
	set  func(w *world)
}

// stallsEvery makes stalls of a length each spacing.
func stallsEvery(w *world, spacing, length float64) {
	phase := w.r.Float64() * spacing
	w.stall = func(t float64) float64 {
		if since := math.Mod(t+phase, spacing); since < length {
			return t + length - since
		}
		return t
	}
}

// stallsAtRandom makes stalls of 2 to 6 periods, one in about so many.
func stallsAtRandom(w *world, every float64) {
	next, length := 0., 0.
	w.stall = func(t float64) float64 {
		if next == 0 || t > next+length {
			next = t + w.r.ExpFloat64()*every*w.period
			length = (2.1 + 4*w.r.Float64()) * w.period
			return t
		}
		if t > next {
			return next + length
		}
		return t
	}
}

// uneven sets a period that is no multiple of the step, and jitter well below it.
func uneven(w *world, step float64, periods ...float64) {
	w.fit = false
	w.period = pick(w.r, periods)
	w.told = int64(w.period)
	w.char = 1e10 / pick(w.r, []float64{38400, 115200})
	w.char = min(w.char, w.period/4, step/4)
	w.setJitter(step * (.005 + .03*w.r.Float64()))
}

var culprits = []culprit{
	{"USB latency timer, batches", CodeUSBLatencyTimer, func(w *world) {
		uneven(w, 16e6, 1e6, 2e6, 3.3e6, 5e6, 7e6)
		w.raster = 16e6
	}},
	{"USB latency timer, single characters", CodeUSBLatencyTimer, func(w *world) { uneven(w, 16e6, 17e6, 20e6, 25e6, 50e6); w.raster = 16e6 }},
	{"USB frame, batches", CodeUSBFrame, func(w *world) { uneven(w, 1e6, .25e6, .3e6, .4e6); w.raster = 1e6 }},
	{"USB frame or 1 ms timer, single", CodeTick1ms, func(w *world) { uneven(w, 1e6, 1.3e6, 2.5e6, 3.3e6, 7.2e6); w.raster = 1e6 }},
	{"USB microframe", CodeUSBMicroframe, func(w *world) {
		uneven(w, .125e6, .3e6, 1.06e6, 2.2e6, 5.3e6)
		w.char = 1e10 / 921600
		w.raster = .125e6
	}},
	{"Windows tick 15.625 ms, sleep", CodeWindowsTick, func(w *world) { uneven(w, 15.625e6, 1e6, 5e6, 10e6); w.tick, w.policy = 15.625e6, "shift" }},
	{"Windows tick 15.625 ms, skip", CodeWindowsTick, func(w *world) { uneven(w, 15.625e6, 5e6, 20e6, 25e6); w.tick = 15.625e6 }},
	{"Windows tick 15.625 ms, burst", CodeWindowsTick, func(w *world) { uneven(w, 15.625e6, 2e6, 5e6, 7e6); w.tick, w.policy = 15.625e6, "burst" }},
	{"Windows tick 1 ms", CodeTick1ms, func(w *world) {
		uneven(w, 1e6, 2.5e6, 5.3e6, 1.7e6)
		w.tick, w.policy = 1e6, pick(w.r, []string{"skip", "shift"})
	}},
	{"Windows tick 0.5 ms", CodeWindowsTick, func(w *world) { uneven(w, .5e6, 2.3e6, 5.2e6, 1.7e6); w.tick, w.policy = .5e6, "skip" }},
	{"kernel tick 10 ms", CodeKernelTick, func(w *world) {
		uneven(w, 10e6, 5e6, 12e6, 25e6)
		w.tick, w.policy = 10e6, pick(w.r, []string{"skip", "shift"})
	}},
	{"kernel tick 4 ms", CodeKernelTick, func(w *world) {
		uneven(w, 4e6, 5e6, 10e6, 2.5e6, 7e6)
		w.tick, w.policy = 4e6, pick(w.r, []string{"skip", "shift"})
	}},
	{"real-time throttling", CodeThrottling, func(w *world) {
		uneven(w, 1e6, 1e6, 2e6, 5e6, 10e6)
		w.policy = pick(w.r, []string{"skip", "burst", "shift"})
		stallsEvery(w, 1e9, 50e6)
	}},
	{"outliers at a fixed spacing", CodeRecurring, func(w *world) {
		w.fit = false
		w.setJitter(.005 * w.period)
		stallsEvery(w, w.period*(40+200*w.r.Float64()), w.period*(.8+1.5*w.r.Float64()))
	}},
	{"outliers of the start only", CodeNotGrowing, func(w *world) {
		w.fit = false
		w.setJitter(.005 * w.period)
		until := w.period * float64(w.n) * .08
		stallsAtRandom(w, float64(w.n)/200)
		f, first := w.stall, 0.
		w.stall = func(t float64) float64 {
			if first == 0 {
				first = t
			}
			if t-first > until {
				return t
			}
			return f(t)
		}
	}},
	{"stamps with a step", CodeQuantised, func(w *world) {
		w.stamp = pick(w.r, []float64{1e4, 1e5, 1e6})
		w.period = pick(w.r, []float64{5e6, 10e6, 20e6})
		w.told = int64(w.period)
		w.setJitter(w.stamp / 2 * (1 + w.r.Float64()))
	}},
	{"wrong baud rate", CodeBelowCharacter, func(w *world) {
		w.char = w.period / 20
		w.wrong = pick(w.r, []float64{40, 60, 96})
	}},
	{"FIFO trigger", CodeFIFOTrigger, func(w *world) { w.fit = false; w.back, w.told, w.trigger = true, 0, pick(w.r, []int{4, 8, 14}) }},
	{"stalls of the receiver", CodeHeld, func(w *world) {
		uneven(w, 1e6, 2e6, 5e6, 10e6)
		stallsAtRandom(w, 100)
		w.hold, w.stall = w.stall, w.hold
	}},
	{"a clock set", CodeClockStep, func(w *world) {
		w.setJitter(min(.01*w.period, 50e3))
		w.stepAt, w.step = .15+.7*w.r.Float64(), pick(w.r, []float64{-1, 1})*math.Exp(math.Log(.3e6)+w.r.Float64()*8)
	}},
	{"a machine suspended", CodeSuspend, func(w *world) {
		w.fit = false
		at, length := (.1+.8*w.r.Float64())*float64(w.n)*w.period, 1e9*(1.2+30*w.r.Float64())+50*w.period
		first, over := -1., false
		w.stall = func(t float64) float64 {
			if first < 0 {
				first = t
			}
			if !over && t-first > at {
				over = true
				return t + length
			}
			return t
		}
	}},
	{"catch-up by skipping", CodeSkip, func(w *world) { uneven(w, 1e6, 2e6, 5e6, 10e6); w.policy = "skip"; stallsAtRandom(w, 100) }},
	{"catch-up by a burst", CodeBurst, func(w *world) { uneven(w, 1e6, 2e6, 5e6, 10e6); w.policy = "burst"; stallsAtRandom(w, 100) }},
	{"catch-up by shifting", CodeShift, func(w *world) { uneven(w, 1e6, 2e6, 5e6, 10e6); w.policy = "shift"; stallsAtRandom(w, 100) }},
}
