package audit

import (
	"fmt"
	"time"
)

// The judgements of what Windows tells; system_windows.go asks it.

// Resolution is Windows' timer resolution in units of 100 ns, as
// NtQueryTimerResolution gives it: now, the coarsest, the finest.
type Resolution struct{ Now, Coarsest, Finest uint32 }

func (r Resolution) String() string {
	span := func(v uint32) string { return (time.Duration(v) * 100).String() }
	return fmt.Sprintf("%s now, %s to %s possible", span(r.Now), span(r.Finest), span(r.Coarsest))
}

// TimerResolution reads it: cheap enough to be read again during a run, since
// a change voids the run. ok is false on other systems.
func TimerResolution() (r Resolution, ok bool) { return timerResolution() }

func resolutionItem(r Resolution) Item {
	i := Item{AreaClock, "timer resolution", r.String(), "sleeps end within about a millisecond of their time", "", Green}
	if r.Now > 10_500 {
		i.Level = Red
		i.Effect = fmt.Sprintf("sleeps end on a tick of %v", time.Duration(r.Now)*100)
		i.Remedy = "send with --timer-resolution 1ms or 0.5ms; since Windows 10 2004 only this process's own request helps it"
	}
	return i
}

// priorityClass names a class of SetPriorityClass.
func priorityClass(class uint32) Item {
	names := map[uint32]string{0x100: "realtime", 0x80: "high", 0x8000: "above normal", 0x20: "normal", 0x4000: "below normal", 0x40: "idle"}
	i := Item{AreaCPU, "priority class", names[class], "of this process before it asks for more; what a run got is in its report", "", Green}
	if i.Value == "" {
		i.Value = fmt.Sprintf("%#x", class)
	}
	return i
}

// The bits of PROCESS_POWER_THROTTLING_STATE.
const (
	throttleSpeed      = 1 // PROCESS_POWER_THROTTLING_EXECUTION_SPEED
	throttleResolution = 4 // PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION
)

// powerThrottling judges the control and state masks of this process. Windows
// decides by itself what the control mask leaves open.
func powerThrottling(control, state uint32, build uint32) (Item, bool) {
	i := Item{Area: AreaCPU, Name: "power throttling", Value: "off"}
	i.Effect = "this process keeps its speed and its timer resolution"
	open := throttleSpeed | uint32(throttleResolution)
	if build < 22000 { // Windows 10 knows the speed only
		open = throttleSpeed
	}
	switch {
	case build < 16299: // Windows 10 1709 brought it
		return i, false
	case state&open != 0:
		i.Value, i.Level = "on", Red
	case control&open != open:
		i.Value, i.Level = "as Windows chooses", Yellow
	default:
		return i, true
	}
	i.Effect = "while its window is covered or minimised this process may be slowed down"
	if build >= 22000 {
		i.Effect += ", and its timer resolution dropped"
	}
	i.Remedy = "keep the window in sight, or start it with realtime priority"
	return i, true
}

// fifoItem judges the FIFO settings of Windows' own serial driver: 0 forced
// off, the trigger 1, 4, 8 or 14; below 0 not set.
func fifoItem(forced, receive int) (Item, bool) {
	switch {
	case forced == 0:
		return Item{AreaPort, "FIFO", "off", "each character interrupts at once; a stall of this machine loses characters", "", Green}, true
	case receive > 0:
		i := triggerItem(receive)
		i.Name = "RxFIFO"
		if i.Remedy != "" {
			i.Remedy = "set the receive buffer to 1 in the port's advanced settings"
		}
		return i, true
	}
	return Item{}, false
}
