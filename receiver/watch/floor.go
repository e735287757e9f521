// Package watch is what the receiver knows of its own delays: the floor,
// measured before a capture on the very thread that will stamp, and the stalls
// while it runs.
package watch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/receiver/capture"
)

// enough is how many differences a p99 needs: five above it.
const enough = 500

// Floor is what the receiver found out about itself.
//
// An interval is the difference of two stamps, each late by its own latency;
// what two latencies in a row differ by cannot be seen. NS is the p99 of that
// difference, at the upper end of what the samples leave open, and a step of the
// clock. It is measured on the machine as it was: a load that comes later
// shows as stalls.
type Floor struct {
	By       string // what was measured, in words
	Samples  int    // of differences
	NS       int64  // p99 of the difference of two latencies in a row; valid if Known
	Known    bool   // false below 500 samples
	P50, P99 int64  // ns: of the latency itself

	step time.Duration // the clock's smallest
}

// Wake measures how late the calling thread wakes from an absolute sleep, for
// that long or until stop.
func Wake(d time.Duration, stop *atomic.Bool) (Floor, error) {
	f := Floor{By: "wake-up from a timer"}
	f.step = clock.Step()
	w, err := newWarm(warmPeriod, d, stop)
	if err != nil {
		return f, err
	}
	defer w.waiter.Close()
	wait.Outside(w)
	f.judge(w.got[:w.n])
	return f, nil
}

// Cable measures the way from a write to the stamp on a pseudo-terminal of its
// own, with the capture's own loop on the calling thread, for that long or
// until stop.
func Cable(rt *realtime.Session, c serialport.Config, d time.Duration, stop *atomic.Bool) (Floor, error) {
	f := Floor{By: "write to stamp on a pseudo-terminal"}
	f.step = clock.Step()
	port, err := serialport.OpenLoopback(c)
	if err != nil {
		return f, err
	}
	defer port.Close()
	return f, f.throughPort(rt, port, warmPeriod, d, stop)
}

// Line measures the way from a write to the stamp through the port itself, its
// UART in loopback mode, with the capture's own loop on the calling thread.
// errors.ErrUnsupported where the UART has no such mode, does not give back
// what is written, or is too slow for 500 samples in that time.
func Line(rt *realtime.Session, port serialport.Port, char, d time.Duration, stop *atomic.Bool) (f Floor, err error) {
	f = Floor{By: "write to stamp on the port in loopback mode"}
	period := max(warmPeriod, loneChar(port.Info().TriggerBytes, char))
	if d/period <= enough {
		return f, fmt.Errorf("%w: too slow a line for %v of warm-up", errors.ErrUnsupported, d)
	}
	restore, err := serialport.Loop(port)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, restore(), port.Flush()) }()
	if !echoes(port, 10*period) {
		return f, fmt.Errorf("%w: nothing comes back in loopback mode", errors.ErrUnsupported)
	}
	f.step = clock.Step()
	return f, f.throughPort(rt, port, period, d, stop)
}

// loneChar is how far apart characters have to be for each to be handed on
// alone: the FIFO waits four character times below its trigger level.
func loneChar(trigger int, char time.Duration) time.Duration {
	if trigger == 1 {
		return 3 * char / 2
	}
	return 6 * char
}

// echoes says whether one character comes back, and takes it.
func echoes(port serialport.Port, within time.Duration) bool {
	if port.Flush() != nil {
		return false
	}
	if _, err := port.Write([]byte{'U'}); err != nil {
		return false
	}
	var b [1]byte
	for end := time.Now().Add(max(within, 100*time.Millisecond)); time.Now().Before(end); {
		if n, err := port.Read(b[:]); n == 1 || err != nil {
			return n == 1 && b[0] == 'U'
		}
	}
	return false
}

// throughPort writes into a port that gives everything back, and judges how
// late that was stamped.
func (f *Floor) throughPort(rt *realtime.Session, port serialport.Port, period, d time.Duration, stop *atomic.Bool) error {
	ring := capture.NewRing(int(d/period) + 64)
	var end atomic.Bool
	wrote := make(chan []int64, 1)
	go func() { wrote <- write(rt, port, period, d, stop, &end) }()
	fd, _, ok := serialport.Fds(port)
	_, err := capture.Run(capture.Config{Port: end1{port, fd, ok}, Ring: ring, Stop: &end})
	at := <-wrote
	if err != nil {
		return fmt.Errorf("the warm-up's own line failed: %w", err)
	}
	f.judge(pair(at, capture.NewReader(ring)))
	return nil
}

// end1 is the reading side of a loopback.
type end1 struct {
	serialport.Port
	fd uintptr
	ok bool
}

func (e end1) Fd() (uintptr, bool) { return e.fd, e.ok }

// write writes a character every period, on a thread as ready as the capture's
// so that its own delays are not taken for the receiver's, and gives the
// instants at which the writes began; end is set some time after the last.
func write(rt *realtime.Session, port serialport.Port, period, d time.Duration, stop, end *atomic.Bool) []int64 {
	defer end.Store(true)
	rt.LockThread()
	w, err := newWarm(period, d, stop)
	if err != nil {
		return nil
	}
	defer w.waiter.Close()
	if _, fd, ok := serialport.Fds(port); ok {
		w.fd, w.puts = wait.FD(fd), true
		wait.Outside(w)
	} else {
		w.write(port)
	}
	time.Sleep(20 * time.Millisecond)
	return w.got[:w.n]
}

// pair gives the latency of every character: its stamp less the instant of its
// write. Those that one read returned share the stamp: each but the last waited.
// A line that loses nothing needs no more.
func pair(at []int64, r *capture.Reader) []int64 {
	latency := make([]int64, 0, len(at))
	for ev, ok := r.Next(); ok; ev, ok = r.Next() {
		for range ev.Bytes {
			if n := len(latency); n < len(at) {
				latency = append(latency, int64(ev.Arrived)-at[n])
			}
		}
	}
	return latency
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
	f.NS = differences[upper(len(differences))] + int64(f.step)
	f.Known = len(differences) >= enough
}

// upper gives the place of the p99 of n sorted values at the upper end of its
// 95 % confidence interval (one-sided, normal approximation of the number of
// values above it): so many samples know the p99 no better.
func upper(n int) int {
	above := .01 * float64(n)
	return n - 1 - int(max(above-1.645*math.Sqrt(.99*above), 0))
}

// rank is the nearest-rank percentile of sorted values.
func rank(sorted []int64, q float64) int64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
