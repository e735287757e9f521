package system

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
)

const signalCall = "futex"

// Signal wakes one thread from another. Wake before Wait is kept.
type Signal struct{ word atomic.Uint32 }

// NewSignal makes one.
func NewSignal() (*Signal, error) { return &Signal{}, nil }

// Close frees it.
func (s *Signal) Close() {}

const (
	futexWait = 9 | 128 // FUTEX_WAIT_BITSET and FUTEX_WAKE, FUTEX_PRIVATE_FLAG
	futexWake = 1 | 128
)

// Wake wakes the thread in Wait, by a raw call.
//
//go:nosplit
func (s *Signal) Wake() {
	s.word.Store(1)
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.word)), futexWake, 1, 0, 0, 0)
}

// Wait sleeps until Wake; false after 100 ms without one.
//
//go:nosplit
func (s *Signal) Wait() bool {
	// To an absolute time: the scheduler's signals interrupt it every 10 ms, and
	// a time from now on would begin again each time and never end.
	end := int64(clock.Now()) + int64(limit)
	for !s.word.CompareAndSwap(1, 0) {
		ts := syscall.Timespec{Sec: end / 1e9, Nsec: end % 1e9}
		_, _, e := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.word)), futexWait, 0,
			uintptr(unsafe.Pointer(&ts)), 0, anyBit)
		if e == unix.ETIMEDOUT {
			return false
		}
	}
	return true
}

const (
	limit  = 100 * time.Millisecond
	anyBit = 0xffffffff // FUTEX_BITSET_MATCH_ANY
)
