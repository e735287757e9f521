package clock

import (
	"syscall"
	"unsafe"
)

// The performance counter, because Go's own monotonic clock reads the
// interrupt time here, which moves in steps of 0.5 to 15.6 ms.
var (
	kernel32    = syscall.NewLazyDLL("kernel32.dll")
	procCounter = kernel32.NewProc("QueryPerformanceCounter")
	procRate    = kernel32.NewProc("QueryPerformanceFrequency")

	counterAddr = procCounter.Addr()
	counterHz   = counterRate()
)

func counterRate() int64 {
	var hz int64
	syscall.SyscallN(procRate.Addr(), uintptr(unsafe.Pointer(&hz)))
	return hz
}

// Now reads the performance counter. It allocates nothing: SyscallN keeps its
// arguments alive without moving them to the heap.
func Now() Instant {
	var count int64
	syscall.SyscallN(counterAddr, uintptr(unsafe.Pointer(&count)))
	return Instant(countsToNs(count, counterHz))
}

func name() string { return "QueryPerformanceCounter" }
