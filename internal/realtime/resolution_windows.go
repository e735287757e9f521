package realtime

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	ntdll              = windows.NewLazySystemDLL("ntdll.dll")
	procQueryTimer     = ntdll.NewProc("NtQueryTimerResolution")
	procSetTimer       = ntdll.NewProc("NtSetTimerResolution")
	procCreateTimer    = kernel32.NewProc("CreateWaitableTimerExW")
	timerHighRes       = uintptr(0x2)      // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
	timerAllAccess     = uintptr(0x1F0003) // TIMER_ALL_ACCESS
	unitOfNtResolution = 100 * time.Nanosecond
)

// timerResolution asks for the resolution and reads it back. What is read is
// the system's; since Windows 10 2004 a finer request of another program no
// longer ends our sleeps earlier, but no call tells what holds for us alone.
func (s *Session) timerResolution() []Grant {
	err := s.askResolution()
	now, coarsest, readErr := queryResolution()
	if readErr != nil {
		return []Grant{{Item: ItemResolution, Asked: s.request.TimerResolution, Got: "unknown", Why: readErr.Error()}}
	}
	g := judgeResolution(s.request.TimerResolution, now, coarsest, !highResolutionTimers())
	if err != nil {
		g.Why = err.Error()
	}
	s.changed = append(s.changed, watchResolution(g.Asked, now, func() (time.Duration, error) {
		now, _, err := queryResolution()
		return now, err
	}))
	return []Grant{g}
}

func (s *Session) askResolution() error {
	switch resolutionOf(s.request.TimerResolution) {
	case time.Millisecond:
		if err := windows.TimeBeginPeriod(1); err != nil {
			return fmt.Errorf("timeBeginPeriod: %w", err)
		}
		s.onRestore(func() { windows.TimeEndPeriod(1) })
	case 500 * time.Microsecond:
		const half = 5000 // of 100 ns
		if err := setResolution(half, true); err != nil {
			return fmt.Errorf("NtSetTimerResolution: %w", err)
		}
		s.onRestore(func() { setResolution(half, false) })
	}
	return nil
}

func setResolution(units uint32, set bool) error {
	on := uintptr(0)
	if set {
		on = 1
	}
	var now uint32
	status, _, _ := procSetTimer.Call(uintptr(units), on, uintptr(unsafe.Pointer(&now)))
	return ntError(status)
}

// queryResolution gives the resolution in force and the coarsest there is.
func queryResolution() (now, coarsest time.Duration, err error) {
	var most, least, current uint32
	status, _, _ := procQueryTimer.Call(uintptr(unsafe.Pointer(&most)),
		uintptr(unsafe.Pointer(&least)), uintptr(unsafe.Pointer(&current)))
	if err := ntError(status); err != nil {
		return 0, 0, fmt.Errorf("NtQueryTimerResolution: %w", err)
	}
	return time.Duration(current) * unitOfNtResolution, time.Duration(most) * unitOfNtResolution, nil
}

func ntError(status uintptr) error {
	if s := windows.NTStatus(status); s != 0 {
		return s
	}
	return nil
}

// highResolutionTimers tells whether the system has them (Windows 10 1803).
// Where not, the Go runtime calls timeBeginPeriod(1) for itself.
func highResolutionTimers() bool {
	h, _, _ := procCreateTimer.Call(0, 0, timerHighRes, timerAllAccess)
	if h == 0 {
		return false
	}
	windows.CloseHandle(windows.Handle(h))
	return true
}
