package probe

import (
	"fmt"
	"os"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/results"
	"serialtiming/sender/pace"
)

// The timer study's intervals, and its tolerances (seed 003 counts a tick as
// erroneous when it comes later than the interval).
var (
	periods = []time.Duration{
		100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond,
		5 * time.Millisecond, 10 * time.Millisecond, 15600 * time.Microsecond, 20 * time.Millisecond,
	}
	tolerances = []time.Duration{0, 100 * time.Microsecond, time.Millisecond}
)

// onlyProcessor is why a spinning timer is not measured.
const onlyProcessor = "spinning on the only processor hangs the machine; --force does it all the same"

// leastTicks is the least number of intervals for figures.
const leastTicks = 10

// timers measures each way of waiting at each interval, priority and load,
// and then the experiment that this system allows.
func (r *run) timers() error {
	kinds := r.o.Timers
	if len(kinds) == 0 {
		kinds = wait.Kinds()
	}
	r.cells = len(kinds) * len(periods) * len(r.o.Priorities) * len(r.o.Loads)
	experiments := experimentCells()
	q := r.o.share(r.cells + experiments)
	r.cells += experiments
	err := r.eachLoad(func() error {
		return r.eachPriority(1, r.o.CPU, func(s *realtime.Session, priority string) error {
			for _, k := range kinds {
				for _, p := range periods {
					if r.over() {
						return nil
					}
					r.cell("%s priority, %s, %v", priority, k, p)
					cell := r.timerCell(s, k, p, q)
					cell.Priority = priority
					r.report.Timer = append(r.report.Timer, cell)
					r.done++
				}
			}
			return nil
		})
	})
	if err != nil || r.over() {
		return err
	}
	return r.experiment(q)
}

// timerCell runs one timer.
func (r *run) timerCell(s *realtime.Session, k wait.Kind, period time.Duration, q quota) TimerCell {
	cell := TimerCell{Load: r.load, Timer: string(k), Call: k.Call(), PeriodNS: int64(period)}
	switch {
	case k.Call() == "":
		cell.Why = "this system has no such timer"
		return cell
	case k == wait.Spin && r.report.Machine.Processors == 1 && !r.o.Force:
		cell.Why = onlyProcessor
		return cell
	}
	ticks := newTicks(period)
	ring := pace.NewRing(1 << 16)
	result, used, err := r.stream(s, pace.Config{Period: period, Kind: k, Count: q.ticks(), Duration: q.time}, nil, ring, ticks.record)
	cell.Granted = r.granted
	switch {
	case err != nil:
		cell.Why = err.Error()
	case result.RecordsDropped > 0:
		cell.Why = fmt.Sprintf("%s could not be recorded: this program did not get to it under the load", counted(result.RecordsDropped, "tick"))
	case ticks.interval.Count() < leastTicks:
		cell.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(result.Sent, "tick"), leastTicks+1)
	default:
		cell.Figures = ticks.figures(ticks.start.behind(result.Missed), used)
	}
	if result.Call != "" {
		cell.Call = result.Call
	}
	if result.GaveWay > 0 {
		r.warn("a hot loop slept %s to let the machine run, which had stood still for half a second", counted(result.GaveWay, "time"))
	}
	return cell
}

// ticks is a count for pace: intervals lie between ticks.
func (q quota) ticks() int64 {
	if q.count == 0 {
		return 0
	}
	return q.count + 1
}

// stream runs the sender's own hot loop on a prepared thread, into port or
// into nothing, and hands over its records as they come, if there is a ring.
func (r *run) stream(s *realtime.Session, c pace.Config, port pace.Port, ring *pace.Ring, record func(*pace.Record)) (pace.Result, results.Counters, error) {
	if port == nil {
		sink, err := openSink()
		if err != nil {
			return pace.Result{}, results.Counters{Side: "sender"}, err
		}
		defer sink.f.Close()
		port = sink
	}
	if c.Payload == nil {
		c.Payload = []byte{'U'}
	}
	c.Port, c.Records, c.Stop = port, ring, &r.stop
	var result pace.Result
	var err error
	used := r.onThread(s, func() { result, err = pace.Run(c) }, func() {
		if ring == nil {
			return
		}
		for rec := ring.Peek(); rec != nil; rec = ring.Peek() {
			record(rec)
			ring.Advance()
		}
	})
	return result, used, err
}

