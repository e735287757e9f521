// Package wait holds the ways of waiting for an instant, and for a port, under
// the same names on every system.
//
// It promises that a wait never ends before its deadline without saying so
// (the instant returned tells), that none lasts longer than [Slice], and that
// on Linux nothing in [Waiter.Until] or the [FD] calls gives the Go scheduler
// a chance to take the thread away: they are raw system calls in functions
// without a stack check. Entering and leaving the scheduler costs about 35 µs
// at the median, and its cooperative preemption strikes at stack checks.
//
// A raw wait takes a processor from the rest of a Go program; a loop that runs
// [Outside] of the scheduler does not.
package wait

import (
	"fmt"
	"strings"
	"time"

	"serialtiming/internal/clock"
)

// Slice is the longest that one wait lasts. Whoever waits longer comes back
// in between and can look whether to stop.
const Slice = 100 * time.Millisecond

// Kind names a way of waiting, as on the command line.
type Kind string

// The kinds. What each becomes on this system says [Kind.Call].
const (
	Periodic Kind = "periodic" // the kernel's own periodic timer
	Absolute Kind = "absolute" // sleep until an absolute time
	Sleep    Kind = "sleep"    // sleep for a time, as on Windows 95; drifts
	Hybrid   Kind = "hybrid"   // absolute until shortly before, then spin
	Spin     Kind = "spin"     // read the clock until it is time
)

// Kinds are all kinds, in the order of the manual, whether this system has
// them or not.
func Kinds() []Kind { return []Kind{Periodic, Absolute, Sleep, Hybrid, Spin} }

// ParseKind reads a kind as the command line has it.
func ParseKind(s string) (Kind, error) {
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		if s == string(k) {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", fmt.Errorf("unknown timer %q: there are %s", s, strings.Join(names, ", "))
}

// Default is the kind that is taken when none is named: periodic on Windows,
// as in the original of 1998, absolute elsewhere.
func Default() Kind { return defaultKind }

// Call says which system call the kind is on this system, "" when the system
// has none for it. It is stored with the run.
func (k Kind) Call() string { return call(k) }

// KeepsGrid tells whether the kind waits for points of a grid, so that its
// lateness does not add up: all but sleep.
func (k Kind) KeepsGrid() bool { return k != Sleep }

// Spins tells whether the kind burns a processor while it waits.
func (k Kind) Spins() bool { return k == Hybrid || k == Spin }

// Config is what a wait is prepared for.
type Config struct {
	Kind   Kind
	Period time.Duration // of the grid; above 0
	Start  clock.Instant // the grid's first point: the periodic timer is set to it
}

// Waiter is one prepared way of waiting, for one thread.
type Waiter struct {
	kind   Kind
	period time.Duration
	handle uintptr // the timer's descriptor or handle, where the kind has one
	event  []byte  // what reading the timer fills, where it is read
	call   string

	margin margin // hybrid
	spun   clock.Instant
	slept  bool // the last wait did not only spin
}

// New prepares a wait: everything that costs time or memory happens here.
// Its error wraps errors.ErrUnsupported when the system has no such wait.
func New(c Config) (*Waiter, error) {
	if _, err := ParseKind(string(c.Kind)); err != nil {
		return nil, err
	}
	if c.Period <= 0 {
		return nil, fmt.Errorf("a wait needs a period above 0, not %v", c.Period)
	}
	w := &Waiter{kind: c.Kind, period: c.Period, call: c.Kind.Call()}
	w.margin.start(c.Period)
	if err := w.open(c.Start); err != nil {
		return nil, fmt.Errorf("timer %s: %w", c.Kind, err)
	}
	return w, nil
}

// Call says which system call this wait became; it differs from [Kind.Call]
// where the period forced another one.
func (w *Waiter) Call() string { return w.call }

// Spun is the time that the wait has spent spinning so far: what a hybrid or
// spinning wait costs of one processor.
func (w *Waiter) Spun() time.Duration { return time.Duration(w.spun) }

// Margin is how long before the due time a hybrid wait now ends its sleep and
// spins. 0 for the other kinds.
func (w *Waiter) Margin() time.Duration {
	if w.kind != Hybrid {
		return 0
	}
	return w.margin.value
}

// Close frees the timer.
func (w *Waiter) Close() error { return w.close() }

// Until waits for due and gives the instant at which it woke. now is the last
// reading of the clock; when due is not after it there is no wait and now is
// the answer. A result before due means that the slice was over or the system
// came back early: the caller looks whether to stop, and waits again.
//
//go:nosplit
func (w *Waiter) Until(now, due clock.Instant) clock.Instant {
	w.slept = false
	if due <= now {
		return now
	}
	w.slept = w.kind != Spin
	return w.until(now, due)
}

// Slept tells whether the last wait slept in the kernel.
//
//go:nosplit
func (w *Waiter) Slept() bool { return w.slept }

// spin reads the clock until due, at most for a slice.
//
//go:nosplit
func (w *Waiter) spin(now, due clock.Instant) clock.Instant {
	began := now
	due = min(due, now+clock.Instant(Slice))
	for now < due {
		now = clock.Now()
	}
	w.spun += now - began
	return now
}

// hybrid sleeps until the margin before due, spins the rest, and learns how
// long before it must wake. sleep is the system's absolute wait.
//
//go:nosplit
func (w *Waiter) hybrid(now, due clock.Instant) clock.Instant {
	if early := due - clock.Instant(w.margin.value); early > now {
		woke := w.sleepUntil(now, early)
		if woke < early {
			return woke // a slice was over
		}
		w.margin.learn(time.Duration(woke - early))
		now = woke
	} else {
		w.slept = false
	}
	return w.spin(now, due)
}
