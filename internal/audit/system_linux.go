package audit

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"serialtiming/internal/serialport"
)

// here is this machine's tree.
var here = tree{"/"}

func system() []Item {
	items := here.kernel(calls())
	items = append(items, here.cpus()...)
	items = append(items, here.machine()...)
	items = append(items, rights()...)
	if i, ok := slew(); ok {
		items = append(items, i)
	}
	if i, ok := managementInterrupts(); ok {
		items = append(items, i)
	}
	return items
}

func portSystem(info serialport.Info) []Item { return here.port(info.Name) }

// calls asks the kernel for the steps of its clocks.
func calls() (f kernelFacts) {
	var t unix.Timespec
	if unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &t) == nil {
		f.tickNS = t.Nano()
	}
	if unix.ClockGetres(unix.CLOCK_MONOTONIC, &t) == nil {
		f.resolutionNS = t.Nano()
	}
	return f
}

// slew looks at what the time service does to the clock.
func slew() (Item, bool) {
	t, ok := timex()
	if !ok {
		return Item{}, false
	}
	return slewItem(timexPPM(t), t.Status&unix.STA_UNSYNC == 0), true
}

// timex reads the state of the clock (adjtimex(2) without modes changes
// nothing).
func timex() (t unix.Timex, ok bool) {
	_, err := unix.Adjtimex(&t)
	return t, err == nil
}

func timexPPM(t unix.Timex) float64 {
	const nominal = 1_000_000 / 100 // µs in a tick of USER_HZ
	return float64(t.Freq)/65536 + (float64(t.Tick)/nominal-1)*1e6
}

func slewPPM() (float64, bool) {
	t, ok := timex()
	return timexPPM(t), ok
}

// managementInterrupts reads MSR_SMI_COUNT (0x34), which Intel's processors
// have. It takes root and the module msr.
func managementInterrupts() (Item, bool) {
	cpuinfo, _ := here.bytes("proc/cpuinfo")
	if !strings.Contains(string(cpuinfo), "GenuineIntel") {
		return Item{}, false
	}
	f, err := os.Open("/dev/cpu/0/msr")
	if err != nil {
		return Item{AreaMachine, "system management interrupts", "cannot be read",
			"the firmware may stop all processors for some 100 µs, and no clock inside shows it",
			"modprobe msr, and run check as root", Green}, true
	}
	defer f.Close()
	var b [8]byte
	if _, err := f.ReadAt(b[:], 0x34); err != nil {
		return Item{}, false
	}
	text, _ := here.line("proc/uptime")
	up, _, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil {
		return Item{}, false
	}
	return smi(uint64(binary.LittleEndian.Uint32(b[:])), seconds), true
}

func timerResolution() (Resolution, bool) { return Resolution{}, false }
