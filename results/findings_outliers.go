package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// outlierFindings look at when the long intervals came.
func (e *Evidence) outlierFindings() []Finding {
	if f := e.throttling(); f != nil {
		return []Finding{*f}
	}
	if f := e.recurring(); f != nil {
		return []Finding{*f}
	}
	if f := e.notGrowing(); f != nil {
		return []Finding{*f}
	}
	return nil
}

// recurrence is a spacing at which outliers come again.
type recurrence struct {
	spacing float64 // ns
	hits    int     // outliers on it
	slots   int     // places for them from the first to the last
	chance  float64 // that random instants would do as well, all trials counted
}

// throttling looks for 50 ms a second: what a kernel takes from real-time
// threads that never sleep (sched_rt_runtime_us 950000 of 1000000, or, from
// about Linux 6.12 on, the deadline server for ordinary tasks that starve).
// Two such stalls a whole number of seconds apart are enough: nothing else
// looks like that.
func (e *Evidence) throttling() *Finding {
	var at, size []int64
	slack := max(6e6, e.center)
	for _, o := range e.outliers {
		if o.excess > 40e6-e.center && o.excess < 50e6+2*slack {
			at = append(at, o.at)
			size = append(size, o.excess)
		}
	}
	if len(at) < 2 || e.center > 20e6 {
		return nil
	}
	if n := e.largerThan(60e6 + 2*slack); 4*n > len(at) {
		return nil
	}
	hits := 0
	for i := 1; i < len(at); i++ {
		d := float64(at[i] - at[i-1])
		if k := math.Round(d / 1e9); k >= 1 && k <= 10 && math.Abs(d-k*1e9) < 15e6+float64(e.center) {
			hits++
		}
	}
	if hits*10 < 8*(len(at)-1) {
		return nil
	}
	slices.Sort(size)
	return new(finding{
		code:     CodeThrottling,
		text:     "the stream stands still for about 50 ms once a second: the kernel takes that much from real-time threads that do not sleep (real-time throttling, or the deadline server for ordinary tasks)",
		evidence: fmt.Sprintf("%d stalls of %s, whole seconds apart", len(at), spanText(float64(rankOf(size, .5)))),
		remedy:   "do not spin at real-time priority (--timer absolute or hybrid), or write -1 to /proc/sys/kernel/sched_rt_runtime_us",
	}.finding())
}

func (e *Evidence) largerThan(excess int64) (n int) {
	for _, o := range e.outliers {
		if o.excess > excess {
			n++
		}
	}
	return n
}

const (
	recurLeast  = 5    // outliers before a spacing is looked for
	recurStarts = 24   // outliers from which trial spacings are taken
	recurMost   = 192  // outliers that are looked at
	recurChance = 1e-5 // that random outliers would do as well
)

// recurring looks for a fixed spacing, of all outliers and of the largest:
// what recurs may be hidden among smaller ones that do not.
func (e *Evidence) recurring() *Finding {
	best, of, trials := recurrence{chance: 1}, 1, 0
	for n := min(len(e.outliers), recurMost); n >= recurLeast; n /= 2 {
		times := e.largest(n)
		tried := trialSpacings(times, float64(e.center))
		trials += len(tried)
		for _, spacing := range tried {
			r := follow(times, spacing, float64(e.center))
			if r.chance < best.chance && 2*r.hits >= len(times) {
				best, of = r, len(times)
			}
		}
	}
	if best.hits == 0 || best.chance*float64(trials) > recurChance {
		return nil
	}
	return new(finding{
		code: CodeRecurring,
		text: "outliers come again at a fixed spacing: something runs by that beat",
		evidence: fmt.Sprintf("%d of the %d largest outliers are %s apart or whole multiples of it",
			best.hits, of, spanText(best.spacing)),
		remedy: "look for a timer, poll or housekeeping task of that period on both machines",
	}.finding())
}

