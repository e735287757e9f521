package system

import (
	"errors"
	"fmt"
	"math/bits"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"serialtiming/internal/clock"
)

var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	kernelb  = windows.NewLazySystemDLL("kernelbase.dll")
	winmm    = windows.NewLazySystemDLL("winmm.dll")
	ntdll    = windows.NewLazySystemDLL("ntdll.dll")

	procTimeGetTime   = winmm.NewProc("timeGetTime")
	procBeginPeriod   = winmm.NewProc("timeBeginPeriod")
	procEndPeriod     = winmm.NewProc("timeEndPeriod")
	procQueryTimer    = ntdll.NewProc("NtQueryTimerResolution")
	procCreateTimer   = kernel32.NewProc("CreateWaitableTimerExW")
	procAffinity      = kernel32.NewProc("GetProcessAffinityMask")
	procCounterRate   = kernel32.NewProc("QueryPerformanceFrequency")
	procTickCount     = kernel32.NewProc("GetTickCount64")
	procFileTime      = kernel32.NewProc("GetSystemTimeAsFileTime")
	procPreciseTime   = kernel32.NewProc("GetSystemTimePreciseAsFileTime")
	procUnbiased      = kernel32.NewProc("QueryUnbiasedInterruptTime")
	procInterrupt     = kernelb.NewProc("QueryInterruptTime")
	procInterruptPrec = kernelb.NewProc("QueryInterruptTimePrecise")
)

// clocks: those of 100 ns units give their value through a pointer.
func clocks() []Clock {
	list := []Clock{
		{clock.Name(), "system library, as the hot loops do", counterStep(), func() int64 { return int64(clock.Now()) }},
		{"time.Now", "Go runtime", 0, func() int64 { return time.Now().UnixNano() }},
	}
	for _, c := range []struct {
		name string
		proc *windows.LazyProc
	}{
		{"GetSystemTimeAsFileTime", procFileTime}, {"GetSystemTimePreciseAsFileTime", procPreciseTime},
		{"QueryUnbiasedInterruptTime", procUnbiased},
		{"QueryInterruptTime", procInterrupt}, {"QueryInterruptTimePrecise", procInterruptPrec},
	} {
		if c.proc.Find() != nil {
			continue // an older Windows
		}
		addr := c.proc.Addr()
		list = append(list, Clock{c.name, "system library", 0, func() int64 {
			var t int64
			syscall.SyscallN(addr, uintptr(unsafe.Pointer(&t)))
			return t * 100
		}})
	}
	if procTickCount.Find() == nil {
		addr := procTickCount.Addr()
		list = append(list, Clock{"GetTickCount64", "system library", 0, func() int64 {
			low, high, _ := syscall.SyscallN(addr)
			if bits.UintSize == 32 {
				low |= high << 16 << 16
			}
			return int64(low) * int64(time.Millisecond)
		}})
	}
	return append(list, Clock{"timeGetTime", "multimedia library", 0, func() int64 {
		ms, _ := multimediaTime()
		return int64(ms) * int64(time.Millisecond)
	}})
}

// counterStep is one count of the performance counter, rounded up.
func counterStep() int64 {
	var hz int64
	procCounterRate.Call(uintptr(unsafe.Pointer(&hz)))
	if hz <= 0 {
		return 0
	}
	return (int64(time.Second) + hz - 1) / hz
}

func cpus() (list []int) {
	var process, system uintptr
	ok, _, _ := procAffinity.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&process)), uintptr(unsafe.Pointer(&system)))
	if ok == 0 {
		return nil
	}
	for i := range bits.UintSize {
		if process>>i&1 != 0 {
			list = append(list, i)
		}
	}
	return list
}

const signalCall = "SetEvent, WaitForSingleObject"

// Signal wakes one thread from another. Wake before Wait is kept.
type Signal struct{ event windows.Handle }

// NewSignal makes one.
func NewSignal() (*Signal, error) {
	h, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("CreateEvent: %w", err)
	}
	return &Signal{h}, nil
}

// Close frees it.
func (s *Signal) Close() { windows.CloseHandle(s.event) }

// Wake wakes the thread in Wait.
func (s *Signal) Wake() { windows.SetEvent(s.event) }

// Wait sleeps until Wake; false after 100 ms without one.
func (s *Signal) Wait() bool {
	r, err := windows.WaitForSingleObject(s.event, 100)
	return err == nil && r == windows.WAIT_OBJECT_0
}

const hasTimerSlack = false

func setTimerSlack(int64) (int64, error) { return 0, errors.ErrUnsupported }

const hasTimerResolution = true

// timerResolution: NtQueryTimerResolution counts in 100 ns, and its first
// answer is the coarsest.
func timerResolution() (current, finest int64, err error) {
	if err := procQueryTimer.Find(); err != nil {
		return 0, 0, err
	}
	var coarse, fine, now uint32
	status, _, _ := procQueryTimer.Call(uintptr(unsafe.Pointer(&coarse)), uintptr(unsafe.Pointer(&fine)), uintptr(unsafe.Pointer(&now)))
	if status != 0 {
		return 0, 0, fmt.Errorf("NtQueryTimerResolution: %w", windows.NTStatus(status))
	}
	return int64(now) * 100, int64(fine) * 100, nil
}

func beginPeriod(ms uint32) error { return period(procBeginPeriod, ms) }
func endPeriod(ms uint32) error   { return period(procEndPeriod, ms) }

func period(proc *windows.LazyProc, ms uint32) error {
	if err := proc.Find(); err != nil {
		return err
	}
	if r, _, _ := proc.Call(uintptr(ms)); r != 0 {
		return fmt.Errorf("%s(%d): the system refuses it (%d)", proc.Name, ms, r)
	}
	return nil
}

func multimediaTime() (uint32, bool) {
	if procTimeGetTime.Find() != nil {
		return 0, false
	}
	r, _, _ := syscall.SyscallN(procTimeGetTime.Addr())
	return uint32(r), true
}

func sleepMillisecond() { windows.SleepEx(1, false) }

// runtimeAsks looks for what the runtime looks for when it starts
// (runtime/os_windows.go, createHighResTimer).
func runtimeAsks() bool {
	const highResolution, allAccess = 0x2, 0x1F0003
	h, _, _ := procCreateTimer.Call(0, 0, highResolution, allAccess)
	if h == 0 {
		return true
	}
	windows.CloseHandle(windows.Handle(h))
	return false
}
