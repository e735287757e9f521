package main

import (
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/receiver/capture"
	"serialtiming/receiver/watch"
	"serialtiming/results"
)

// thread is the one that stamps. The warm-up runs on it, then the capture.
type thread struct {
	jobs     chan func()
	done     chan bool
	grants   []realtime.Grant
	observed *realtime.Observed
	begun    bool
	ended    chan bool // closed when the capture has ended; err is then known
	err      error
}

// startThread makes the thread and asks for real time on it.
func startThread(rt *realtime.Session) *thread {
	t := &thread{jobs: make(chan func()), done: make(chan bool), ended: make(chan bool)}
	go func() {
		for job := range t.jobs {
			job()
			t.done <- true
		}
	}()
	t.do(func() {
		t.grants = rt.LockThread()
		t.observed = realtime.Observe()
	})
	return t
}

// do runs a function on the thread and waits for it.
func (t *thread) do(f func()) {
	t.jobs <- f
	<-t.done
}

// begin starts the capture and comes back.
func (t *thread) begin(c capture.Config) {
	t.begun = true
	t.jobs <- func() {
		_, t.err = capture.Run(c)
		close(t.ended)
	}
}

// close ends the thread; a capture has to have been stopped.
func (t *thread) close() {
	if t.begun {
		<-t.done
		t.begun = false
	}
	close(t.jobs)
	t.observed.Close()
}

// counted is what the system did to the thread so far.
type counted struct {
	realtime.Counters
	known bool
}

// usage takes the thread's own counters, where the system has none the
// process's.
func (t *thread) usage() counted {
	c, ok := t.observed.Usage()
	if !ok {
		c, ok = realtime.Usage()
	}
	return counted{c, ok}
}

// held are the arrivals that wait for one more look at the stalls.
type held struct {
	now, next []arrival
	stalls    []watch.Stall
	last      clock.Instant
	bytes     [2][]byte // what the arrivals' bytes lie in, in turn
}

type arrival struct {
	results.Event
	at   clock.Instant
	lost int64
}

func (h *held) empty() bool { return len(h.next) == 0 }

// take gives what was held, marked where a stall touches the time since the
// arrival before, and holds what has come since.
func (h *held) take(r *capture.Reader, stalls []watch.Stall, zero clock.Instant) []arrival {
	h.now, h.next = h.next, h.now[:0]
	h.bytes[0], h.bytes[1] = h.bytes[1], h.bytes[0][:0]
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		from := len(h.bytes[1])
		h.bytes[1] = append(h.bytes[1], e.Bytes...)
		h.next = append(h.next, arrival{
			Event: results.Event{At: int64(e.Arrived.Sub(zero)), Bytes: h.bytes[1][from:len(h.bytes[1]):len(h.bytes[1])], Stale: e.Waiting},
			at:    e.Arrived, lost: e.Lost,
		})
	}
	h.stalls = append(h.stalls, stalls...)
	for i := range h.now {
		a := &h.now[i]
		if h.last != 0 && h.stalled(h.last, a.at) {
			a.Flags |= results.Disturbed
		}
		h.last = a.at
	}
	h.forget()
	return h.now
}

func (h *held) stalled(from, to clock.Instant) bool {
	for _, s := range h.stalls {
		if s.Overlaps(from, to) {
			return true
		}
	}
	return false
}

// forget drops the stalls that no coming arrival can touch.
func (h *held) forget() {
	keep := h.stalls[:0]
	for _, s := range h.stalls {
		if s.To > h.last {
			keep = append(keep, s)
		}
	}
	h.stalls = keep
}
