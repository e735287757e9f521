package probe

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/ring"
	"serialtiming/internal/wait"
	"serialtiming/results"
	"serialtiming/sender/probe/system"
)

const (
	formWake   = "wake"
	formSwitch = "switch"
	wakePause  = time.Millisecond // between two wake-ups: the sleeper sleeps by then
)

// place is where the two threads run.
type place struct {
	name string // one, two, any
	cpus [2]int
}

// places are what this system allows. CPU is the user's wish for the first.
func places(cpus []int, wish int) []place {
	switch {
	case len(cpus) == 0:
		return []place{{"any", [2]int{-1, -1}}}
	case wish < 0:
		wish = cpus[len(cpus)-1] // the first one has the most interrupts
	}
	list := []place{{"one", [2]int{wish, wish}}}
	for i := len(cpus) - 1; i >= 0; i-- {
		if cpus[i] != wish {
			return append(list, place{"two", [2]int{wish, cpus[i]}})
		}
	}
	return list
}

// wakes is seed 004's surprise: the time from the post of a semaphore until
// the thread that it wakes runs, and a context switch.
func (r *run) wakes() error {
	where := places(system.CPUs(), r.o.CPU)
	r.cells = 2 * len(where) * len(r.o.Priorities) * len(r.o.Loads)
	q := r.o.share(r.cells)
	return r.eachLoad(func() error {
		for _, p := range r.o.Priorities {
			for _, w := range where {
				for _, form := range []string{formWake, formSwitch} {
					if r.over() {
						return nil
					}
					r.cell("%s, %s processor(s)", form, w.name)
					cell, err := r.wakeCell(form, p, w, q)
					if err != nil {
						return err
					}
					r.report.Wake = append(r.report.Wake, cell)
					r.done++
				}
			}
		}
		return nil
	})
}

// wakeCell prepares two sessions, one a processor, and lets the threads play.
func (r *run) wakeCell(form, priority string, w place, q quota) (cell WakeCell, err error) {
	cell = WakeCell{Load: r.load, Form: form, Processors: w.name, Call: system.SignalCall(), Priority: priority}
	p, err := newPair(form == formSwitch, q, &r.stop)
	if err != nil {
		cell.Why = err.Error()
		return cell, nil
	}
	defer p.close()
	var h results.Histogram
	var used results.Counters
	defer func() { r.thread = "" }()
	err = r.prepared(priority, 2, w.cpus[0], func(first *realtime.Session) error {
		return r.prepared(priority, 2, w.cpus[1], func(second *realtime.Session) error {
			slept := make(chan []realtime.Grant, 1)
			go func() {
				grants := second.LockThread()
				wait.Outside((*sleeper)(p))
				slept <- grants
			}()
			r.thread = "waking"
			used = r.onThread(first, p.waker, func() { p.drain(&h) })
			r.thread = "woken"
			r.take(<-slept)
			p.drain(&h)
			return nil
		})
	})
	cell.Granted = r.granted
	switch {
	case err != nil:
		return cell, err
	case p.failed != nil:
		cell.Why = p.failed.Error()
	case h.Count() < leastTicks:
		cell.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(h.Count(), "wake-up"), leastTicks)
	default:
		cell.Latency, cell.Dropped, cell.Counters = h.Dist(), p.ring.Dropped(), &used
	}
	return cell, nil
}

// pair is two threads and the signals between them.
type pair struct {
	pingPong   bool
	quota      quota
	stop       *atomic.Bool
	ping, pong *system.Signal
	ring       *ring.Ring[gap]
	quit       atomic.Bool
	failed     error

	woken atomic.Int64 // the instant at which the waker signalled; 0: taken
	began clock.Instant
	end   clock.Instant
	count int64
	waits *wait.Waiter
}

func newPair(pingPong bool, q quota, stop *atomic.Bool) (*pair, error) {
	p := &pair{pingPong: pingPong, quota: q, stop: stop, ring: ring.New[gap](1 << 16)}
	var err error
	if p.ping, err = system.NewSignal(); err != nil {
		return nil, err
	}
	if p.pong, err = system.NewSignal(); err != nil {
		p.ping.Close()
		return nil, err
	}
	return p, nil
}

func (p *pair) close() {
	p.ping.Close()
	p.pong.Close()
}

// waker is the first thread: it wakes the other one until the quota is
// reached, then lets it go.
func (p *pair) waker() {
	p.count = p.quota.count
	if p.count == 0 {
		p.count = math.MaxInt64
	}
	p.began = clock.Now()
	p.end = math.MaxInt64
	if p.quota.time > 0 {
		p.end = p.began.Add(p.quota.time)
	}
	if p.pingPong {
		wait.Outside((*trips)(p))
	} else if p.waits, p.failed = wait.New(wait.Config{Kind: wait.Absolute, Period: wakePause}); p.failed == nil {
		wait.Outside((*wakeUps)(p))
		p.waits.Close()
	}
	p.quit.Store(true)
	p.ping.Wake()
}

// The hot loops of a pair.
type (
	wakeUps pair
	trips   pair
	sleeper pair
)

// Hot wakes the sleeper once a pause, when it has taken the last wake-up.
//
//go:nosplit
func (p *wakeUps) Hot() {
	now := clock.Now()
	for n := int64(0); n < p.count && now < p.end && !p.stop.Load(); {
		due := now + clock.Instant(wakePause)
		for now < due {
			now = p.waits.Until(now, due)
		}
		if p.woken.Load() != 0 {
			continue // it has not come to it yet
		}
		n++
		now = clock.Now()
		p.woken.Store(int64(now))
		p.ping.Wake()
	}
	for p.woken.Load() != 0 && !p.stop.Load() { // the last one counts too
		due := now + clock.Instant(wakePause)
		now = p.waits.Until(now, due)
	}
}

// Hot sends the turn to the other thread and back: two switches.
//
//go:nosplit
func (p *trips) Hot() {
	now := clock.Now()
	for n := int64(0); n < p.count && now < p.end && !p.stop.Load(); n++ {
		began := clock.Now()
		p.ping.Wake()
		for !p.pong.Wait() {
			if p.stop.Load() {
				return
			}
		}
		now = clock.Now()
		(*pair)(p).put(now, int64(now-began)/2)
	}
}

// Hot is the second thread.
//
//go:nosplit
func (p *sleeper) Hot() {
	for !p.quit.Load() {
		if !p.ping.Wait() {
			continue
		}
		if p.pingPong {
			p.pong.Wake()
			continue
		}
		now := clock.Now()
		if at := p.woken.Load(); at != 0 {
			(*pair)(p).put(now, int64(now)-at)
			p.woken.Store(0)
		}
	}
}

// put is called from one thread only: the waker of a ping-pong, else the
// sleeper.
//
//go:nosplit
func (p *pair) put(now clock.Instant, length int64) {
	if slot := p.ring.Slot(); slot != nil {
		*slot = gap{int64(now - p.began), length}
		p.ring.Commit()
		return
	}
	p.ring.Drop(1)
}

func (p *pair) drain(h *results.Histogram) {
	for g := p.ring.Peek(); g != nil; g = p.ring.Peek() {
		h.Record(g.Length, g.At, false)
		p.ring.Advance()
	}
}