// trialSpacings gives differences of neighbouring outliers and whole parts of
// them, since not every beat has to make an outlier.
func trialSpacings(times []int64, typical float64) (all []float64) {
	for i := 0; i < min(len(times)-1, recurStarts); i++ {
		for j := i + 1; j < min(len(times), i+4); j++ {
			d := float64(times[j] - times[i])
			for k := 1.; k <= 4; k++ {
				if d/k > 12*typical {
					all = append(all, d/k)
				}
			}
		}
	}
	return all
}

// largest gives the instants of at most n of the largest outliers, in their order.
func (e *Evidence) largest(n int) []int64 {
	all := e.outliers
	if len(all) > n {
		size := make([]int64, len(all))
		for i, o := range all {
			size[i] = o.excess
		}
		slices.Sort(size)
		least := size[len(size)-n]
		all = slices.DeleteFunc(slices.Clone(all), func(o outlier) bool { return o.excess < least })
	}
	times := make([]int64, len(all))
	for i, o := range all {
		times[i] = o.at
	}
	return times
}

// follow goes through the outliers by a trial spacing: each that comes where
// it is due sharpens the spacing. A delay is seen only when the next character
// is due, so an outlier may come one typical interval after its place.
func follow(times []int64, spacing, typical float64) recurrence {
	window := min(max(1.2*typical, .005*spacing), .1*spacing)
	best := recurrence{chance: 1}
	for start := 0; start < min(3, len(times)-recurLeast+1); start++ {
		first := float64(times[start])
		s, hits, last := spacing, 1, 0.
		for _, t := range times[start+1:] {
			k := math.Round((float64(t) - first) / s)
			if k <= last || math.Abs(float64(t)-first-k*s) > window {
				continue
			}
			hits++
			last = k
			s = (float64(t) - first) / k
		}
		r := recurrence{spacing: s, hits: hits, slots: int(last) + 1}
		if hits < recurLeast || 8*hits < r.slots {
			continue
		}
		// Two outliers fix the spacing and its place; the others come there by
		// chance as often as the windows cover the line.
		r.chance = binomialTail(len(times)-start-2, hits-2, 2*window/s)
		if r.chance < best.chance {
			best = r
		}
	}
	return best
}

// notGrowingLeast is the fewest outliers of which it is asked.
const notGrowingLeast = 5

// notGrowing asks whether the number of outliers grows with the number of
// samples. Where nearly all of the largest came at the start it does not: ten
// times as many samples would not have had ten times as many.
func (e *Evidence) notGrowing() *Finding {
	total := float64(e.base + int64(e.fill))
	if len(e.outliers) < notGrowingLeast || total < 1000 {
		return nil
	}
	all := slices.SortedFunc(slices.Values(e.outliers), func(a, b outlier) int { return cmp.Compare(b.excess, a.excess) })
	for n := len(all); n >= notGrowingLeast; n /= 2 {
		for _, part := range []float64{.01, .1, .25} {
			early := 0
			for _, o := range all[:n] {
				if float64(o.index) < part*total {
					early++
				}
			}
			if 4*early >= 3*n && binomialTail(n, early, part) < 2e-5 {
				return new(oncePerRun(early, n, part, all[n-1].excess, total))
			}
		}
	}
	return nil
}

func oncePerRun(early, n int, part float64, above int64, total float64) Finding {
	return finding{
		code: CodeNotGrowing,
		text: "the largest outliers do not grow with the number of samples: nearly all came at the start, so they are no rate but something that happens once (memory touched for the first time, caches, a program that starts)",
		evidence: fmt.Sprintf("%d of the %d above %s in the first %.0f %% of %.0f arrivals",
			early, n, spanText(float64(above)), part*100, total),
		remedy: "begin to count after a warm-up, and lock and touch memory before it; a longer run does not make this tail worse",
	}.finding()
}

// binomialTail gives the probability of k or more of n at p each.
func binomialTail(n, k int, p float64) float64 {
	if k <= 0 {
		return 1
	}
	if k > n {
		return 0
	}
	if p >= 1 {
		return 1
	}
	logN, _ := math.Lgamma(float64(n + 1))
	sum := 0.
	for i := k; i <= n; i++ {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(logN - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}
