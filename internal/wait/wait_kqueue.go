//go:build darwin || freebsd || openbsd

package wait

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

const defaultKind = Absolute

// A kqueue of one timer serves every kind that sleeps: periodic sets it once,
// absolute (except where the system has clock_nanosleep) and sleep set a
// one-shot timer for each wait, recomputed from the clock.

func call(k Kind) string {
	switch k {
	case Periodic:
		return "kqueue timer, periodic"
	case Absolute:
		return absoluteCall
	case Sleep:
		return "kqueue timer, one-shot, relative"
	case Hybrid:
		return absoluteCall + ", then spin"
	case Spin:
		return "spin on " + clock.Name()
	}
	return ""
}

// open makes the kqueue. The periodic timer is armed by the first wait, since
// kqueue counts its period from that moment: see expiry.
func (w *Waiter) open(start clock.Instant) error {
	if w.kind == Spin {
		return nil
	}
	if w.kind == Periodic && w.period < timerUnit {
		return fmt.Errorf("a period of %v is shorter than the timer's unit of %v", w.period, timerUnit)
	}
	kq, err := unix.Kqueue()
	if err != nil {
		return fmt.Errorf("kqueue: %w", err)
	}
	unix.CloseOnExec(kq)
	w.handle, w.event = uintptr(kq), make([]byte, 1)
	return nil
}

func (w *Waiter) close() error {
	if w.event == nil {
		return nil
	}
	w.event = nil
	return unix.Close(int(w.handle))
}

func (w *Waiter) until(now, due clock.Instant) clock.Instant {
	switch w.kind {
	case Spin:
		return w.spin(now, due)
	case Hybrid:
		return w.hybrid(now, due)
	case Periodic:
		return w.expiry(now, due)
	case Sleep:
		return w.oneShot(due - now)
	}
	return w.sleepUntil(now, due)
}

// expiry waits for the next expiry of the periodic timer. It is started at the
// first due time, so that its grid is the schedule's; that first wait is a
// one-shot. event[0] tells whether it runs.
func (w *Waiter) expiry(now, due clock.Instant) clock.Instant {
	if w.event[0] == 0 {
		woke := w.oneShot(due - now)
		if woke >= due {
			w.event[0] = 1
			w.kevent(timerEvent(unix.EV_ADD, int64(w.period)), 0)
		}
		return woke
	}
	w.kevent(unix.Kevent_t{}, Slice)
	return clock.Now()
}

// oneShot sleeps for d, at most a slice.
func (w *Waiter) oneShot(d clock.Instant) clock.Instant {
	d = min(d, clock.Instant(Slice))
	w.kevent(timerEvent(unix.EV_ADD|unix.EV_ONESHOT, int64(d)), 2*Slice)
	return clock.Now()
}

// kevent makes the change, if it is one, and waits at most d for the timer.
func (w *Waiter) kevent(change unix.Kevent_t, d time.Duration) {
	var changes, events [1]unix.Kevent_t
	n := 0
	if change.Flags != 0 {
		changes[0], n = change, 1
	}
	ts := unix.NsecToTimespec(int64(d))
	if d == 0 {
		unix.Kevent(int(w.handle), changes[:n], nil, &ts)
		return
	}
	unix.Kevent(int(w.handle), changes[:n], events[:], &ts)
}

// timerEvent is timer 1 for ns nanoseconds, rounded up to the timer's unit.
func timerEvent(flags int, ns int64) unix.Kevent_t {
	var e unix.Kevent_t
	unix.SetKevent(&e, 1, unix.EVFILT_TIMER, flags)
	e.Fflags = timerFflags
	unit := int64(timerUnit)
	e.Data = (ns + unit - 1) / unit
	return e
}
