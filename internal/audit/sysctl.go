package audit

import (
	"fmt"
	"strings"
)

// sysctls reads what macOS and the BSDs show; ok is false where a name is not
// there.
type sysctls struct {
	text   func(name string) (s string, ok bool)
	number func(name string) (n int64, ok bool)
	hz     int64 // of the tick, 0 unknown
}

// items judges what there is. One list serves all of these systems, since a
// name means the same wherever it exists.
func (s sysctls) items() []Item {
	var items []Item
	add := func(i Item, ok bool) {
		if ok {
			items = append(items, i)
		}
	}
	add(s.tick())
	add(s.timeCounter())
	add(s.coalescing())
	add(s.processors())
	add(s.siblings())
	add(s.idle())
	add(s.policy())
	add(s.virtual())
	return items
}

func (s sysctls) tick() (Item, bool) {
	if s.hz <= 0 {
		return Item{}, false
	}
	i := Item{AreaKernel, "tick", fmt.Sprintf("%d Hz", s.hz), "sleeps may end on a tick", "", Green}
	if periodic, ok := s.number("kern.eventtimer.periodic"); ok && periodic == 0 {
		i.Effect = "sleeps do not depend on it (one-shot event timers)"
	} else if s.hz < 1000 {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("sleeps may end up to %d µs late, on a tick", 1_000_000/s.hz)
		i.Remedy = "--timer hybrid or spin"
	}
	return i, true
}

func (s sysctls) timeCounter() (Item, bool) {
	for _, name := range []string{"kern.timecounter.hardware", "kern.cputimer.select"} {
		hardware, ok := s.text(name)
		if !ok || hardware == "" {
			continue
		}
		i := Item{AreaClock, name, hardware, "read in some 10 ns", "", Green}
		if !strings.Contains(strings.ToLower(hardware), "tsc") && !strings.Contains(hardware, "ARM") {
			i.Level = Yellow
			i.Effect = "each reading takes about a microsecond"
			i.Remedy = "see kern.timecounter.choice for a better one"
		}
		return i, true
	}
	return Item{}, false
}

// coalescing is macOS's habit of ending sleeps together.
func (s sysctls) coalescing() (Item, bool) {
	on, ok := s.number("kern.timer.coalescing_enabled")
	i := Item{AreaKernel, "timer coalescing", "off", "sleeps end when they should", "", Green}
	if on != 0 {
		i.Value, i.Level = "on", Yellow
		i.Effect = "sleeps of ordinary threads end together with others, milliseconds late; real-time threads are left out"
		i.Remedy = "run with realtime priority, or sysctl kern.timer.coalescing_enabled=0 as root"
	}
	return i, ok
}

func (s sysctls) processors() (Item, bool) {
	n, ok := s.number("hw.ncpuonline")
	if !ok {
		n, ok = s.number("hw.ncpu")
	}
	i := Item{AreaCPU, "processors", fmt.Sprint(n), "the hot thread and everything else have one each", "", Green}
	if n == 1 {
		i.Level = Yellow
		i.Effect = "the hot thread shares its processor with everything"
		i.Remedy = "use a machine with two processors or more"
	}
	return i, ok && n > 0
}

func (s sysctls) siblings() (Item, bool) {
	on, ok := s.number("hw.smt")
	return Item{AreaCPU, "hyper-threading", "on", "what runs on the sibling slows the hot thread down",
		"sysctl hw.smt=0", Yellow}, ok && on != 0
}

func (s sysctls) idle() (Item, bool) {
	lowest, ok := s.text("dev.cpu.0.cx_lowest")
	i := Item{AreaCPU, "idle states", "down to " + lowest, "leaving them takes no time that is seen here", "", Green}
	if lowest != "C1" {
		i.Level = Yellow
		i.Effect = "a wake-up of an idle processor takes up to some 100 µs longer"
		i.Remedy = "sysctl hw.acpi.cpu.cx_lowest=C1, for the time of the run"
	}
	return i, ok && lowest != ""
}

func (s sysctls) policy() (Item, bool) {
	policy, ok := s.text("hw.perfpolicy")
	i := Item{AreaCPU, "performance policy", policy, "the frequency stays high", "", Green}
	if policy != "high" {
		i.Level = Yellow
		i.Effect = "after a pause the processor runs slowly at first: wake-ups take longer and vary"
		i.Remedy = "sysctl hw.perfpolicy=high, for the time of the run"
	}
	return i, ok && policy != ""
}

// virtual looks for a hypervisor.
func (s sysctls) virtual() (Item, bool) {
	guest, known := s.text("kern.vm_guest")
	present, ok := s.number("kern.hv_vmm_present")
	vendor, _ := s.text("hw.vendor")
	product, _ := s.text("hw.product")
	name := strings.TrimSpace(vendor + " " + product)
	switch {
	case known && guest != "" && guest != "none":
		name = guest
	case ok && present != 0:
		name = "yes"
	case virtualVendor(name):
	default:
		return Item{AreaMachine, "virtual machine", "no sign of one", "the clock and the processors are real", "", Green}, known || ok || name != ""
	}
	return Item{AreaMachine, "virtual machine", name, "the host may stop it at any time, for milliseconds, and no clock inside can tell why",
		"measure on real hardware, or take this as the timing of the virtual machine and its host", Yellow}, true
}
