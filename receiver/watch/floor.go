// Package watch is what the receiver knows of its own delays: the floor,
// measured before a capture on the very thread that will stamp, and the stalls
// while it runs.
package watch

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/receiver/capture"
)

// warmPeriod is how often the warm-up wakes or writes.
const warmPeriod = time.Millisecond

// Floor is what the receiver found out about itself.
//
// An interval is the difference of two stamps, each late by its own latency;
// what two latencies in a row differ by cannot be seen. NS is the p99 of that
// difference. It is measured on the machine as it was: a load that comes later
// shows as stalls.
type Floor struct {
	By        string        // what was measured, in words
	Samples   int           // of differences
	NS        int64         // p99 of the difference of two latencies in a row; valid if Known
	Known     bool          // false below 500 samples
	P50, P99  int64         // ns: of the latency itself
	ClockStep time.Duration // smallest step of the clock
	ClockCost time.Duration // of one reading
}

// Wake measures how late the calling thread wakes from an absolute sleep, for
// that long or until stop.
func Wake(d time.Duration, stop *atomic.Bool) (Floor, error) {
	f := Floor{By: "wake-up from a timer"}
	f.clock()
	start := clock.Now().Add(warmPeriod)
	w, err := wait.New(wait.Config{Kind: wait.Absolute, Period: warmPeriod, Start: start})
	if err != nil {
		return f, err
	}
	defer w.Close()
	latency := make([]int64, 0, d/warmPeriod+1)
	for due := start; due.Sub(start) < d && !stop.Load(); due = due.Add(warmPeriod) {
		now := clock.Now()
		if now > due {
			continue // a stall has eaten this one
		}
		for now < due {
			now = w.Until(now, due)
		}
		latency = append(latency, int64(now.Sub(due)))
	}
	f.judge(latency)
	return f, nil
}

// Cable measures the way from a write to the stamp on a pseudo-terminal of its
// own, with the capture's own loop on the calling thread, for that long or
// until stop.
func Cable(c serialport.Config, d time.Duration, stop *atomic.Bool) (Floor, error) {
	f := Floor{By: "write to stamp on a pseudo-terminal"}
	f.clock()
	port, err := serialport.OpenLoopback(c)
	if err != nil {
		return f, err
	}
	defer port.Close()
	ring := capture.NewRing(int(d/warmPeriod) + 64)
	var end atomic.Bool
	wrote := make(chan []clock.Instant, 1)
	go func() { wrote <- write(port, d, stop, &end) }()
	fd, _, ok := serialport.Fds(port)
	_, err = capture.Run(capture.Config{Port: end1{port, fd, ok}, Ring: ring, Stop: &end})
	at := <-wrote
	if err != nil {
		return f, fmt.Errorf("the warm-up's own line failed: %w", err)
	}
	f.judge(pair(at, capture.NewReader(ring)))
	return f, nil
}

// end1 is the reading side of a loopback.
type end1 struct {
	serialport.Port
	fd uintptr
	ok bool
}

func (e end1) Fd() (uintptr, bool) { return e.fd, e.ok }

// write writes a character every warmPeriod and gives the instants at which
// the writes began; end is set some time after the last.
func write(port serialport.Port, d time.Duration, stop, end *atomic.Bool) []clock.Instant {
	defer end.Store(true)
	at := make([]clock.Instant, 0, d/warmPeriod+1)
	tick := time.NewTicker(warmPeriod)
	defer tick.Stop()
	for started := time.Now(); time.Since(started) < d && !stop.Load(); <-tick.C {
		at = append(at, clock.Now())
		if _, err := port.Write([]byte{'U'}); err != nil {
			break
		}
	}
	time.Sleep(20 * time.Millisecond)
	return at
}

// pair gives the latency of every event: its stamp less the instant of the
// write of its last character. A line that loses nothing needs no more.
func pair(at []clock.Instant, r *capture.Reader) []int64 {
	latency, n := make([]int64, 0, len(at)), 0
	for ev, ok := r.Next(); ok; ev, ok = r.Next() {
		n += len(ev.Bytes)
		if n > len(at) {
			break
		}
		latency = append(latency, int64(ev.Arrived.Sub(at[n-1])))
	}
	return latency
}

// clock measures the clock itself.
func (f *Floor) clock() {
	f.ClockStep = clock.Step()
	const readings = 1000
	start := clock.Now()
	last := start
	for range readings {
		last = clock.Now()
	}
	f.ClockCost = last.Sub(start) / readings
}

// judge turns latencies, in their order, into the floor.
func (f *Floor) judge(latency []int64) {
	if len(latency) < 2 {
		return
	}
	differences := make([]int64, 0, len(latency))
	for i := 1; i < len(latency); i++ {
		d := latency[i] - latency[i-1]
		differences = append(differences, max(d, -d))
	}
	slices.Sort(differences)
	slices.Sort(latency)
	f.Samples = len(differences)
	f.P50, f.P99 = rank(latency, .5), rank(latency, .99)
	f.NS = max(rank(differences, .99), int64(f.ClockStep))
	f.Known = len(differences)-int(.99*float64(len(differences))) >= 5
}

// rank is the nearest-rank percentile of sorted values.
func rank(sorted []int64, q float64) int64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
