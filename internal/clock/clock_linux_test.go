package clock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The raw waits take instants as deadlines of CLOCK_MONOTONIC, so Now must
// read that clock and its zero.
func TestNowIsClockMonotonic(t *testing.T) {
	before := Now()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	after := Now()
	if system := Instant(ts.Nano()); system < before || system > after {
		t.Errorf("CLOCK_MONOTONIC reads %d, not between %d and %d", system, before, after)
	}
}
