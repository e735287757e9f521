// Package capture reads a port and stamps what arrives: read, one reading of
// the clock, into the ring. It knows nothing about what the bytes mean.
//
// It promises: the stamp is the first thing after the read; characters that
// one read returned together stay together as one event; nothing that was
// read is lost unseen (an overflowing ring is counted in characters); when
// the port goes, all that arrived before is delivered first; the loop
// allocates nothing, locks nothing, logs nothing, and ends within 100 ms of
// Stop. On Linux it runs on raw system calls, outside the Go scheduler: run it
// on a thread that realtime.Session.LockThread has prepared.
package capture

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/ring"
	"serialtiming/internal/wait"
)

// Port is what the loop reads. Where Fd gives a raw descriptor and the system
// has raw calls, Read is not used.
type Port interface {
	// Read waits a short time (at most 100 ms, or the loop cannot stop);
	// (0, nil) means that nothing arrived.
	Read(b []byte) (int, error)
	// Fd is the raw descriptor, false when there is none.
	Fd() (uintptr, bool)
}

// slotBytes is how many characters one slot of the ring holds: with its head
// it fills 80 bytes. A longer read takes several.
const slotBytes = 64

// slot is one record of the ring: a read, or a piece of it.
type slot struct {
	arrived clock.Instant
	lost    uint32 // characters lost to a full ring before this event
	n       uint8  // bytes in use
	flags   slotFlags
	bytes   [slotBytes]byte
}

type slotFlags uint8

const (
	more    slotFlags = 1 << iota // the event goes on in the next slot
	waiting                       // see Event.Waiting
)

// Ring carries the events to the goroutine that works on them; read it with a
// [Reader].
type Ring = ring.Ring[slot]

// DefaultEvents is the ring's usual capacity in events of up to 64
// characters: 5 MiB, a minute at 1 ms, and 200 ms of the fastest stream that
// a pseudo-terminal carries.
const DefaultEvents = 1 << 16

// NewRing makes a ring for at least so many events; 0 means [DefaultEvents].
func NewRing(events int) *Ring {
	if events <= 0 {
		events = DefaultEvents
	}
	return ring.New[slot](events)
}

// Config is one capture.
type Config struct {
	Port     Port
	Ring     *Ring
	Stop     *atomic.Bool // set from outside, ends the capture; nil: none
	ReadSize int          // bytes that one read takes at most; 0: 4096
	// Patient leaves the characters in the port while the ring is full, in
	// place of losing them: where that holds the sender up (a virtual cable),
	// or nothing is timed (a loopback back to back). A UART would overrun.
	Patient bool
}

// Result is what a capture was, also when it ended with an error.
type Result struct {
	Events     int64 // reads that returned characters
	Characters int64 // all that were read, also those that were lost
	Lost       int64 // characters that found the ring full: a defect of the receiver
	First      clock.Instant
	Last       clock.Instant // of the last event; 0 when there was none
}

// ErrGone is wrapped by the error that ends a capture whose port vanished or
// whose other end was closed. All that had arrived is in the ring.
var ErrGone = errors.New("the port is gone")

const readSize = 4096

// Run captures until Stop or until the port fails. The calling goroutine
// should be locked to a prepared thread. The error is nil after Stop.
func Run(c Config) (Result, error) {
	if c.Port == nil || c.Ring == nil {
		return Result{}, errors.New("capture: no port or no ring")
	}
	if c.ReadSize < 0 {
		return Result{}, fmt.Errorf("capture: a read of %d bytes", c.ReadSize)
	}
	l := newLoop(&c)
	err := l.capture(c.Port)
	return l.result, err
}

func newLoop(c *Config) *loop {
	size := c.ReadSize
	if size == 0 {
		size = readSize
	}
	l := &loop{ring: c.Ring, stop: c.Stop, patient: c.Patient, buf: make([]byte, size)}
	for i := range l.buf {
		l.buf[i] = 0xff // touch it: no page fault in the loop
	}
	if l.stop == nil {
		l.stop = new(atomic.Bool)
	}
	return l
}

// loop is the state of a capture: everything that the hot loop touches.
type loop struct {
	ring    *Ring
	stop    *atomic.Bool
	patient bool
	buf     []byte
	unsaid  uint32 // lost characters that no event has told of yet
	waiting slotFlags
	result  Result

	fd     wait.FD // where the loop is a raw one
	status wait.Status
}

// heldFor is how long a patient loop waits for room in the ring at a time.
const heldFor = time.Millisecond

// full tells a patient loop that the ring may not hold another read.
//
//go:nosplit
func (l *loop) full() bool {
	return l.patient && l.ring.Cap()-l.ring.Len() < (len(l.buf)+slotBytes-1)/slotBytes
}

// arrivedNow puts the n bytes of one read into the ring. An event that finds
// too little room is lost as a whole, so that no half event looks like a
// whole one.
//
//go:nosplit
func (l *loop) arrivedNow(arrived clock.Instant, n int) {
	if l.result.Events == 0 {
		l.result.First = arrived
	}
	l.result.Last = arrived
	l.result.Events++
	l.result.Characters += int64(n)
	slots := (n + slotBytes - 1) / slotBytes
	if l.ring.Cap()-l.ring.Len() < slots {
		l.ring.Drop(n)
		l.result.Lost += int64(n)
		l.unsaid += uint32(n)
		return
	}
	for from := 0; from < n; from += slotBytes {
		s := l.ring.Slot()
		if s == nil {
			return // cannot be: there was room
		}
		s.arrived = arrived
		s.n = uint8(copy(s.bytes[:], l.buf[from:n]))
		s.flags = l.waiting
		if from+slotBytes < n {
			s.flags |= more
		}
		s.lost, l.unsaid = l.unsaid, 0
		l.ring.Commit()
	}
	l.waiting = 0
}
