package results

import (
	"fmt"
	"math"
)

// quantum is a step that a known thing imposes on arrivals.
type quantum struct {
	ns           float64
	code         string
	what, remedy string
	alone        bool // a typical interval that is a multiple of it is enough to name it
}

// quanta are the known ones, longest first, since a raster of 10 ms is one of
// 1 ms too. Sources: field notes of the design; FTDI AN232B-04 (16 ms);
// USB 2.0, 8.4.3 (1 ms, 125 µs); Windows' clock interrupt (15.625 ms, 0.5 ms
// at its finest); CONFIG_HZ of Linux (100, 250, 300); the PC's real-time
// clock (1024 Hz), by which the DOS program counted.
var quanta = []quantum{
	{16e6, CodeUSBLatencyTimer, "the latency timer of an FTDI USB adapter (16 ms as delivered)",
		"set it to 1 ms: --low-latency, or the adapter's driver settings", false},
	{15.625e6, CodeWindowsTick, "Windows' timer tick (64 Hz as delivered)",
		"send with --timer-resolution 1ms or --timer absolute", true},
	{10e6, CodeKernelTick, "a kernel tick of 100 Hz", "use a kernel with high-resolution timers and CONFIG_HZ=1000, or --timer hybrid", true},
	{4e6, CodeKernelTick, "a kernel tick of 250 Hz", "use a kernel with high-resolution timers and CONFIG_HZ=1000, or --timer hybrid", true},
	{1e7 / 3, CodeKernelTick, "a kernel tick of 300 Hz", "use a kernel with high-resolution timers and CONFIG_HZ=1000, or --timer hybrid", true},
	{1e6, CodeTick1ms, "a timer tick of 1 ms (Windows after timeBeginPeriod(1), CONFIG_HZ=1000) or a USB full-speed frame",
		"send with --timer hybrid or spin; receive on a port that is not USB", true},
	{1e9 / 1024., CodeRTCTick, "a clock of 1024 Hz", "take a finer clock to pace or to stamp", true},
	{.5e6, CodeWindowsTick, "Windows' finest timer tick (0.5 ms)", "send with --timer hybrid or spin", true},
	{.125e6, CodeUSBMicroframe, "a USB high-speed microframe", "nothing but a port that is not USB removes it; take it as the floor", false},
}

// rasterFit is a raster that the arrivals lie on; q is nil if none.
type rasterFit struct {
	q      *quantum
	step   float64 // measured, ns
	share  float64 // of the intervals that are away from the typical one, on the raster
	center int64   // typical interval
	stuck  bool    // all intervals alike, a multiple of the step, and not the period
	groups int
}

// raster finds the longest known quantum that the beats lie on. Stamps with a
// step of their own explain all rasters up to it.
func (s *sample) raster(stamp int64, batched bool) rasterFit {
	iv := s.group
	if len(iv) < findingLeast/4 {
		return rasterFit{}
	}
	for i := range quanta {
		if q := &quanta[i]; float64(stamp) < q.ns*.6 {
			if f := comb(iv, q); f.q != nil {
				return f
			}
		}
	}
	center := rankOf(iv, .5)
	for i := range quanta {
		if q := &quanta[i]; float64(stamp) < q.ns*.6 && s.stuckOn(q, center, batched) {
			return rasterFit{q: q, step: q.ns, center: center, stuck: true, groups: len(iv)}
		}
	}
	return rasterFit{}
}

// comb looks whether intervals that differ from the typical one by more than
// half a step do so by whole steps. Jitter without a step is smooth over half
// a step, so that the cosine of its phase has mean zero, or below zero when it
// dies away within a step.
func comb(iv []int64, q *quantum) rasterFit {
	center := float64(middleOf(iv, q.ns))
	var n, sum, kd, kk float64
	for _, v := range iv {
		d := float64(v) - center
		if math.Abs(d) <= q.ns/2 {
			continue
		}
		n++
		sum += math.Cos(2 * math.Pi * d / q.ns)
		if k := math.Round(d / q.ns); math.Abs(d-k*q.ns) < q.ns/6 {
			kd += k * d
			kk += k * k
		}
	}
	if n < 12 || kk == 0 || n < .02*float64(len(iv)) || sum < .4*n || sum*math.Sqrt(2/n) < 6 {
		return rasterFit{}
	}
	// Arrivals on a raster make the typical interval a multiple of the step too.
	if slack := center * 500e-6; slack < q.ns/16 {
		if off := math.Abs(math.Remainder(center, q.ns)); off > q.ns/6+slack {
			return rasterFit{}
		}
	}
	// The spread of a step's measure follows from how blurred the comb is.
	blur := q.ns / (2 * math.Pi) * math.Sqrt(2*math.Log(n/sum)+1e-12)
	step := kd / kk
	// 1 % at most: the PC's clock and 1 ms are 2.4 % apart.
	if math.Abs(step-q.ns) > min(q.ns*.003+3*blur/math.Sqrt(kk), q.ns*.01) || nearest(step) != q {
		return rasterFit{}
	}
	return rasterFit{q: q, step: step, share: n / float64(len(iv)), center: int64(center), groups: len(iv)}
}

// middleOf gives the middle of the highest peak: the median of the quarter of
// a step that holds most. (The median of all may lie between two peaks.)
func middleOf(sorted []int64, q float64) int64 {
	low, most, middle := 0, 0, int64(0)
	for high, v := range sorted {
		for v-sorted[low] > int64(q/4) {
			low++
		}
		if n := high - low + 1; n > most {
			most, middle = n, sorted[(low+high)/2]
		}
	}
	return middle
}

