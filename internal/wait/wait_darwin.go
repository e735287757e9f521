package wait

import (
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

const (
	absoluteCall = "kqueue timer, one-shot, recomputed each time"
	timerUnit    = time.Nanosecond
	timerFflags  = unix.NOTE_NSECONDS
)

func (w *Waiter) sleepUntil(_, due clock.Instant) clock.Instant {
	return w.oneShot(due - clock.Now())
}
