package system

import "golang.org/x/sys/unix"

var ownClocks = []identified{
	{"CLOCK_BOOTTIME", unix.CLOCK_BOOTTIME},
	{"CLOCK_UPTIME", unix.CLOCK_UPTIME},
}
