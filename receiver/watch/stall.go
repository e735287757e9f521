package watch

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/ring"
	"serialtiming/internal/wait"
)

// watchPeriods is how often each watching thread wakes. No stall of the
// capture's processor that is as long as the first passes unseen; the second is
// for what holds up all of them. Both together take 0.6 % of a processor.
var watchPeriods = [Threads]time.Duration{4 * time.Millisecond, 8 * time.Millisecond}

// Stall is a time in which this machine was held up.
type Stall struct{ From, To clock.Instant }

// Overlaps says whether a stall touches the time from one instant to another.
func (s Stall) Overlaps(from, to clock.Instant) bool { return s.From < to && s.To > from }

// Threads is how many threads a Watch locks.
const Threads = 2

// Watch notices when the receiver itself is held up: threads of the capture's
// own priority that wake on a schedule of their own and see when they are
// late, one on the capture's processor and one on the others for stalls of the
// whole machine; and, where the system counts it, the capture thread's wait
// for a processor.
type Watch struct {
	limit  atomic.Int64 // ns
	rings  [Threads]*ring.Ring[Stall]
	places [Threads]*realtime.Placed
	stop   atomic.Bool
	done   sync.WaitGroup
	used   atomic.Int64 // ns
	thread *realtime.Observed

	cpu       int           // the capture's, -1 not known
	placedAt  clock.Instant // last look at it
	lastDelay time.Duration
	lastLook  clock.Instant
}

// follow is how often the watching threads follow a capture that the system
// moves to another processor.
const follow = time.Second

// Start starts watching. thread is the capture's; limit is the shortest delay
// that counts as a stall, until Limit says another.
func Start(rt *realtime.Session, thread *realtime.Observed, limit time.Duration) *Watch {
	w := &Watch{thread: thread, lastLook: clock.Now(), cpu: -1}
	w.Limit(limit)
	w.lastDelay, _ = thread.RunDelay()
	for i := range w.rings {
		w.rings[i] = ring.New[Stall](1 << 12)
		w.done.Add(1)
		place := make(chan *realtime.Placed)
		go w.watch(rt, i, place)
		w.places[i] = <-place
	}
	return w
}

// Limit says from now on how long a delay has to be to count as a stall.
func (w *Watch) Limit(limit time.Duration) { w.limit.Store(int64(limit)) }

// Place puts the threads on the capture's processor and on the others, and
// says what was granted.
func (w *Watch) Place() realtime.Grant {
	g := realtime.Grant{Item: "stall watch", Asked: "the capture's processor and another", Got: "any processors"}
	cpu, ok := w.thread.CPU()
	if !ok {
		g.Why = "this system does not tell or does not let choose"
		return g
	}
	w.cpu = cpu
	same, err := w.places[0].On(cpu)
	other, errOther := w.places[1].Off(cpu)
	g.Got = fmt.Sprintf("processors %s and %s", same, other)
	switch {
	case errors.Is(errOther, errors.ErrUnsupported):
		g.Got = "processor " + same
		g.Why = "there is no other: a stall of the whole machine is no other than one of the processor"
	case err != nil || errOther != nil:
		g.Why = errors.Join(err, errOther).Error()
	}
	return g
}

// refollow places the threads anew when the capture has moved.
func (w *Watch) refollow(now clock.Instant) {
	if w.cpu < 0 || now.Sub(w.placedAt) < follow {
		return
	}
	w.placedAt = now
	if cpu, ok := w.thread.CPU(); ok && cpu != w.cpu {
		w.Place()
	}
}

// watch is one watching thread; they do not wake together.
func (w *Watch) watch(rt *realtime.Session, i int, place chan<- *realtime.Placed) {
	defer w.done.Done()
	rt.LockThread()
	place <- realtime.PlaceThread()
	period := watchPeriods[i]
	due := clock.Now().Add(period + time.Duration(i)*watchPeriods[0]/Threads)
	waiter, err := wait.New(wait.Config{Kind: wait.Absolute, Period: period, Start: due})
	if err != nil {
		return
	}
	defer waiter.Close()
	before, _ := realtime.ThreadUsage()
	wait.Outside(&watcher{waiter: waiter, due: due, period: clock.Instant(period), limit: &w.limit, into: w.rings[i], stop: &w.stop})
	if after, ok := realtime.ThreadUsage(); ok {
		w.used.Add(int64(after.Sub(before).CPU))
	}
}

// Used is what both threads took of a processor, to be asked after Stop; 0
// where the system does not tell.
func (w *Watch) Used() time.Duration { return time.Duration(w.used.Load()) }

// watcher is the loop of a watching thread: hot, so that it asks nothing of
// the Go scheduler.
type watcher struct {
	waiter *wait.Waiter
	due    clock.Instant
	period clock.Instant
	limit  *atomic.Int64
	into   *ring.Ring[Stall]
	stop   *atomic.Bool
}

// Hot is the loop.
//
//go:nosplit
func (l *watcher) Hot() {
	for !l.stop.Load() {
		now := clock.Now()
		for now < l.due {
			now = l.waiter.Until(now, l.due)
		}
		if int64(now-l.due) > l.limit.Load() {
			// It may have begun any time since the last look.
			l.record(l.due-l.period, now)
		}
		for l.due <= now {
			l.due += l.period
		}
	}
}

//go:nosplit
func (l *watcher) record(from, to clock.Instant) {
	if slot := l.into.Slot(); slot != nil {
		slot.From, slot.To = from, to
		l.into.Commit()
		return
	}
	l.into.Drop(1)
}

// Stalls gives those noticed since the last call, in no order.
func (w *Watch) Stalls() (stalls []Stall) {
	for _, r := range w.rings {
		for s := r.Peek(); s != nil; s = r.Peek() {
			stalls = append(stalls, *s)
			r.Advance()
		}
	}
	now := clock.Now()
	if d, ok := w.thread.RunDelay(); ok {
		// When within this look it waited is not known.
		if int64(d-w.lastDelay) > w.limit.Load() {
			stalls = append(stalls, Stall{w.lastLook, now})
		}
		w.lastDelay = d
	}
	w.lastLook = now
	w.refollow(now)
	return stalls
}

// Stop ends the watching threads; it may be called twice.
func (w *Watch) Stop() {
	w.stop.Store(true)
	w.done.Wait()
}
