//go:build darwin || freebsd || openbsd

package realtime

import (
	"time"

	"golang.org/x/sys/unix"
)

// usage counts for the process only.
func usage(thread bool) (Counters, bool) {
	if thread {
		return Counters{}, false
	}
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return Counters{}, false
	}
	return Counters{
		PageFaults:          int64(r.Minflt) + int64(r.Majflt),
		MajorFaults:         int64(r.Majflt),
		InvoluntarySwitches: int64(r.Nivcsw),
		CPU:                 time.Duration(r.Utime.Nano() + r.Stime.Nano()),
	}, true
}
