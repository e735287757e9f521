package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// The codes of Findings. Each is a thing with a name that shows in the
// arrivals alone; which of several causes it has, the text says.
const (
	CodeUSBLatencyTimer = "usb-latency-timer"    // batches or a raster of 16 ms
	CodeUSBFrame        = "usb-frame"            // batches or a raster of 1 ms
	CodeUSBMicroframe   = "usb-microframe"       // of 125 µs
	CodeWindowsTick     = "windows-tick"         // of 15.625 or 0.5 ms, and of 1 ms where the sender is Windows
	CodeKernelTick      = "kernel-tick"          // of 10, 4 or 3.333 ms
	CodeTick1ms         = "tick-1ms"             // of 1 ms, without batches: a timer or a USB frame
	CodeRTCTick         = "rtc-tick"             // of 1/1024 s
	CodeBatches         = "batches"              // characters that share a read, by no raster above
	CodeFIFOTrigger     = "fifo-trigger"         // batches of one size
	CodeBelowCharacter  = "below-character-time" // intervals that the line cannot carry
	CodeQuantised       = "quantised-stamps"     // the step of the stamps is what is seen
	CodeThrottling      = "realtime-throttling"  // 50 ms a second
	CodeRecurring       = "recurring-outliers"   // outliers at a fixed spacing
	CodeNotGrowing      = "outliers-not-growing" // outliers of the start only, whatever n
	CodeSkip            = "catch-up-skip"        // the policy that the sender shows
	CodeBurst           = "catch-up-burst"
	CodeShift           = "catch-up-shift"
	CodeHeld            = "held-by-receiver" // the characters of a stall came in one read
	CodeClockStep       = "clock-step"       // the two clocks moved against each other
	CodeSuspend         = "suspend"          // a long silence in a stream that went on
)

// findingLeast is the fewest intervals of which anything is said.
const findingLeast = 100

// Findings names what the arrivals show. It is pure: the same run and
// evidence give the same findings. Too few samples are no finding.
func Findings(r *Run, e *Evidence) []Finding {
	e.finish()
	all := e.clockFindings(r)
	s := e.sample()
	if len(s.iv) < findingLeast {
		return all
	}
	all = append(all, s.pathFindings()...)
	all = append(all, e.outlierFindings()...)
	return append(all, e.catchUpFinding()...)
}

// finding is a Finding in its parts.
type finding struct {
	code     string
	text     string // a sentence: what is seen and what it means
	evidence string // the numbers
	remedy   string // what to do, an action
}

// finding gives the form of the report.
func (f finding) finding() Finding {
	return Finding{Code: f.code, Text: f.text, Evidence: f.evidence, Remedy: f.remedy}
}

// sample is what the kept windows hold, ready to be looked at.
type sample struct {
	opt    *EvidenceOptions
	iv     []int64 // intervals between events, in their order
	n      []int64 // characters of the event that ends each
	sorted []int64 // iv
	group  []int64 // intervals between groups, sorted: see groups
	quick  int     // intervals inside groups
}

// sample takes the windows apart. Disturbed intervals are left out.
func (e *Evidence) sample() *sample {
	s := &sample{opt: &e.opt}
	near := e.groupWithin()
	for _, w := range e.windows {
		start := int64(math.MinInt64) // of the group, unknown
		for i := 1; i < len(w.at); i++ {
			iv := w.at[i] - w.at[i-1]
			if iv <= 0 || (w.n[i]|w.n[i-1])&disturbedMark != 0 {
				start = math.MinInt64
				continue
			}
			s.iv = append(s.iv, iv)
			s.n = append(s.n, int64(w.n[i]))
			if iv <= near {
				s.quick++
				continue
			}
			if start != math.MinInt64 {
				s.group = append(s.group, w.at[i]-start)
			}
			start = w.at[i]
		}
	}
	s.sorted = slices.Sorted(slices.Values(s.iv))
	slices.Sort(s.group)
	return s
}

// groupWithin gives the interval up to which characters belong to one group:
// a timer that woke late and sent several at once is one beat, not several.
func (e *Evidence) groupWithin() int64 {
	p, c := e.opt.PeriodNS, e.opt.CharNS
	if p <= 0 || c > p/4 {
		return 0
	}
	return max(c*3/2, p/20)
}