// nearest gives the known quantum closest to a measured one.
func nearest(step float64) *quantum {
	best := &quanta[0]
	for i := range quanta {
		if q := &quanta[i]; math.Abs(q.ns-step) < math.Abs(best.ns-step) {
			best = q
		}
	}
	return best
}

// stuckOn says that the beats come by the quantum although the period is
// another one: a sleep rounded up to the next tick, or reads at each tick of
// what came between.
func (s *sample) stuckOn(q *quantum, center int64, batched bool) bool {
	p, c := float64(s.opt.PeriodNS), float64(center)
	k := math.Round(c / q.ns)
	if k < 1 || math.Abs(c-k*q.ns) > c*500e-6+q.ns*.002 || c > 40*q.ns {
		return false
	}
	if float64(rankOf(s.group, .9)-rankOf(s.group, .1)) > q.ns/4 {
		return false
	}
	switch {
	case batched:
		return k == 1
	case p <= 0: // only a value that nobody would choose
		return q.ns == 15.625e6 && k == 1
	}
	return q.alone && math.Abs(c/p-1) > .02
}

// finding names a raster.
func (f rasterFit) finding(s *sample, batched bool) Finding {
	code, what := f.q.code, f.q.what
	if code == CodeTick1ms {
		switch {
		case batched || s.opt.USB:
			code = CodeUSBFrame
		case s.opt.SenderOS == "windows":
			code = CodeWindowsTick
		}
	}
	text := "arrivals lie on a raster of " + spanText(f.q.ns) + ": " + what
	evidence := fmt.Sprintf("step %s by %d intervals, %.1f %% of them a whole step or more from %s",
		spanText(f.step), f.groups, f.share*100, spanText(float64(f.center)))
	if f.stuck {
		evidence = fmt.Sprintf("%d intervals, nearly all %s, the period is %s", f.groups,
			spanText(float64(f.center)), periodText(s.opt.PeriodNS))
	}
	if batched {
		text = "characters come in batches on a raster of " + spanText(f.q.ns) + ": " + what
	}
	return finding{code, text, evidence, f.q.remedy}.finding()
}

func periodText(ns int64) string {
	if ns <= 0 {
		return "unknown"
	}
	return spanText(float64(ns))
}

// quantised finds the step that all intervals are multiples of, or takes the
// declared one, and says so where it is coarse against what is to be seen.
func (s *sample) quantised() (step int64, found []Finding) {
	step = max(s.stampStep(), s.opt.Quantum)
	width := rankOf(s.sorted, .9) - rankOf(s.sorted, .1)
	if step < 1000 || 20*step < width {
		return step, nil
	}
	f := finding{
		code:     CodeQuantised,
		text:     "the stamps have a step that is coarse against the jitter: what is seen may be the step and not the line",
		evidence: fmt.Sprintf("all %d intervals are multiples of %s", len(s.iv), spanText(float64(step))),
		remedy:   "capture with finer stamps; take nothing below the step as measured",
	}
	if s.stampStep() < step {
		f.evidence = fmt.Sprintf("the source's stamps have a step of %s", spanText(float64(step)))
	}
	return step, []Finding{f.finding()}
}

// stampStep is the greatest common divisor of the intervals, 1 where the
// arrivals vary too little to tell a step from the period itself.
func (s *sample) stampStep() int64 {
	var g int64
	mode, others := s.sorted[len(s.sorted)/2], 0
	for _, v := range s.iv {
		if v != mode {
			others++
		}
		for v != 0 {
			g, v = v, g%v
		}
		if g == 1 {
			return 1
		}
	}
	if others < 10 || others*100 < len(s.iv) || g > mode/2 {
		return 1
	}
	return g
}

// batched says whether characters share a read often enough to be named.
func (s *sample) batched() (chars, shared int64, sizes map[int64]int64, ok bool) {
	sizes = map[int64]int64{}
	for _, n := range s.n {
		chars += n
		if n > 1 {
			shared += n
			sizes[n] += n
		}
	}
	return chars, shared, sizes, shared >= 20 && shared*20 >= chars
}

// batchSizes names batches that follow no known raster.
func (s *sample) batchSizes(chars, shared int64, sizes map[int64]int64) finding {
	var size, most int64
	for n, c := range sizes {
		if c > most || c == most && n < size {
			size, most = n, c
		}
	}
	spacing := spanText(float64(rankOf(s.sorted, .5)))
	if step := rankOf(s.sorted, .5); 10*most >= 6*chars && s.opt.CharNS > 0 &&
		math.Abs(float64(step)/float64(size*s.opt.CharNS)-1) < .2 {
		return finding{
			code:     CodeFIFOTrigger,
			text:     fmt.Sprintf("characters come in batches of %d: the UART's receive FIFO interrupts at that level", size),
			evidence: fmt.Sprintf("%.1f %% of %d characters, a read each %s", 100*float64(most)/float64(chars), chars, spacing),
			remedy:   "set the trigger level to 1: rx_trig_bytes in sysfs, or the port's advanced settings on Windows",
		}
	}
	return finding{
		code:     CodeBatches,
		text:     "several characters came in one read: they share one instant, and no interval is known inside",
		evidence: fmt.Sprintf("%.1f %% of %d characters, mostly %d together, a read each %s", 100*float64(shared)/float64(chars), chars, size, spacing),
		remedy:   "look at what the port or adapter gathers (FIFO trigger, latency timer), and at the load of the receiver's machine: the kernel hands characters on in a worker of ordinary priority",
	}
}
