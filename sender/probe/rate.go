package probe

import (
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/protocol"
	"serialtiming/receiver/capture"
	"serialtiming/results"
	"serialtiming/sender/pace"
)

// rates looks for the highest rate without a missed period or a lost
// character: of the timer alone, and where a port is given of timer and port.
func (r *run) rates() error {
	port, err := r.openPort()
	if err != nil {
		return err
	}
	if port != nil {
		defer port.Close()
	}
	kind := wait.Default()
	if len(r.o.Timers) > 0 {
		kind = r.o.Timers[0]
	}
	ports := []serialport.Port{nil}
	if port != nil {
		ports = append(ports, port)
	}
	r.cells = len(ports) * len(r.o.Priorities) * len(r.o.Loads)
	q := r.o.share(r.cells).cut(rateUnits)
	q.time = min(q.time, rateStep)
	if q.count == 0 && q.time < rateStep {
		r.warn("searched in steps of %v, not %v, and confirmed for %v, not %v: what happens less often than that is not seen",
			q.time.Round(time.Millisecond), rateStep, (rateConfirm * q.time).Round(time.Millisecond), rateConfirm*rateStep)
	}
	return r.eachLoad(func() error {
		return r.eachPriority(2, r.o.CPU, func(s *realtime.Session, priority string) error {
			for _, p := range ports {
				if r.over() {
					return nil
				}
				cell := r.rateCell(s, kind, p, q)
				cell.Priority = priority
				r.report.Rate = append(r.report.Rate, cell)
				r.done++
			}
			return nil
		})
	})
}

// cut divides a share again.
func (q quota) cut(n int) quota {
	if q.count > 0 {
		return quota{count: max(q.count/int64(n), leastTicks)}
	}
	return quota{time: q.time / time.Duration(n)}
}

func (r *run) rateCell(s *realtime.Session, kind wait.Kind, port serialport.Port, q quota) RateCell {
	cell := RateCell{
		Load: r.load, What: "timer", Timer: string(kind), Call: kind.Call(), Attempts: []Attempt{},
		Claims: "no missed period",
	}
	switch {
	case !kind.KeepsGrid():
		cell.Why = "this timer keeps no grid, so it misses nothing: it has no highest rate"
		return cell
	case kind == wait.Spin && r.report.Machine.Processors == 1 && !r.o.Force:
		cell.Why = onlyProcessor
		return cell
	}
	most := r.claims(&cell, port)
	var used results.Counters
	found := search(most, func(step string, rate float64) Attempt {
		r.cell("%s: %s at %.0f Hz", cell.What, step, rate)
		n := q
		if step == stepConfirm {
			n = quota{q.time * rateConfirm, q.count * rateConfirm}
		}
		a, call, c := r.attempt(s, kind, port, rate, n)
		a.Step = step
		if call != "" {
			cell.Call = call
		}
		used = addCounters(used, c)
		return a
	}, r.over)
	cell.Granted = r.granted
	cell.take(found)
	cell.Counters = &used
	if cell.ConfirmedHZ == nil && r.over() {
		cell.Why = "interrupted"
	}
	return cell
}

// claims says what a fault is in this cell, and gives the rate that cannot be
// surpassed.
func (r *run) claims(cell *RateCell, port serialport.Port) (most float64) {
	if port == nil {
		return rateMost
	}
	cell.What, cell.Claims = "timer and port", "no missed period, no failed write; a lost character would not be seen without --loopback"
	if r.o.Loopback {
		cell.Claims = "no missed period, no failed write, no lost or wrong character"
	}
	if r.o.LimitHZ <= 0 || port.Info().Virtual { // a cable has no line speed
		return rateMost
	}
	cell.LimitHZ = new(r.o.LimitHZ)
	return r.o.LimitHZ
}

// take books what a search found.
func (c *RateCell) take(s searched) {
	c.Attempts = append(c.Attempts, s.attempts...)
	rate := func(v float64) *float64 {
		if v == 0 {
			return nil
		}
		return new(attempted(v)) // as the attempt's own row has it
	}
	c.PassedHZ, c.FailedHZ, c.ConfirmedHZ = rate(s.passed), rate(s.failed), rate(s.confirmed)
	if s.confirmed > 0 {
		c.ConfirmedFor = new(int64(s.confirmedFor))
		return
	}
	c.Why = "no rate passed a step of the search"
	if s.passed > 0 {
		c.Why = "no rate passed the long run, backing off was not enough"
	}
}

// attempted is the rate of the whole nanoseconds that a rate is run with.
func attempted(rate float64) float64 { return round1(1e9 / float64(periodOf(rate))) }

