package realtime

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ordinaryNice gives all threads of the process that are not real-time a nice
// value; threads that they make later inherit it. Restore takes it back from
// those that still have it.
func (s *Session) ordinaryNice(nice int) {
	changed := eachOrdinary(0, nice)
	if changed > 0 {
		s.onRestore(func() { eachOrdinary(nice, 0) })
	}
}

// eachOrdinary sets the nice value of every thread of SCHED_OTHER that has the
// one given.
func eachOrdinary(from, to int) (changed int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL || int(a.Nice) != from {
			continue
		}
		if unix.Setpriority(unix.PRIO_PROCESS, tid, to) == nil {
			changed++
		}
	}
	return changed
}