// pathFindings are those of the way from the sender's timer to the stamp.
func (s *sample) pathFindings() []Finding {
	quantum, found := s.quantised()
	chars, shared, sizes, batched := s.batched()
	switch raster := s.raster(quantum, batched); {
	case raster.q != nil:
		found = append(found, raster.finding(s, batched))
	case batched:
		found = append(found, s.batchSizes(chars, shared, sizes).finding())
	}
	if f := s.belowCharacter(); f != nil {
		found = append(found, *f)
	}
	return found
}

// belowCharacter looks for intervals that the line cannot have carried.
func (s *sample) belowCharacter() *Finding {
	c := s.opt.CharNS
	if c <= 0 {
		return nil
	}
	var count, least int64
	for i, iv := range s.iv {
		if 4*iv < 3*c*s.n[i] {
			count++
			if least == 0 || iv < least {
				least = iv
			}
		}
	}
	if count < 10 || count*100 < int64(len(s.iv)) {
		return nil
	}
	return new(finding{
		code: CodeBelowCharacter,
		text: "intervals are shorter than the characters take on the line: they waited somewhere and came together, or the baud rate is not the real one",
		evidence: fmt.Sprintf("%d of %d intervals, down to %s, a character takes %s",
			count, len(s.iv), spanText(float64(least)), spanText(float64(c))),
		remedy: "check --baud on both ends; if it is right, look for an adapter or FIFO that batches",
	}.finding())
}

// clockFindings are steps of a clock, and long silences.
func (e *Evidence) clockFindings(r *Run) []Finding {
	var all []Finding
	if e.longs > 0 && e.longs <= 3 && e.spread() < e.center {
		o := slices.MaxFunc(e.long, func(a, b outlier) int { return cmp.Compare(a.excess, b.excess) })
		all = append(all, finding{
			code: CodeSuspend,
			text: "nothing came for a long time and then the stream went on: a machine was suspended, a virtual machine paused, or the sender stopped",
			evidence: fmt.Sprintf("%d silences, the longest %s until %s", e.longs,
				spanText(float64(o.excess+e.center)), spanText(float64(o.at))),
			remedy: "keep both machines awake during a run and measure again; the figures hold a silence that is no jitter",
		}.finding())
	}
	steps := e.steps
	if len(steps) == 0 && r.Steps.Backward == 0 {
		return all
	}
	evidence := fmt.Sprintf("%d stamps lie before the one ahead of them", r.Steps.Backward)
	if len(steps) > 0 {
		big := slices.MaxFunc(steps, func(a, b ClockStep) int {
			return cmp.Compare(math.Abs(a.SizeNS), math.Abs(b.SizeNS))
		})
		evidence = fmt.Sprintf("%d steps, the largest of %s near %s; whole periods in it cannot be seen",
			len(steps), spanText(big.SizeNS), spanText(big.AtNS))
		if o, ok := e.locate(big); ok {
			evidence = fmt.Sprintf("%d steps, the largest of %s at %s", len(steps), spanText(float64(o.excess)), spanText(float64(o.at)))
		}
	}
	return append(all, finding{
		code:     CodeClockStep,
		text:     "the two clocks moved against each other at once: one of them was set, or a virtual machine was moved",
		evidence: evidence,
		remedy:   "stop whatever sets the clock during a run, or stamp with a monotonic one",
	}.finding())
}

// locate finds the interval that a step lies in, which tells its instant and
// whole size: the fit knows it to within some points and up to whole periods.
// It has to stand out from the other outliers around it.
func (e *Evidence) locate(s ClockStep) (found outlier, ok bool) {
	period := float64(max(e.opt.PeriodNS, 1))
	second := int64(0)
	for _, o := range e.outliers {
		switch {
		case math.Abs(float64(o.at)-s.AtNS) > 10e9:
		case o.excess > found.excess:
			found, second = o, found.excess
		default:
			second = max(second, o.excess)
		}
	}
	rest := math.Remainder(float64(found.excess)-s.SizeNS, period)
	return found, found.excess > 2*second && math.Abs(rest) < min(period/20, clockStepLeast)
}

// spread is the width of the middle 80 % of the intervals.
func (e *Evidence) spread() int64 {
	s := e.sample()
	if len(s.sorted) < 20 {
		return math.MaxInt64
	}
	return rankOf(s.sorted, .9) - rankOf(s.sorted, .1)
}

// spanText writes nanoseconds in a sentence.
func spanText(ns float64) string {
	a := math.Abs(ns)
	switch {
	case a < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case a < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case a < 1e9:
		return fmt.Sprintf("%.3f ms", ns/1e6)
	}
	return fmt.Sprintf("%.3f s", time.Duration(ns).Seconds())
}
