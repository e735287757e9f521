package results

import "slices"

const (
	evidenceBlock   = 1024 // arrivals that are looked through at once
	evidenceBack    = 16   // arrivals before a block that are still at hand
	evidenceAhead   = 128  // arrivals behind an outlier that are looked at for how the sender goes on
	evidenceWindows = 16   // blocks kept whole for the findings at the end
	evidenceMost    = 512  // outliers kept
	evidenceBuffer  = evidenceBack + evidenceBlock + evidenceAhead
)

// EvidenceOptions are what the arrivals cannot tell themselves. A zero field
// is not known; what depends on it is then not looked for.
type EvidenceOptions struct {
	PeriodNS int64  // of the sender's schedule, announced or given by the user
	CharNS   int64  // character time; 0 on a virtual cable, which has none
	Quantum  int64  // declared step of the stamps
	CatchUp  string // as announced: skip, burst or shift

	SenderOS string // "windows" and the like, to tell a 1 ms timer from a USB frame
	USB      bool   // the receiver's port is a USB adapter
	OneClock bool   // it serves both ends, so that nothing is a step between two
}

// Evidence gathers what Findings looks at: one pass, constant memory (about
// 250 KiB), about 2 ns an event. It keeps 16 whole blocks of arrivals spread
// evenly over the run, the largest outliers of all of it, and how the sender
// went on behind each long stall. The same events give the same evidence, live
// or replayed.
type Evidence struct {
	opt EvidenceOptions

	at    [evidenceBuffer]int64
	n     [evidenceBuffer]int32 // characters; see disturbedMark
	fill  int                   // of the buffer
	start int                   // the first that was not looked at
	base  int64                 // number in the run of the buffer's first

	windows []evidenceWindow
	block   int64 // number of the coming block
	stride  int64 // every so many blocks one is kept

	center, high int64 // typical interval, and above which one is an outlier
	ready        bool
	outliers     []outlier
	raised       int // outliers seen in this block
	long         []outlier
	longs        int64
	votes        [catchUpKinds]int64
	steps        []ClockStep
	done         bool
}

// disturbedMark is set in the characters of an event at which the receiver
// itself was held up.
const (
	disturbedShift = 26
	disturbedMark  = int32(Disturbed) << disturbedShift
)

// evidenceWindow is a stretch of arrivals without a hole.
type evidenceWindow struct {
	at []int64
	n  []int32
}

// outlier is an arrival that came long after the one before.
type outlier struct {
	at, index int64 // instant and number of the arrival
	excess    int64 // of its interval over the typical one
	last      int64 // number of the last outlier that it stands for
}

// NewEvidence makes an empty collector.
func NewEvidence(o EvidenceOptions) *Evidence { return &Evidence{opt: o, stride: 1} }

// Event takes one arrival of n characters at an instant in ns since the log's
// zero.
func (e *Evidence) Event(at int64, n int, f Flags) {
	i := e.fill
	e.at[i], e.n[i] = at, int32(n)|int32(f&Disturbed)<<disturbedShift
	if e.fill++; e.fill == evidenceBuffer {
		e.look(false)
	}
}

// Steps takes the steps between the two clocks that the robust fit found.
func (e *Evidence) Steps(s []ClockStep) {
	if !e.opt.OneClock {
		e.steps = append(e.steps, s...)
	}
}

// finish looks at what is left.
func (e *Evidence) finish() {
	if !e.done {
		e.look(true)
		e.done = true
	}
}

// look goes through the buffer but for its end, which is kept to be looked at
// with what follows it.
func (e *Evidence) look(last bool) {
	end := e.fill
	if !last {
		end -= evidenceAhead
	}
	if end <= e.start {
		return
	}
	if !e.ready {
		e.settle(e.at[e.start:end])
	}
	e.keep(end)
	e.raised = 0
	for i := max(e.start, 1); i < end; i++ {
		if e.at[i]-e.at[i-1] > e.high {
			e.outlier(i)
		}
	}
	if e.raised > (end-e.start)/16 {
		e.raise(e.center + 2*(e.high-e.center))
	}
	from := max(end-evidenceBack, 0)
	copy(e.at[:], e.at[from:e.fill])
	copy(e.n[:], e.n[from:e.fill])
	e.base += int64(from)
	e.fill -= from
	e.start = end - from
}

// settle takes from the first block what an outlier is.
func (e *Evidence) settle(at []int64) {
	iv := make([]int64, 0, len(at))
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d > 0 {
			iv = append(iv, d)
		}
	}
	e.ready = len(iv) >= evidenceBlock/2
	if len(iv) == 0 {
		e.high = 1 << 62
		return
	}
	slices.Sort(iv)
	e.center = iv[len(iv)/2]
	e.high = e.center + max(8*(rankOf(iv, .9)-e.center), e.center/200, 2000)
}

// keep copies the block if its turn has come. When there are too many, every
// second one goes and the turns come half as often, so that those kept are
// always spread evenly from the start to now.
func (e *Evidence) keep(end int) {
	turn := e.block%e.stride == 0
	e.block++
	if !turn {
		return
	}
	if len(e.windows) == evidenceWindows {
		for i := range evidenceWindows / 2 {
			e.windows[i], e.windows[2*i] = e.windows[2*i], e.windows[i]
		}
		e.windows = e.windows[:evidenceWindows/2]
		e.stride *= 2
		if (e.block-1)%e.stride != 0 {
			return
		}
	}
	k := len(e.windows)
	if k < cap(e.windows) {
		e.windows = e.windows[:k+1]
	} else {
		e.windows = append(e.windows, evidenceWindow{})
	}
	w := &e.windows[k]
	w.at = append(w.at[:0], e.at[e.start:end]...)
	w.n = append(w.n[:0], e.n[e.start:end]...)
}

// outlier takes arrival i of the buffer, whose interval is above high.
func (e *Evidence) outlier(i int) {
	e.raised++
	if (e.n[i]|e.n[i-1])&disturbedMark != 0 {
		return // the receiver's own doing
	}
	iv := e.at[i] - e.at[i-1]
	index := e.base + int64(i)
	o := outlier{at: e.at[i], index: index, excess: iv - e.center, last: index}
	if iv >= 1e9 && iv >= 50*e.center {
		if e.longs++; len(e.long) < 8 {
			e.long = append(e.long, o)
		}
	}
	e.catchUp(i)
	if k := len(e.outliers) - 1; k >= 0 && index-e.outliers[k].last <= 4 && index-e.outliers[k].index < 64 {
		e.outliers[k].last = index
		e.outliers[k].excess = max(e.outliers[k].excess, o.excess)
		return
	}
	e.outliers = append(e.outliers, o)
	if len(e.outliers) == evidenceMost {
		e.thin()
	}
}

// thin keeps the larger half of the outliers: they are then all those of the
// run that are above a higher threshold.
func (e *Evidence) thin() {
	size := make([]int64, len(e.outliers))
	for i, o := range e.outliers {
		size[i] = o.excess
	}
	slices.Sort(size)
	e.raise(e.center + size[len(size)/2])
}

func (e *Evidence) raise(high int64) {
	e.high = max(high, e.high)
	e.outliers = slices.DeleteFunc(e.outliers, func(o outlier) bool { return o.excess <= e.high-e.center })
}

// rankOf gives the nearest-rank quantile of sorted values.
func rankOf(sorted []int64, q float64) int64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
