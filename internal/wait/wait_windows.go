package wait

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"serialtiming/internal/clock"
)

const defaultKind = Periodic

var (
	kernel32        = windows.NewLazySystemDLL("kernel32.dll")
	procCreateTimer = kernel32.NewProc("CreateWaitableTimerExW")
	procSetTimer    = kernel32.NewProc("SetWaitableTimer")

	setTimerAddr = procSetTimer.Addr() // for SyscallN, which allocates nothing
)

const (
	timerHighResolution = 0x2 // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, from Windows 10 1803
	timerAllAccess      = 0x1F0003
)

const oneShotCall = "waitable timer, one-shot, recomputed from the performance counter"

func call(k Kind) string {
	switch k {
	case Periodic:
		return "waitable timer, periodic"
	case Absolute:
		return oneShotCall
	case Sleep:
		return "Sleep"
	case Hybrid:
		return oneShotCall + ", then spin"
	case Spin:
		return "spin on " + clock.Name()
	}
	return ""
}

// open makes the timer. A periodic one takes whole milliseconds only; for any
// other period it becomes the absolute wait, and Call says so.
func (w *Waiter) open(clock.Instant) error {
	if w.kind == Spin || w.kind == Sleep {
		return nil
	}
	if w.kind == Periodic && w.period%time.Millisecond != 0 {
		w.kind = Absolute
		w.call = oneShotCall + " (a periodic timer takes whole milliseconds only)"
	}
	flags := uintptr(timerHighResolution)
	if w.kind == Periodic {
		flags = 0 // the high-resolution timer has no better period
	}
	h, _, err := procCreateTimer.Call(0, 0, flags, timerAllAccess)
	if h == 0 && flags != 0 {
		h, _, err = procCreateTimer.Call(0, 0, 0, timerAllAccess)
		w.call += " (no high-resolution timers before Windows 10 1803)"
	}
	if h == 0 {
		return fmt.Errorf("CreateWaitableTimerEx: %w", err)
	}
	w.handle, w.event = h, make([]byte, 1)
	return nil
}

func (w *Waiter) close() error {
	if w.event == nil {
		return nil
	}
	w.event = nil
	return windows.CloseHandle(windows.Handle(w.handle))
}

func (w *Waiter) until(now, due clock.Instant) clock.Instant {
	switch w.kind {
	case Spin:
		return w.spin(now, due)
	case Hybrid:
		return w.hybrid(now, due)
	case Periodic:
		return w.expiry(due)
	case Sleep:
		left := min(Slice, time.Duration(due-now)) + time.Millisecond - 1
		windows.SleepEx(uint32(left/time.Millisecond), false)
		return clock.Now()
	}
	return w.sleepUntil(now, due)
}

// sleepUntil sets the timer to what is left of the wait by the performance
// counter: a relative time, since an absolute one is UTC and steps with it.
func (w *Waiter) sleepUntil(_, due clock.Instant) clock.Instant {
	left := min(due-clock.Now(), clock.Instant(Slice))
	if left > 0 {
		w.set(left, 0)
		windows.WaitForSingleObject(windows.Handle(w.handle), uint32(2*Slice/time.Millisecond))
	}
	return clock.Now()
}

// expiry waits for the periodic timer, which the first wait sets so that its
// first expiry is the grid's first point. event[0] tells whether it runs.
//
// An expiry before due is one that nobody had waited for, or a clock interrupt
// that ran ahead of the performance counter: the timer is set to the grid
// again. Without that a timer that is early by a microsecond would from then
// on serve every point a whole period late.
func (w *Waiter) expiry(due clock.Instant) clock.Instant {
	if w.event[0] == 0 {
		w.event[0] = 1
		w.set(due-clock.Now(), w.period)
	}
	s, err := windows.WaitForSingleObject(windows.Handle(w.handle), uint32(Slice/time.Millisecond))
	woke := clock.Now()
	if err == nil && s == windows.WAIT_OBJECT_0 && woke < due {
		w.event[0] = 0
	}
	return woke
}

// set arms the timer; the unit of a relative time is 100 ns, negative.
func (w *Waiter) set(left clock.Instant, period time.Duration) {
	at := -max(int64(left)/100, 1)
	syscall.SyscallN(setTimerAddr, w.handle, uintptr(unsafe.Pointer(&at)), uintptr(period/time.Millisecond), 0, 0, 0)
}
