package wait

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

const (
	absoluteCall = "clock_nanosleep(TIMER_ABSTIME)"
	timerUnit    = time.Nanosecond
	timerFflags  = unix.NOTE_NSECONDS

	timerAbsolute = 1 // TIMER_ABSTIME, which x/sys leaves out
)

func (w *Waiter) sleepUntil(now, due clock.Instant) clock.Instant {
	due = min(due, now+clock.Instant(Slice))
	ts := unix.NsecToTimespec(int64(due))
	unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, timerAbsolute,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	return clock.Now()
}
