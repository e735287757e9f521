package pace

import (
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// loop is the state of a run: everything that the hot loop touches, in one
// piece of memory.
type loop struct {
	sched   Schedule
	waiter  *wait.Waiter // nil when there is no period
	payload []byte
	at      int // the next byte of the payload
	records *Ring
	stop    *atomic.Bool
	count   int64

	sent       int64
	dropped    int64
	late       Lateness
	firstWrote clock.Instant
	lastWrote  clock.Instant

	held int64
	beat wait.Beat

	fd     wait.FD // where the loop is a raw one
	status wait.Status
}

// watch keeps the watchdog: a wait that slept let everyone else run.
//
//go:nosplit
func (l *loop) watch(woke clock.Instant) {
	if l.waiter != nil && l.waiter.Slept() {
		l.beat.Rested(woke)
		return
	}
	l.beat.Watch(woke)
}

// done tells whether the loop ends before the next character.
//
//go:nosplit
func (l *loop) done() bool {
	return l.sent >= l.count || l.sched.Over() || l.stop.Load()
}

// full tells that a run without a schedule must wait for room in the ring: it
// has no instant to keep, so it keeps its records whole. A run with a schedule
// never waits and counts what it drops.
//
//go:nosplit
func (l *loop) full() bool {
	return l.sched.Period == 0 && l.records != nil && l.records.Slot() == nil
}

// heldFor is how long the loop waits for room in the ring at a time.
const heldFor = time.Millisecond

// sentOne books the character that was written and moves the schedule on.
//
//go:nosplit
func (l *loop) sentOne(woke, wrote clock.Instant) {
	due := l.sched.Due()
	if l.sched.Period == 0 {
		due = woke
	}
	if l.records != nil {
		if slot := l.records.Slot(); slot != nil {
			*slot = Record{Seq: l.sent, Due: due, Woke: woke, Wrote: wrote, Byte: l.payload[l.at]}
			l.records.Commit()
		} else {
			l.records.Drop(1)
			l.dropped++
		}
	}
	if l.sent == 0 {
		l.firstWrote = wrote
	}
	l.lastWrote = wrote
	late := int64(woke - due)
	l.late.Sum += late
	l.late.Min = min(l.late.Min, late)
	l.late.Max = max(l.late.Max, late)
	l.sent++
	if l.at++; l.at == len(l.payload) {
		l.at = 0
	}
	if l.sent < l.count {
		l.sched.Sent(wrote)
	}
}
