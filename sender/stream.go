package main

import (
	"sync"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/receiver/capture"
	"serialtiming/results"
	"serialtiming/sender/pace"
)

// stream is the thread that sends: one for all phases, so that what was
// granted to it holds for all.
type stream struct {
	port   half
	ring   *pace.Ring
	jobs   chan pace.Config
	result chan paced
	grants chan []realtime.Grant
}

type paced struct {
	result  pace.Result
	usage   realtime.Counters
	counted bool // the system counts faults and switches by thread
	err     error
}

func newStream() *stream {
	return &stream{
		ring: pace.NewRing(1 << 18),
		jobs: make(chan pace.Config), result: make(chan paced, 1), grants: make(chan []realtime.Grant),
	}
}

// use says where to send.
func (s *stream) use(port serialport.Port) {
	_, fd, ok := serialport.Fds(port)
	s.port = half{port, fd, ok}
}

// lock starts the thread and gives what it was granted.
func (s *stream) lock(rt *realtime.Session) []realtime.Grant {
	go func() {
		s.grants <- rt.LockThread()
		for c := range s.jobs {
			before, _ := realtime.ThreadUsage()
			r, err := pace.Run(c)
			// At real-time priority the closing work would keep the last
			// character from leaving: the kernel hands it on in an ordinary worker.
			time.Sleep(50 * time.Millisecond)
			after, counted := realtime.ThreadUsage()
			s.result <- paced{r, after.Sub(before), counted, err}
		}
	}()
	return <-s.grants
}

// begin starts one run on the thread; its end comes from result.
func (s *stream) begin(c pace.Config) {
	c.Port, c.Records = s.port, s.ring
	s.jobs <- c
}

func (s *stream) close() {
	if s.jobs != nil {
		close(s.jobs)
		s.jobs = nil
	}
}

// echo is the thread that receives in a loopback. A nil echo does nothing.
type echo struct {
	port    half
	patient bool // what does not fit waits in the port
	ring    *capture.Ring
	reader  *capture.Reader
	start   chan bool
	done    chan error
	grants  chan []realtime.Grant
	stop    atomic.Bool
	once    sync.Once
	begun   bool

	// What has been read waits for one more look, so that the record of its
	// sending is surely there.
	held []results.Event
}

func newEcho(port serialport.Port, backToBack bool) *echo {
	fd, _, ok := serialport.Fds(port)
	ring := capture.NewRing(0)
	return &echo{port: half{port, fd, ok}, patient: backToBack, ring: ring, reader: capture.NewReader(ring),
		start: make(chan bool, 1), done: make(chan error, 1), grants: make(chan []realtime.Grant)}
}

func (e *echo) lock(rt *realtime.Session) []realtime.Grant {
	go func() {
		e.grants <- rt.LockThread()
		if !<-e.start {
			e.done <- nil
			return
		}
		_, err := capture.Run(capture.Config{Port: e.port, Ring: e.ring, Stop: &e.stop, Patient: e.patient})
		e.done <- err
	}()
	return <-e.grants
}

func (e *echo) begin() {
	if e != nil {
		e.begun = true
		e.start <- true
	}
}

// end stops the thread; it may be called twice.
func (e *echo) end() {
	if e == nil {
		return
	}
	e.once.Do(func() {
		e.stop.Store(true)
		if !e.begun {
			e.start <- false
		}
		<-e.done
	})
}

// take gives what was read up to the call before, and keeps what came since.
func (e *echo) take(zero clock.Instant) (ready []results.Event, lost int64) {
	if e == nil {
		return nil, 0
	}
	ready = e.held
	e.held = nil
	for {
		ev, ok := e.reader.Next()
		if !ok {
			return ready, lost
		}
		lost += ev.Lost
		e.held = append(e.held, results.Event{At: int64(ev.Arrived.Sub(zero)), Bytes: append([]byte(nil), ev.Bytes...)})
	}
}
