package main

import (
	_ "embed"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"serialtiming/internal/cable"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/receiver/capture"
	"serialtiming/sender/pace"
)

//go:embed testdata/loop.c
var loopC string

// pathContestants are the C loop, where a compiler builds it, and ours.
func pathContestants(o options, s *realtime.Session, dir string, stderr io.Writer) (all []contestant) {
	if c, ok := inC("C loop", dir, loopC, o, stderr); ok {
		all = append(all, c)
	}
	return append(all, contestant{"sender + receiver", func() (round, error) { return goPath(o, s, nil) }})
}

// near and far are the two directions of a cable as ports of the hot loops.
type near struct {
	*cable.Port
	fd uintptr
}

func (n near) Fd() (uintptr, bool) { return n.fd, true }

type far struct {
	*cable.Port
	fd uintptr
}

func (f far) Read(b []byte) (int, error) { return f.Port.Read(b, wait.Slice) }
func (f far) Fd() (uintptr, bool)        { return f.fd, true }

// goPath is one turn of the sender's and the receiver's loops on a virtual
// cable, beside what the function starts (and what it gives ends), if any.
func goPath(o options, s *realtime.Session, beside func(*realtime.Observed) func()) (round, error) {
	port, err := cable.OpenLoopback()
	if err != nil {
		return round{}, err
	}
	defer port.Close()
	r, w, ok := port.Fds()
	if !ok {
		return round{}, errors.ErrUnsupported
	}
	events, records := capture.NewRing(o.count()), pace.NewRing(o.count())
	var stop atomic.Bool
	captured, seen := make(chan error, 1), make(chan *realtime.Observed, 1)
	go func() {
		_, err := onThread(s, func([]realtime.Grant) error {
			seen <- realtime.Observe()
			_, err := capture.Run(capture.Config{Port: far{port, r}, Ring: events, Stop: &stop})
			return err
		})
		captured <- err
	}()
	thread := <-seen
	defer thread.Close()
	if beside != nil {
		defer beside(thread)()
	}
	time.Sleep(20 * time.Millisecond)
	cpu, err := onThread(s, func([]realtime.Grant) error {
		_, err := pace.Run(pace.Config{
			Period: o.period, Count: int64(o.count()), Kind: wait.Absolute, Payload: []byte(" "),
			Port: near{port, w}, Records: records,
		})
		return err
	})
	time.Sleep(100 * time.Millisecond)
	stop.Store(true)
	if e := <-captured; err == nil {
		err = e
	}
	return round{us: pair(records, events), cpu: cpu}, err
}

// pair lays the characters sent beside those that arrived, in order: a
// pseudo-terminal loses none.
func pair(records *pace.Ring, events *capture.Ring) []int64 {
	var arrived []clock.Instant
	reader := capture.NewReader(events)
	for e, ok := reader.Next(); ok; e, ok = reader.Next() {
		for range e.Bytes {
			arrived = append(arrived, e.Arrived)
		}
	}
	var us []int64
	for p := records.Peek(); p != nil && len(us) < len(arrived); p = records.Peek() {
		us = append(us, int64(arrived[len(us)].Sub(p.Woke)/time.Microsecond))
		records.Advance()
	}
	return us
}
