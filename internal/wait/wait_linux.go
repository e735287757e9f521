package wait

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

const defaultKind = Absolute

func call(k Kind) string {
	switch k {
	case Periodic:
		return "timerfd periodic"
	case Absolute:
		return "clock_nanosleep(TIMER_ABSTIME)"
	case Sleep:
		return "clock_nanosleep(relative)"
	case Hybrid:
		return "clock_nanosleep(TIMER_ABSTIME), then spin"
	case Spin:
		return "spin on CLOCK_MONOTONIC"
	}
	return ""
}

// open sets the periodic timer: its first expiry at the grid's first point,
// then one a period, both on CLOCK_MONOTONIC. The kernel's grid and the
// schedule's are the same then.
func (w *Waiter) open(start clock.Instant) error {
	if w.kind != Periodic {
		return nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("timerfd_create: %w", err)
	}
	if start <= 0 {
		start = clock.Now().Add(w.period)
	}
	spec := unix.ItimerSpec{
		Interval: unix.NsecToTimespec(int64(w.period)),
		Value:    unix.NsecToTimespec(int64(start)),
	}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		unix.Close(fd)
		return fmt.Errorf("timerfd_settime: %w", err)
	}
	w.handle, w.event = uintptr(fd), make([]byte, 8)
	return nil
}

func (w *Waiter) close() error {
	if w.event == nil {
		return nil
	}
	fd := int(w.handle)
	w.event = nil
	return unix.Close(fd)
}

//go:nosplit
func (w *Waiter) until(now, due clock.Instant) clock.Instant {
	switch w.kind {
	case Spin:
		return w.spin(now, due)
	case Hybrid:
		return w.hybrid(now, due)
	case Periodic:
		return w.expiry()
	case Sleep:
		return w.sleepFor(due - now)
	}
	return w.sleepUntil(now, due)
}

// sleepUntil sleeps to an absolute time. An interrupted sleep (EINTR, up to a
// whole period early) shows in the result, and the caller waits on to the same
// deadline.
//
//go:nosplit
func (w *Waiter) sleepUntil(now, due clock.Instant) clock.Instant {
	due = min(due, now+clock.Instant(Slice))
	ts := timespec(int64(due))
	raw(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&ts)), 0)
	runtime.KeepAlive(&ts)
	return clock.Now()
}

// sleepFor sleeps for a time counted from the call.
//
//go:nosplit
func (w *Waiter) sleepFor(d clock.Instant) clock.Instant {
	nap(min(time.Duration(d), Slice))
	return clock.Now()
}

//go:nosplit
func nap(d time.Duration) {
	ts := timespec(int64(d))
	raw(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0)
	runtime.KeepAlive(&ts)
}

// expiry waits for the periodic timer with a poll, and reads it before the next
// wait only: it is the read that sets the timer's hardware again, and that
// belongs into the slack behind the character, not between the expiry and the
// stamp (measured in a virtual machine, where it leaves the guest: p50 18.8 µs
// with the read as the wait, beside 13.6 µs of clock_nanosleep).
//
// Expiries that piled up while nobody read show as a wake before due: the
// caller waits again, so that the schedule decides and not the timer's count.
//
//go:nosplit
func (w *Waiter) expiry() clock.Instant {
	fd := FD(w.handle)
	fd.Read(w.event)
	fd.Readable(Slice)
	return clock.Now()
}

// timespec converts without a call, so that there is no stack check.
//
//go:nosplit
func timespec(ns int64) syscall.Timespec {
	var ts syscall.Timespec
	setTimespec(&ts.Sec, ns/1e9)
	setTimespec(&ts.Nsec, ns%1e9)
	return ts
}

// setTimespec stores into a field of 32 or 64 bits, as the processor has it.
//
//go:nosplit
func setTimespec[T int32 | int64](field *T, v int64) { *field = T(v) }
