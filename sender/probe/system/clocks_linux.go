package system

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

func clocks() []Clock {
	list := []Clock{
		{"CLOCK_MONOTONIC", "vDSO, as the hot loops do", resolution(unix.CLOCK_MONOTONIC), func() int64 { return int64(clock.Now()) }},
		{"time.Now", "vDSO, wall and monotonic", 0, func() int64 { return time.Now().UnixNano() }},
	}
	for _, c := range []struct {
		name string
		id   int32
	}{
		{"CLOCK_MONOTONIC", unix.CLOCK_MONOTONIC},
		{"CLOCK_MONOTONIC_RAW", unix.CLOCK_MONOTONIC_RAW},
		{"CLOCK_MONOTONIC_COARSE", unix.CLOCK_MONOTONIC_COARSE},
		{"CLOCK_BOOTTIME", unix.CLOCK_BOOTTIME},
		{"CLOCK_REALTIME", unix.CLOCK_REALTIME},
		{"CLOCK_REALTIME_COARSE", unix.CLOCK_REALTIME_COARSE},
		{"CLOCK_TAI", unix.CLOCK_TAI},
		{"CLOCK_PROCESS_CPUTIME_ID", unix.CLOCK_PROCESS_CPUTIME_ID},
		{"CLOCK_THREAD_CPUTIME_ID", unix.CLOCK_THREAD_CPUTIME_ID},
	} {
		var ts unix.Timespec
		if unix.ClockGettime(c.id, &ts) == nil {
			list = append(list, Clock{c.name, "system call", resolution(c.id), func() int64 { return gettime(c.id) }})
		}
	}
	return list
}

// gettime is the system call itself: x/sys does not go through the vDSO.
func gettime(id int32) int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func resolution(id int32) int64 {
	var ts unix.Timespec
	if unix.ClockGetres(id, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// cpus are those that this thread may use.
func cpus() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list
}

const hasTimerSlack = true

func setTimerSlack(ns int64) (int64, error) {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0); err != nil {
		return 0, err
	}
	got, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return int64(got), err
}
