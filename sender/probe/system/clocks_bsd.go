//go:build darwin || freebsd || openbsd

package system

import (
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

// Resolution stays unknown: x/sys has no clock_getres here.

type identified struct {
	name string
	id   int32
}

func clocks() []Clock {
	list := []Clock{
		{clock.Name(), "Go runtime, as the hot loops do", 0, func() int64 { return int64(clock.Now()) }},
		{"time.Now", "Go runtime, wall and monotonic", 0, func() int64 { return time.Now().UnixNano() }},
	}
	common := []identified{
		{"CLOCK_MONOTONIC", unix.CLOCK_MONOTONIC},
		{"CLOCK_REALTIME", unix.CLOCK_REALTIME},
		{"CLOCK_PROCESS_CPUTIME_ID", unix.CLOCK_PROCESS_CPUTIME_ID},
		{"CLOCK_THREAD_CPUTIME_ID", unix.CLOCK_THREAD_CPUTIME_ID},
	}
	for _, c := range append(common, ownClocks...) {
		var ts unix.Timespec
		if unix.ClockGettime(c.id, &ts) == nil {
			list = append(list, Clock{c.name, "clock_gettime", 0, func() int64 {
				var ts unix.Timespec
				unix.ClockGettime(c.id, &ts)
				return ts.Nano()
			}})
		}
	}
	return list
}

func cpus() []int { return nil }
