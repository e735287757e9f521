package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/ring"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/results"
	"serialtiming/results/report"
	"serialtiming/sender/pace"
)

const (
	// spinLongest ends a spin cell whatever was asked, unless it is forced:
	// beyond it kernels take the processor for hung.
	spinLongest = time.Minute
	spinPeriod  = time.Millisecond // of the second form, as in seed 000

	// throttled is the row from which on an interruption may be the system's
	// own limit: 50 ms a second on Linux, shorter when it was idle before.
	throttled = int64(20 * time.Millisecond)

	formLoop     = "loop"
	formPeriodic = "periodic"
)

// spins is seed 000: what interrupts a thread at the top priority, seen by a
// loop that does nothing but read the clock, then by a thread that wakes every
// millisecond and writes.
func (r *run) spins() error {
	port, err := r.openPort()
	if err != nil {
		return err
	}
	if port != nil {
		defer port.Close()
	}
	r.cells = 2 * len(r.o.Priorities) * len(r.o.Loads)
	q := r.o.share(r.cells)
	if !r.o.Force && (q.time == 0 || q.time > spinLongest) {
		if q.time > 0 {
			r.warn("the spin loop ran for %v in each cell, not for %v: --force lifts that limit", spinLongest, q.time)
		}
		q.time = spinLongest
	}
	return r.eachLoad(func() error {
		return r.eachPriority(1, r.o.CPU, func(s *realtime.Session, priority string) error {
			loop := r.loopCell(s, q)
			periodic := r.periodicCell(s, q, port)
			for _, c := range []SpinCell{loop, periodic} {
				c.Priority = priority
				r.report.Spin = append(r.report.Spin, c)
			}
			return nil
		})
	})
}

// gap is one interruption of the loop.
type gap struct{ At, Length int64 }

// spinLoop is the state of the loop: everything that it touches.
type spinLoop struct {
	count     int64 // passes
	end       clock.Instant
	threshold int64
	stop      *atomic.Bool
	gaps      *ring.Ring[gap]
	beat      wait.Beat

	passes   int64
	min, max int64
	began    clock.Instant
	last     clock.Instant
	held     int64 // ns in interruptions
	cut      int64 // interruptions
	dropped  int64 // of them not in the ring
}

// Hot reads the clock until it is over, outside the Go scheduler where the
// system allows that: its preemption would be an interruption of this program's
// own.
//
//go:nosplit
func (l *spinLoop) Hot() {
	last := l.last
	for l.passes < l.count && last < l.end && !l.stop.Load() {
		now := clock.Now()
		d := int64(now - last)
		last = now
		l.passes++
		if d < l.min {
			l.min = d
		}
		if d > l.max {
			l.max = d
		}
		if d > l.threshold {
			l.interrupted(now, d)
		}
		l.beat.Watch(now)
	}
	l.last = last
}

//go:nosplit
func (l *spinLoop) interrupted(now clock.Instant, d int64) {
	l.held += d
	l.cut++
	slot := l.gaps.Slot()
	if slot == nil {
		l.dropped++
		return
	}
	*slot = gap{int64(now - l.began), d}
	l.gaps.Commit()
}

// start sets the loop to now, for a quota.
func (l *spinLoop) start(q quota) {
	now := clock.Now()
	l.began, l.last, l.end, l.count = now, now, math.MaxInt64, math.MaxInt64
	l.passes, l.held, l.cut, l.dropped = 0, 0, 0, 0
	l.min, l.max = math.MaxInt64, 0
	if q.time > 0 {
		l.end = now.Add(q.time)
	}
	if q.count > 0 {
		l.count = q.count
	}
	l.beat.Begin(now)
}

// threshold tells a pass from an interruption: at least a microsecond, and ten
// passes where the clock is slow.
func threshold(pass int64) int64 { return max(int64(time.Microsecond), 10*pass) }

