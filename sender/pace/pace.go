// Package pace sends characters on a schedule: the arithmetic that says when
// each is due (pure, without a clock) and the hot loop that waits, writes and
// stamps.
//
// It promises: a character is due at First + n·period to the nanosecond, for
// days; each instant (woke, wrote) is one reading of the clock; the payload
// advances with every character sent, not with every period; what was missed
// is counted; a write that failed is not sent. The loop allocates nothing,
// locks nothing, logs nothing, and ends within 100 ms of Stop even when the
// port takes no characters. On Linux it runs on raw system calls, outside the
// Go scheduler, which therefore cannot take its thread away: run it on a thread
// that realtime.Session.LockThread has prepared.
package pace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/ring"
	"serialtiming/internal/wait"
)

// Port is what the loop writes to. Where Fd gives a raw descriptor and the
// system has raw calls, Write is not used.
type Port interface {
	io.Writer
	// Fd is the raw descriptor, false when there is none.
	Fd() (uintptr, bool)
}

// Record is one character that was sent. All instants are of this machine's
// monotonic clock.
type Record struct {
	Seq   int64 // 0 is the run's first character
	Due   clock.Instant
	Woke  clock.Instant // the wait returned
	Wrote clock.Instant // the write returned
	Byte  byte
}

// Ring carries the records to the goroutine that logs them.
type Ring = ring.Ring[Record]

// NewRing makes a ring for the records; 1<<16 of them are a minute at 1 ms,
// and a fifth of a second back to back on a pseudo-terminal.
func NewRing(capacity int) *Ring { return ring.New[Record](capacity) }

// Config is one run.
type Config struct {
	Period   time.Duration // 0: back to back, no schedule; then Due is Woke
	Count    int64         // characters to send; 0: no limit
	Duration time.Duration // from the first due time; 0: no limit
	Start    clock.Instant // when the first is due; 0: one period from now
	Kind     wait.Kind     // "": the system's default
	CatchUp  Policy        // "": the kind's default
	Payload  []byte        // sent in turn, one byte a character; not empty
	Port     Port
	Records  *Ring        // nil: none are kept; somebody must take them out, or a run with Period 0 stands still
	Stop     *atomic.Bool // set from outside, ends the run; nil: none
}

// Lateness is woke minus due over the characters sent, in nanoseconds.
type Lateness struct {
	Min, Max, Sum int64
}

// Result is what a run was, also when it ended with an error.
type Result struct {
	Sent           int64
	Missed         int64 // points of the grid left out (skip)
	RecordsDropped int64 // records that found the ring full: sent, not logged
	FirstDue       clock.Instant
	FirstWrote     clock.Instant // 0 when nothing was sent
	LastWrote      clock.Instant
	Lateness       *Lateness     // nil when nothing was sent or Period is 0
	Call           string        // which system call the timer became; "" when Period is 0
	Spun           time.Duration // time spent spinning (hybrid, spin)
	Held           int64         // times that a run without a schedule waited 1 ms for room in the ring
	GaveWay        int64         // times that the loop slept to let a starved machine run
}

// Mean is the mean lateness of n characters in nanoseconds.
func (l Lateness) Mean(n int64) float64 { return float64(l.Sum) / float64(n) }

// ErrBlocked ends a run whose time was over while the port took no character.
var ErrBlocked = errors.New("the port took no more characters")

var errNoPayload = errors.New("pace: nothing to send: the payload is empty")

// validate fills in the defaults and refuses what cannot be.
func (c *Config) validate() error {
	if c.Kind == "" {
		c.Kind = wait.Default()
	}
	if c.CatchUp == "" {
		c.CatchUp = DefaultPolicy(c.Kind)
	}
	switch {
	case len(c.Payload) == 0:
		return errNoPayload
	case c.Period < 0 || c.Count < 0 || c.Duration < 0:
		return fmt.Errorf("pace: a period, count or duration below 0 (%v, %d, %v)", c.Period, c.Count, c.Duration)
	case c.Port == nil:
		return errors.New("pace: no port")
	}
	return Compatible(c.Kind, c.CatchUp)
}

// mayNeverSleep tells whether such a run can keep a processor for itself.
func (c *Config) mayNeverSleep() bool {
	return c.Period == 0 || c.Kind.Spins() || c.CatchUp == Burst
}

// schedule lays out the run from now on.
func (c *Config) schedule(now clock.Instant) Schedule {
	s := Schedule{
		First:    c.Start,
		Period:   c.Period,
		Policy:   c.CatchUp,
		Relative: !c.Kind.KeepsGrid(),
	}
	if s.First == 0 {
		s.First = now.Add(c.Period)
	}
	if c.Duration > 0 {
		s.End = s.First.Add(c.Duration)
	}
	s.Start()
	return s
}

// Run sends until the count, the duration, Stop or an error ends it. The
// calling goroutine should be locked to a prepared thread. The result holds
// what was done, whatever the error.
func Run(c Config) (Result, error) {
	if err := c.validate(); err != nil {
		return Result{}, err
	}
	l := newLoop(&c, clock.Now())
	if c.Period > 0 {
		w, err := wait.New(wait.Config{Kind: c.Kind, Period: c.Period, Start: l.sched.First})
		if err != nil {
			return Result{}, err
		}
		defer w.Close()
		l.waiter = w
	}
	if c.mayNeverSleep() {
		stopBeat := l.beat.Start()
		defer stopBeat()
	}
	err := l.send(c.Port)
	return l.result(), err
}

// newLoop prepares everything that the loop touches.
func newLoop(c *Config, now clock.Instant) *loop {
	l := &loop{
		sched:   c.schedule(now),
		payload: append([]byte(nil), c.Payload...),
		records: c.Records,
		stop:    c.Stop,
		count:   c.Count,
		late:    Lateness{Min: math.MaxInt64, Max: math.MinInt64},
	}
	l.beat.Begin(now)
	if l.count == 0 {
		l.count = math.MaxInt64
	}
	if l.stop == nil {
		l.stop = new(atomic.Bool)
	}
	return l
}

func (l *loop) result() Result {
	r := Result{
		Sent:           l.sent,
		Missed:         l.sched.Missed(),
		RecordsDropped: l.dropped,
		FirstDue:       l.sched.First,
		FirstWrote:     l.firstWrote,
		LastWrote:      l.lastWrote,
		Held:           l.held,
		GaveWay:        l.beat.GaveWay(),
	}
	if l.waiter != nil {
		r.Call, r.Spun = l.waiter.Call(), l.waiter.Spun()
	}
	if l.sent > 0 && l.sched.Period > 0 {
		late := l.late
		r.Lateness = &late
	}
	return r
}
