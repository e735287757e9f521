package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/sender/pace"
)

func causesTitle(o options) string {
	return fmt.Sprintf("What makes a Go loop late: the sender's loop, and the same with one thing taken away; %d rounds of %v, period %v",
		o.rounds, o.length, o.period)
}

// causes are the sender's loop and, one by one, the same without one of the
// things that keep it in time.
func causes(o options) []contestant {
	without := func(name string, change func(*realtime.Request), spoil func()) contestant {
		return contestant{name, func() (round, error) {
			r := o.request()
			if change != nil {
				change(&r)
			}
			return rawTurn(o, r, spoil)
		}}
	}
	ordinary := func(name string, loop func(n int, first clock.Instant, period time.Duration) []int64) contestant {
		return contestant{name, func() (round, error) { return ordinaryTurn(o, loop) }}
	}
	return []contestant{
		without("all of it", nil, nil),
		without("SIGURG comes through", nil, openSIGURG),
		without("memory not locked", func(r *realtime.Request) { r.LockMemory = false }, nil),
		without("no SCHED_FIFO, idle states", func(r *realtime.Request) { r.Priority = "normal" }, nil),
		ordinary("stack checks", stackChecks),
		ordinary("unix.ClockNanosleep", throughScheduler),
		ordinary("time.Sleep", goSleep),
	}
}

// rawTurn is one turn of the real loop.
func rawTurn(o options, request realtime.Request, spoil func()) (round, error) {
	s, err := realtime.Prepare(request)
	if err != nil {
		return round{}, err
	}
	defer s.Restore()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return round{}, err
	}
	defer f.Close()
	records := pace.NewRing(o.count())
	cpu, err := onThread(s, func([]realtime.Grant) error {
		if spoil != nil {
			spoil()
		}
		_, err := pace.Run(pace.Config{
			Period: o.period, Count: int64(o.count()), Kind: wait.Absolute, Payload: []byte(" "), Port: sink{f}, Records: records,
		})
		return err
	})
	return round{us: lateness(records), cpu: cpu}, err
}

// openSIGURG lets the scheduler's preemption signal through again.
func openSIGURG() {
	var set unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGURG - 1)
	unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil)
}

// ordinaryTurn is one turn of a loop written as Go usually is, on a thread that
// has everything.
func ordinaryTurn(o options, loop func(int, clock.Instant, time.Duration) []int64) (round, error) {
	s, err := realtime.Prepare(o.request())
	if err != nil {
		return round{}, err
	}
	defer s.Restore()
	var r round
	r.cpu, err = onThread(s, func([]realtime.Grant) error {
		r.us = loop(o.count(), clock.Now().Add(o.period), o.period)
		return nil
	})
	return r, err
}

// stackChecks waits and writes as the real loop does, by raw calls, but in
// functions that have stack checks.
func stackChecks(n int, due clock.Instant, period time.Duration) []int64 {
	us := make([]int64, 0, n)
	w, err := wait.New(wait.Config{Kind: wait.Absolute, Period: period})
	if err != nil {
		return nil
	}
	for range n {
		now := clock.Now()
		for now < due {
			now = checked(w, now, due)
		}
		us = append(us, int64(now.Sub(due)/time.Microsecond))
		due = due.Add(period)
	}
	return us
}

// checked has a stack check: its frame is too large to go without.
//
//go:noinline
func checked(w *wait.Waiter, now, due clock.Instant) clock.Instant {
	var frame [512]byte
	now = w.Until(now, due)
	frame[uint64(now)%512]++
	return now + clock.Instant(frame[uint64(now+1)%512])
}

// throughScheduler leaves and enters the Go scheduler around each wait.
func throughScheduler(n int, due clock.Instant, period time.Duration) []int64 {
	us := make([]int64, 0, n)
	for range n {
		ts := unix.NsecToTimespec(int64(due))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
		}
		us = append(us, int64(clock.Now().Sub(due)/time.Microsecond))
		due = due.Add(period)
	}
	return us
}

// goSleep is what one writes first.
func goSleep(n int, due clock.Instant, period time.Duration) []int64 {
	us := make([]int64, 0, n)
	for range n {
		time.Sleep(due.Sub(clock.Now()))
		us = append(us, int64(clock.Now().Sub(due)/time.Microsecond))
		due = due.Add(period)
	}
	return us
}