func (r *run) loopCell(s *realtime.Session, q quota) SpinCell {
	r.cell("spin loop")
	defer func() { r.done++ }()
	l := &spinLoop{stop: &r.stop, gaps: ring.New[gap](1 << 16), threshold: math.MaxInt64}
	stopBeat := l.beat.Start()
	defer stopBeat()
	h := newGaps()
	used := r.onThread(s, func() {
		l.start(quota{count: 10000})
		wait.Outside(l)
		l.threshold = threshold(l.min)
		l.start(q)
		wait.Outside(l)
	}, func() {
		for g := l.gaps.Peek(); g != nil; g = l.gaps.Peek() {
			h.add(g.Length, g.At)
			l.gaps.Advance()
		}
	})
	cell := SpinCell{Load: r.load, Form: formLoop, Granted: r.granted}
	if gave := l.beat.GaveWay(); gave > 0 {
		r.warn("the spin loop slept %s to let the machine run, which had stood still for half a second: so many interruptions are its own", counted(gave, "time"))
	}
	elapsed := int64(l.last - l.began)
	if l.passes < leastTicks || elapsed <= 0 {
		cell.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(l.passes, "pass"), leastTicks)
		return cell
	}
	cell.Figures = &SpinFigures{
		Passes: l.passes, ElapsedNS: elapsed, MinNS: l.min, MaxNS: l.max, MeanNS: round1(float64(elapsed) / float64(l.passes)),
		ThresholdNS: l.threshold, Interruptions: h.dist.Dist(), Rows: h.rows(), Dropped: l.dropped,
		Share: new(float64(l.held) / float64(elapsed)), Counters: used,
	}
	if n := h.atLeast(throttled); r.realtime && onceASecond(n, elapsed) {
		r.find("once-a-second", "under load %q the loop was held up %d times in %s for %s and more: systems keep a part of each second from real-time threads for the ordinary ones (Linux 5 %%: sched_rt_runtime_us, or a deadline server)",
			r.load, n, report.Span(float64(elapsed)), report.Span(float64(throttled)))
	}
	if l.dropped > 0 {
		r.warn("%d of %d interruptions are missing in the spin loop's histogram: they came too fast", l.dropped, l.cut)
	}
	return cell
}

// onceASecond tells whether that many interruptions in so many ns are as many
// as a limit that the system keeps every second would make.
func onceASecond(n, elapsed int64) bool {
	seconds := float64(elapsed) / 1e9
	return seconds >= 3 && float64(n) >= seconds/2 && float64(n) <= 2*seconds
}

// periodicCell is the second form.
func (r *run) periodicCell(s *realtime.Session, q quota, port serialport.Port) SpinCell {
	r.cell("periodic thread")
	defer func() { r.done++ }()
	kind := wait.Default()
	if len(r.o.Timers) > 0 {
		kind = r.o.Timers[0]
	}
	cell := SpinCell{Load: r.load, Form: formPeriodic, Call: kind.Call(), With: "a pipe"}
	out, closeOut, err := r.outlet(port)
	if err != nil {
		cell.Why = err.Error()
		return cell
	}
	defer closeOut()
	if port != nil {
		cell.With = port.Info().Name
	}
	p := newPeriodic()
	result, used, err := r.stream(s, pace.Config{Period: spinPeriod, Kind: kind, Count: q.ticks(), Duration: q.time}, out, pace.NewRing(1<<16), p.record)
	cell.Granted, cell.Call = r.granted, result.Call
	switch {
	case err != nil:
		cell.Why = err.Error()
	case p.interval.Count() < leastTicks:
		cell.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(result.Sent, "tick"), leastTicks+1)
	default:
		cell.Figures = p.figures(result, used)
	}
	return cell
}

