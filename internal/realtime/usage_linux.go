package realtime

import (
	"time"

	"golang.org/x/sys/unix"
)

func usage(thread bool) (Counters, bool) {
	who := unix.RUSAGE_SELF
	if thread {
		who = unix.RUSAGE_THREAD
	}
	var r unix.Rusage
	if err := unix.Getrusage(who, &r); err != nil {
		return Counters{}, false
	}
	return Counters{
		PageFaults:          int64(r.Minflt) + int64(r.Majflt),
		MajorFaults:         int64(r.Majflt),
		InvoluntarySwitches: int64(r.Nivcsw),
		CPU:                 time.Duration(r.Utime.Nano() + r.Stime.Nano()),
	}, true
}
