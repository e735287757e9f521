package audit

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The capabilities that matter here, of capabilities(7).
const (
	capSysNice = 23
	capIPCLock = 14
)

// rights looks at what this user may ask for, without asking.
func rights() []Item {
	status, _ := os.ReadFile("/proc/self/status")
	caps := effective(string(status))
	return []Item{priorityRight(caps), memoryRight(caps), idleRight()}
}

// effective reads the effective capabilities out of a status file (proc(5)).
func effective(status string) uint64 {
	_, rest, _ := strings.Cut(status, "CapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	caps, _ := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return caps
}

func limit(which int) uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(which, &r) != nil {
		return 0
	}
	return r.Cur
}

func priorityRight(caps uint64) Item {
	i := Item{Area: AreaCPU, Name: "right to real time", Value: "yes", Effect: "the hot thread runs before everything ordinary"}
	most := limit(unix.RLIMIT_RTPRIO)
	switch {
	case caps>>capSysNice&1 == 1:
	case most > 0:
		i.Value = fmt.Sprintf("up to priority %d", most)
	default:
		i.Level, i.Value = Red, "no"
		i.Effect = "anything that runs on this machine delays the hot thread"
		i.Remedy = "setcap cap_sys_nice,cap_ipc_lock+ep on the program, or rtprio in limits.d"
	}
	return i
}

func memoryRight(caps uint64) Item {
	i := Item{Area: AreaMemory, Name: "right to lock memory", Value: "yes", Effect: "no page fault in the hot loop"}
	if most := limit(unix.RLIMIT_MEMLOCK); caps>>capIPCLock&1 == 0 && most < 256<<20 {
		i.Level, i.Value = Yellow, fmt.Sprintf("up to %d KiB, too little", most>>10)
		i.Effect = "a page that was taken away costs a fault in the hot loop"
		i.Remedy = "setcap cap_ipc_lock+ep on the program, or memlock in limits.d"
	}
	return i
}

func idleRight() Item {
	const device = "/dev/cpu_dma_latency"
	i := Item{Area: AreaCPU, Name: "right to forbid idle states", Value: "yes", Effect: "processors stay awake during a run"}
	if unix.Access(device, unix.W_OK) != nil {
		i.Level, i.Value = Yellow, "no"
		i.Effect = "a wake-up from a deep idle state takes some 10 to 100 µs more"
		i.Remedy = "let your group write to " + device + " with a udev rule"
	}
	return i
}