// outlet is what the periodic thread writes to: the port, else a pipe that
// somebody empties.
func (r *run) outlet(port serialport.Port) (pace.Port, func(), error) {
	if port != nil {
		return outlet{port}, func() {}, nil
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	go io.Copy(io.Discard, in)
	return pipe{out}, func() { out.Close(); in.Close() }, nil
}

type pipe struct{ f *os.File }

func (p pipe) Write(b []byte) (int, error) { return p.f.Write(b) }
func (p pipe) Fd() (uintptr, bool)         { return p.f.Fd(), true }

// openPort opens the port that was named, nil when none was.
func (r *run) openPort() (serialport.Port, error) {
	if r.o.Port == "" {
		return nil, nil
	}
	var port serialport.Port
	var err error
	if r.o.Loopback && serialport.IsCable(r.o.Port) {
		port, err = serialport.OpenLoopback(r.o.Line)
	} else {
		port, err = serialport.OpenContext(r.ctx, r.o.Port, r.o.Line)
	}
	if err != nil {
		if r.ctx.Err() != nil {
			err = errors.Join(err, context.Cause(r.ctx))
		}
		return nil, err
	}
	i := port.Info()
	r.report.Port = &PortInfo{i.Name, i.Driver, i.Virtual, i.Baud, i.Line, r.o.Loopback}
	if i.Virtual {
		r.warn("%s is virtual: it has no UART and no line speed, so figures with it are those of this machine's software alone", i.Name)
	}
	return port, nil
}

// periodic takes the records of the second form. The first tick only begins the
// first interval: its lateness, its write and what it missed are in no figure,
// since no interval before it could show what held it up.
type periodic struct {
	interval, write results.Histogram
	late            *gaps
	start           start
	first, last     clock.Instant
}

func newPeriodic() *periodic { return &periodic{late: newGaps()} }

func (p *periodic) record(rec *pace.Record) {
	if p.start.take(rec, spinPeriod); rec.Seq == 0 {
		p.first, p.last = rec.Woke, rec.Woke
		return
	}
	if p.first == 0 { // the first records were dropped
		p.first = rec.Woke
	} else {
		p.interval.Record(int64(rec.Woke.Sub(p.last)), int64(rec.Woke-p.first), false)
	}
	p.last = rec.Woke
	at := int64(rec.Woke - p.first)
	p.write.Record(int64(rec.Wrote.Sub(rec.Woke)), at, false)
	if late := int64(rec.Woke.Sub(rec.Due)); late > int64(time.Microsecond) {
		p.late.add(late, at)
	}
}

func (p *periodic) figures(result pace.Result, used results.Counters) *SpinFigures {
	high, _ := p.interval.Max()
	elapsed := int64(p.last - p.first)
	missed := p.start.behind(result.Missed)
	return &SpinFigures{
		Passes: p.interval.Count(), ElapsedNS: elapsed,
		MinNS: p.interval.Min(), MeanNS: round1(p.interval.Mean()), MaxNS: high,
		ThresholdNS: int64(time.Microsecond), Late: p.late.dist.Dist(), Rows: p.late.rows(),
		Dropped: result.RecordsDropped, Missed: &missed,
		Write: p.write.Dist(), Counters: used,
	}
}

// gaps are interruptions, or the lateness of ticks: their distribution, and
// their histogram in rows of the series 1, 2, 5.
type gaps struct {
	dist  results.Histogram
	count map[int64]int64 // by a row's lower edge
}

func newGaps() *gaps { return &gaps{count: map[int64]int64{}} }

func (g *gaps) add(length, at int64) {
	g.dist.Record(length, at, false)
	edge := int64(1)
	for next := after125(edge); next <= length; next = after125(edge) {
		edge = next
	}
	g.count[edge]++
}

// atLeast counts the interruptions from a length up.
func (g *gaps) atLeast(length int64) (n int64) {
	for edge, count := range g.count {
		if edge >= length {
			n += count
		}
	}
	return n
}

// rows gives the histogram, ascending, with the empty rows between.
func (g *gaps) rows() []SpinRow {
	rows := []SpinRow{}
	if g.dist.Count() == 0 {
		return rows
	}
	left := g.dist.Count()
	for edge := int64(1); left > 0; edge = after125(edge) {
		n := g.count[edge]
		if n > 0 || len(rows) > 0 {
			rows = append(rows, SpinRow{edge, after125(edge), n})
		}
		left -= n
	}
	return rows
}
