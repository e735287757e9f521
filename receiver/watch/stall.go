package watch

import (
	"sync"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/ring"
	"serialtiming/internal/wait"
)

// watchPeriod is how often a watching thread wakes: two of them take well
// under 1 % of a processor, and no stall of that length passes between.
const watchPeriod = 4 * time.Millisecond

// Stall is a time in which this machine was held up.
type Stall struct{ From, To clock.Instant }

// Overlaps says whether a stall touches the time from one instant to another.
func (s Stall) Overlaps(from, to clock.Instant) bool { return s.From < to && s.To > from }

// Threads is how many threads a Watch locks.
const Threads = 2

// Watch notices when the receiver itself is held up: threads of the capture's
// own priority that wake on a schedule of their own and see when they are
// late, and, where the system counts it, the capture thread's wait for a
// processor.
type Watch struct {
	limit  time.Duration
	rings  [Threads]*ring.Ring[Stall]
	stop   atomic.Bool
	done   sync.WaitGroup
	thread *realtime.Observed

	lastDelay time.Duration
	lastLook  clock.Instant
}

// Start starts watching. thread is the capture's; limit is the shortest delay
// that counts as a stall.
func Start(rt *realtime.Session, thread *realtime.Observed, limit time.Duration) *Watch {
	w := &Watch{limit: limit, thread: thread, lastLook: clock.Now()}
	w.lastDelay, _ = thread.RunDelay()
	for i := range w.rings {
		w.rings[i] = ring.New[Stall](1 << 12)
		w.done.Add(1)
		go w.watch(rt, w.rings[i], time.Duration(i)*watchPeriod/Threads)
	}
	return w
}

// watch is one watching thread; offset keeps them from waking together.
func (w *Watch) watch(rt *realtime.Session, into *ring.Ring[Stall], offset time.Duration) {
	defer w.done.Done()
	rt.LockThread()
	due := clock.Now().Add(watchPeriod + offset)
	waiter, err := wait.New(wait.Config{Kind: wait.Absolute, Period: watchPeriod, Start: due})
	if err != nil {
		return
	}
	defer waiter.Close()
	for !w.stop.Load() {
		now := clock.Now()
		for now < due {
			now = waiter.Until(now, due)
		}
		if now.Sub(due) > w.limit {
			// It may have begun any time since the last look.
			record(into, Stall{due.Add(-watchPeriod), now})
		}
		for due <= now {
			due = due.Add(watchPeriod)
		}
	}
}

func record(into *ring.Ring[Stall], s Stall) {
	if slot := into.Slot(); slot != nil {
		*slot = s
		into.Commit()
		return
	}
	into.Drop(1)
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
		if d-w.lastDelay > w.limit {
			stalls = append(stalls, Stall{w.lastLook, now})
		}
		w.lastDelay = d
	}
	w.lastLook = now
	return stalls
}

// Stop ends the watching threads.
func (w *Watch) Stop() {
	w.stop.Store(true)
	w.done.Wait()
}
