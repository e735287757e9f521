package watch

import (
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
)

// warmPeriod is how often the warm-up wakes or writes: no whole part of a tick
// of the kernel, or its interrupt would fall into each fourth sample, or none.
const warmPeriod = 1013 * time.Microsecond

// warm is the warm-up's loop: at each due instant it notes how late it woke,
// or puts a character and notes when. It is a hot loop as the capture's is.
type warm struct {
	waiter *wait.Waiter
	due    clock.Instant
	end    clock.Instant
	period clock.Instant
	stop   *atomic.Bool
	woke   clock.Instant

	puts bool
	fd   wait.FD
	char byte

	got []int64 // latencies, or instants of the writes
	n   int
}

func newWarm(period, d time.Duration, stop *atomic.Bool) (*warm, error) {
	start := clock.Now().Add(period)
	waiter, err := wait.New(wait.Config{Kind: wait.Absolute, Period: period, Start: start})
	return &warm{
		waiter: waiter, due: start, end: start.Add(d), period: clock.Instant(period), stop: stop,
		char: 'U', got: make([]int64, d/period+1),
	}, err
}

// Hot is the loop.
//
//go:nosplit
func (w *warm) Hot() {
	for w.next() {
		if !w.puts {
			w.got[w.n] = int64(w.woke - w.due)
			w.n++
		} else if at := clock.Now(); w.put() {
			w.got[w.n] = int64(at)
			w.n++
		}
		w.due += w.period
	}
}

//go:nosplit
func (w *warm) put() bool {
	n, _ := w.fd.Put(&w.char)
	return n == 1
}

// next waits for the next due instant that no stall has eaten; false at the end.
//
//go:nosplit
func (w *warm) next() bool {
	for ; w.due < w.end && w.n < len(w.got) && !w.stop.Load(); w.due += w.period {
		now := clock.Now()
		if now > w.due {
			continue
		}
		for now < w.due {
			now = w.waiter.Until(now, w.due)
		}
		w.woke = now
		return true
	}
	return false
}

// write is the loop for ports without a descriptor.
func (w *warm) write(port serialport.Port) {
	for w.next() {
		at := clock.Now()
		if n, err := port.Write([]byte{w.char}); n != 1 || err != nil {
			return
		}
		w.got[w.n] = int64(at)
		w.n++
		w.due += w.period
	}
}
