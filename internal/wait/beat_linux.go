package wait

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// beatLoop gives a loop for a goroutine of its own, which calls beat at that
// interval until it says false. It looks at the calling thread first: the
// loop's thread gets its scheduler, one priority below. The thread ends with
// the goroutine.
//
// It sleeps in an ordinary system call: on the way back the goroutine takes
// any free processor of the Go scheduler by itself, and finds none while the
// world is stopped. No other thread has to run for it, as one has to for a
// timer of the runtime.
func beatLoop(every time.Duration) func(beat func() bool) {
	attr, err := unix.SchedGetAttr(0, 0)
	realtime := err == nil && attr.Policy == unix.SCHED_FIFO
	return func(beat func() bool) {
		runtime.LockOSThread()
		if realtime {
			below := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: max(attr.Priority, 2) - 1}
			_ = unix.SchedSetAttr(0, &below, 0) // without it, load may silence the beat
		}
		for beat() {
			ts := unix.NsecToTimespec(int64(every))
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil) // a signal makes one beat early
		}
	}
}
