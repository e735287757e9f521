package system

import "golang.org/x/sys/unix"

var ownClocks = []identified{
	{"CLOCK_MONOTONIC_FAST", unix.CLOCK_MONOTONIC_FAST},
	{"CLOCK_MONOTONIC_PRECISE", unix.CLOCK_MONOTONIC_PRECISE},
	{"CLOCK_REALTIME_FAST", unix.CLOCK_REALTIME_FAST},
	{"CLOCK_UPTIME", unix.CLOCK_UPTIME},
}
