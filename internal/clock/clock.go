// Package clock reads this machine's monotonic clock in nanoseconds, as
// cheaply as the system allows: hot loops read it once at each instant.
//
// It promises that two readings on one machine may be subtracted from each
// other, also across processes (both ends of a virtual cable, or two logs of
// one machine), and that a reading never goes back. It promises nothing about
// the time of day. Clocks of two machines are never compared: an [Instant]
// means this machine's clock and nothing else.
package clock

import "time"

// Instant is a point on this machine's monotonic clock in nanoseconds. Its
// zero is the system's (usually the boot), so only differences mean
// something.
type Instant int64

// Sub gives the time from j to i, negative when i is the earlier one.
//
//go:nosplit
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Add gives the instant d after i.
//
//go:nosplit
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Name is the system's own name of the clock, as it stands in the run log:
// "CLOCK_MONOTONIC", "QueryPerformanceCounter", "mach_absolute_time".
func Name() string { return name() }

// stepSearch bounds [Step]: a clock that moves once in 15.6 ms (the coarsest
// that Windows has) is seen to move three times in it.
const (
	stepSearch = 50 * time.Millisecond
	stepEnough = 1000
)

// Step is the smallest difference between two readings in a row that was not
// zero: the clock's own step where that is coarser than a reading takes, else
// the cost of a reading. It looks for at most 50 ms by the wall clock and
// gives 0 when the clock never moved in that time.
func Step() time.Duration {
	return step(Now, stepSearch)
}

// Cost is what one reading takes: the mean of a thousand in a row.
func Cost() time.Duration {
	const readings = 1000
	start := Now()
	last := start
	for range readings {
		last = Now()
	}
	return last.Sub(start) / readings
}

// step is Step for any clock.
func step(now func() Instant, search time.Duration) time.Duration {
	var least time.Duration
	last := now()
	until := time.Now().Add(search)
	for moved := 0; moved < stepEnough; {
		i := now()
		if i == last {
			if time.Now().After(until) {
				break
			}
			continue
		}
		if d := i.Sub(last); least == 0 || d < least {
			least = d
		}
		last = i
		moved++
	}
	return least
}
