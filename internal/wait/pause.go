package wait

import (
	"time"

	"serialtiming/internal/clock"
)

// Pause sleeps for d, at most a [Slice], where a hot loop has no instant to
// keep: for room in a ring. On Linux it is a raw call without a stack check.
//
//go:nosplit
func Pause(d time.Duration) {
	now := clock.Now()
	for end := now.Add(min(d, Slice)); now < end; now = clock.Now() {
		nap(end.Sub(now)) // a signal may end it early
	}
}