// sink takes characters and costs next to nothing: the null device where the
// loop goes through a descriptor, else not even that.
type sink struct{ f *os.File }

func openSink() (sink, error) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	return sink{f}, err
}

func (s sink) Write(b []byte) (int, error) { return len(b), nil }
func (s sink) Fd() (uintptr, bool)         { return s.f.Fd(), true }

// ticks counts the intervals of a stream of ticks.
type ticks struct {
	period    time.Duration
	interval  results.Histogram
	erroneous []int64 // by tolerance
	growth    []Growth
	next      int64 // the count at which growth takes its next point
	last      clock.Instant
	first     clock.Instant
	start     start
}

func newTicks(period time.Duration) *ticks {
	return &ticks{period: period, erroneous: make([]int64, len(tolerances)), next: 10}
}

func (t *ticks) record(rec *pace.Record) {
	t.start.take(rec, t.period)
	t.tick(rec.Woke)
}

// start keeps what a stream missed at its first tick: before it there is no
// interval that could show what held it up.
type start struct {
	due    clock.Instant // of the first tick
	missed int64
}

func (s *start) take(rec *pace.Record, period time.Duration) {
	switch {
	case rec.Seq == 0:
		s.due = rec.Due
	case rec.Seq == 1 && s.due != 0:
		s.missed = int64(rec.Due.Sub(s.due)/period) - 1
	}
}

// behind gives what was missed behind the first tick; a stream without a grid
// misses nothing.
func (s *start) behind(missed int64) int64 { return max(missed-s.missed, 0) }

// tick takes the instant of a tick.
func (t *ticks) tick(at clock.Instant) {
	if t.last == 0 {
		t.first, t.last = at, at
		return
	}
	iv := at.Sub(t.last)
	t.last = at
	t.interval.Record(int64(iv), int64(at.Sub(t.first)), false)
	for i, tol := range tolerances {
		if iv > t.period+tol {
			t.erroneous[i]++
		}
	}
	if t.interval.Count() == t.next {
		t.growth = append(t.growth, t.point())
		t.next = after125(t.next)
	}
}

// after125 is the next number of the series 1, 2, 5, 10, 20, 50, …
func after125(n int64) int64 {
	for lead := n; ; lead /= 10 {
		switch lead {
		case 1, 5:
			return 2 * n
		case 2:
			return n / 2 * 5
		case 0:
			return 1
		}
	}
}

// point is the cell as it stands.
func (t *ticks) point() Growth {
	high, _ := t.interval.Max()
	g := Growth{
		Ticks: t.interval.Count(), MeanNS: round1(t.interval.Mean()),
		MinNS: t.interval.Min(), MaxNS: high, Erroneous: t.shares(),
	}
	if v, ok := t.interval.Percentile(.99); ok {
		g.P99NS = &v
	}
	return g
}

func (t *ticks) shares() []Share {
	n := t.interval.Count()
	list := make([]Share, len(tolerances))
	for i, tol := range tolerances {
		list[i] = Share{int64(tol), t.erroneous[i], float64(t.erroneous[i]) / float64(n)}
	}
	return list
}

// figures closes the cell; there is at least one interval.
func (t *ticks) figures(missed int64, used results.Counters) *TimerFigures {
	if n := len(t.growth); n == 0 || t.growth[n-1].Ticks != t.interval.Count() {
		t.growth = append(t.growth, t.point())
	}
	return &TimerFigures{
		Interval: t.interval.Dist(), Missed: missed, Erroneous: t.shares(), Growth: t.growth, Counters: used,
	}
}
