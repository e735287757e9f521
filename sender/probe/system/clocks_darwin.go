package system

import "golang.org/x/sys/unix"

var ownClocks = []identified{
	{"CLOCK_MONOTONIC_RAW", unix.CLOCK_MONOTONIC_RAW},
	{"CLOCK_MONOTONIC_RAW_APPROX", unix.CLOCK_MONOTONIC_RAW_APPROX},
	{"CLOCK_UPTIME_RAW", unix.CLOCK_UPTIME_RAW},
	{"CLOCK_UPTIME_RAW_APPROX", unix.CLOCK_UPTIME_RAW_APPROX},
}