// attempt runs one rate.
func (r *run) attempt(s *realtime.Session, kind wait.Kind, port serialport.Port, rate float64, q quota) (Attempt, string, results.Counters) {
	period := periodOf(rate)
	a := Attempt{RateHZ: attempted(rate), PeriodNS: int64(period)}
	c := pace.Config{Period: period, Kind: kind, CatchUp: pace.Skip, Duration: q.time, Count: q.count}
	var out pace.Port
	var back *echo
	if port != nil {
		c.Payload = payload(r.place)
		port.Flush()
		out = outlet{port}
		if r.o.Loopback {
			back = r.listen(s, port)
		}
	}
	began := time.Now()
	result, used, err := r.stream(s, c, out, nil, nil)
	a.TookNS = int64(time.Since(began))
	a.Sent, a.Missed = result.Sent, result.Missed
	if port != nil {
		r.place = (r.place + result.Sent) % int64(protocol.Printable.Length)
	}
	if err != nil {
		a.Failed = err.Error()
	}
	if back != nil {
		lost, wrong := back.end(result.Sent)
		a.Lost, a.Wrong = &lost, &wrong
	}
	a.OK = err == nil && a.Missed == 0 && a.Sent > 0 && (a.Lost == nil || *a.Lost == 0 && *a.Wrong == 0)
	return a, result.Call, used
}

// payload is the cycle of the stream itself, from a place on: it goes on from
// attempt to attempt, so that a receiver beside the probe sees nothing lost.
func payload(from int64) []byte {
	b := make([]byte, protocol.Printable.Length)
	for i := range b {
		b[i] = protocol.Printable.Char(from + int64(i))
	}
	return b
}

// outlet writes to a port, also to one whose descriptors are two.
type outlet struct{ serialport.Port }

func (o outlet) Fd() (uintptr, bool) {
	_, w, ok := serialport.Fds(o.Port)
	return w, ok
}

// inlet reads from one.
type inlet struct{ serialport.Port }

func (i inlet) Fd() (uintptr, bool) {
	r, _, ok := serialport.Fds(i.Port)
	return r, ok
}

// echo hears what comes back.
type echo struct {
	ring     *capture.Ring
	reader   *capture.Reader
	stop     atomic.Bool
	done     chan struct{}
	ended    chan struct{}
	received atomic.Int64
	wrong    int64
	place    int64 // in the cycle, of the next character
}

// listen starts a second hot thread that captures.
func (r *run) listen(s *realtime.Session, port serialport.Port) *echo {
	e := &echo{place: r.place, ring: capture.NewRing(0), done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(e.ended)
		s.LockThread()
		capture.Run(capture.Config{Port: inlet{port}, Ring: e.ring, Stop: &e.stop})
	}()
	go e.follow()
	return e
}

// follow reads the events; it is the ring's only consumer.
func (e *echo) follow() {
	defer close(e.done)
	e.reader = capture.NewReader(e.ring)
	for {
		over := false
		select {
		case <-e.ended:
			over = true
		case <-time.After(pollEvery):
		}
		e.read()
		if over {
			return
		}
	}
}

func (e *echo) read() {
	for {
		ev, ok := e.reader.Next()
		if !ok {
			return
		}
		// What a full ring lost had come: it is not the line's fault.
		e.place = (e.place + ev.Lost) % int64(protocol.Printable.Length)
		for _, b := range ev.Bytes {
			e.take(b)
		}
		e.received.Add(int64(len(ev.Bytes)) + ev.Lost)
	}
}

// take checks a character against the cycle; behind a wrong one the cycle goes
// on from there.
func (e *echo) take(b byte) {
	c := protocol.Printable
	if b != c.Char(e.place) {
		e.wrong++
		if at := int64(b) - int64(c.First); at >= 0 && at < int64(c.Length) {
			e.place = at
		}
	}
	e.place = (e.place + 1) % int64(c.Length)
}

// end waits until all that was sent has come, or nothing comes any more, and
// gives what is missing and how often the order was broken.
func (e *echo) end(sent int64) (lost, wrong int64) {
	const quiet = 300 * time.Millisecond
	before, since := int64(-1), clock.Now()
	for e.received.Load() < sent && clock.Now().Sub(since) < quiet {
		if n := e.received.Load(); n != before {
			before, since = n, clock.Now()
		}
		time.Sleep(pollEvery)
	}
	e.stop.Store(true)
	<-e.done
	return sent - e.received.Load(), e.wrong
}

// addCounters sums the counters of a cell's attempts.
func addCounters(a, b results.Counters) results.Counters {
	add := func(x, y *int64) *int64 {
		if x == nil || y == nil {
			return y
		}
		return new(*x + *y)
	}
	if a.Side == "" {
		return b
	}
	return results.Counters{
		Side: b.Side, GC: add(a.GC, b.GC), PageFaults: add(a.PageFaults, b.PageFaults),
		InvoluntarySwitches: add(a.InvoluntarySwitches, b.InvoluntarySwitches),
	}
}
