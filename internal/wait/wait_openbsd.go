package wait

import (
	"time"

	"serialtiming/internal/clock"
)

// OpenBSD's timers are set in whole milliseconds here: x/sys 0.50 has no
// NOTE_NSECONDS for it.
const (
	absoluteCall = "kqueue timer, one-shot, whole milliseconds, recomputed each time"
	timerUnit    = time.Millisecond
	timerFflags  = 0
)

func (w *Waiter) sleepUntil(_, due clock.Instant) clock.Instant {
	return w.oneShot(due - clock.Now())
}
