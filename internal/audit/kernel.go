package audit

import (
	"fmt"
	"strings"
)

// kernelFacts are what system calls tell of a Linux kernel; 0 is unknown.
type kernelFacts struct {
	tickNS       int64 // resolution of CLOCK_MONOTONIC_COARSE: the tick
	resolutionNS int64 // of CLOCK_MONOTONIC: 1 with high-resolution timers
}

// config gives the kernel's configuration where it can be read.
func (t tree) config() map[string]string {
	names := []string{"proc/config.gz"}
	if release, ok := t.line("proc/sys/kernel/osrelease"); ok && !strings.Contains(release, "/") {
		names = append(names, "boot/config-"+release, "lib/modules/"+release+"/config", "usr/lib/modules/"+release+"/config")
	}
	for _, name := range names {
		if b, ok := t.bytes(name); ok {
			if c, ok := parseConfig(b); ok {
				return c
			}
		}
	}
	return nil
}

// kernel looks at what the kernel was built and booted for.
func (t tree) kernel(f kernelFacts) []Item {
	c := t.config()
	items := []Item{t.tick(c, f), t.nohz(c), t.preempt(c)}
	if i, ok := t.throttling(); ok {
		items = append(items, i)
	}
	if i, ok := t.clockSource(); ok {
		items = append(items, i)
	}
	return items
}

// tick looks at CONFIG_HZ and at what still depends on it.
func (t tree) tick(c map[string]string, f kernelFacts) Item {
	i := Item{Area: AreaKernel, Name: "tick"}
	switch {
	case c["CONFIG_HZ"] != "":
		i.Value = c["CONFIG_HZ"] + " Hz"
	case f.tickNS > 0:
		i.Value = fmt.Sprintf("%d Hz (from the coarse clock)", (1e9+f.tickNS/2)/f.tickNS)
	default:
		i.Value = "unknown"
	}
	high := c["CONFIG_HIGH_RES_TIMERS"] == "y"
	switch {
	case f.resolutionNS > 1000 || c != nil && !high:
		i.Level = Red
		i.Value += ", no high-resolution timers"
		i.Effect = "every sleep ends on a tick"
		i.Remedy = "boot without highres=off, or use a kernel with CONFIG_HIGH_RES_TIMERS; --timer spin does not sleep"
	case f.resolutionNS > 0 || high:
		i.Value += ", high-resolution timers"
		i.Effect = "sleeps do not depend on the tick; its interrupt costs some µs each time"
	default:
		i.Level = Yellow
		i.Effect = "without high-resolution timers every sleep would end on a tick"
		i.Remedy = "compare the timers: sender probe timer"
	}
	return i
}

// nohz says whether the tick stops.
func (t tree) nohz(c map[string]string) Item {
	i := Item{Area: AreaKernel, Name: "nohz"}
	full, _ := t.line("sys/devices/system/cpu/nohz_full")
	cmdline, _ := t.line("proc/cmdline")
	off, _ := argument(cmdline, "nohz")
	switch {
	case full != "" && full != "(null)":
		i.Value = "full on CPU " + full
		i.Effect = "no tick on these CPUs while one task runs there: use --cpu with one of them"
	case off == "off" || c["CONFIG_HZ_PERIODIC"] == "y":
		i.Value = "off"
		i.Effect = "the tick interrupts idle CPUs too, some µs each time"
	case c["CONFIG_NO_HZ_IDLE"] == "y" || c["CONFIG_NO_HZ_FULL"] == "y" || c["CONFIG_NO_HZ"] == "y":
		i.Value = "idle"
		i.Effect = "the tick stops on idle CPUs; starting it again makes a wake-up some µs longer"
	default:
		i.Value = "unknown"
		i.Effect = "whether idle CPUs stop their tick cannot be read"
	}
	return i
}

// preempt looks at how long the kernel may keep a CPU from a real-time thread.
func (t tree) preempt(c map[string]string) Item {
	i := Item{Area: AreaKernel, Name: "preemption", Value: t.preemptModel(c)}
	const remedy = "use a PREEMPT_RT kernel, or boot with preempt=full"
	switch i.Value {
	case "rt":
		i.Effect = "real-time threads preempt nearly everything"
	case "full", "lazy":
		i.Level, i.Remedy = Yellow, "use a PREEMPT_RT kernel where tails matter"
		i.Effect = "sections that cannot be preempted make tails of some 100 µs"
	case "none":
		i.Level, i.Remedy = Red, remedy
		i.Effect = "a system call of any other task can delay a wake-up by milliseconds"
	default:
		i.Level, i.Remedy = Yellow, remedy
		i.Effect = "long system calls of other tasks can delay a wake-up by a millisecond and more"
	}
	return i
}

// preemptModel gives rt, full, lazy, voluntary, none, or what can be said.
func (t tree) preemptModel(c map[string]string) string {
	version, _ := t.line("proc/version")
	if s, _ := t.line("sys/kernel/realtime"); s == "1" || versionPreempt(version) == "rt" {
		return "rt"
	}
	if s, ok := t.line("sys/kernel/debug/sched/preempt"); ok && parsePreempt(s) != "" {
		return parsePreempt(s)
	}
	cmdline, _ := t.line("proc/cmdline")
	if s, ok := argument(cmdline, "preempt"); ok {
		return s
	}
	for _, o := range []struct{ option, word string }{
		{"CONFIG_PREEMPT_RT", "rt"}, {"CONFIG_PREEMPT_LAZY", "lazy"}, {"CONFIG_PREEMPT_VOLUNTARY", "voluntary"},
		{"CONFIG_PREEMPT_NONE", "none"}, {"CONFIG_PREEMPT", "full"},
	} {
		if c[o.option] == "y" {
			return o.word
		}
	}
	switch v := versionPreempt(version); v {
	case "dynamic":
		return "dynamic, which one cannot be read"
	case "":
		return "none or voluntary"
	default:
		return v
	}
}

// throttling looks at what the kernel takes from real-time threads.
func (t tree) throttling() (Item, bool) {
	runtime, ok := t.number("proc/sys/kernel/sched_rt_runtime_us")
	period, ok2 := t.number("proc/sys/kernel/sched_rt_period_us")
	i := Item{Area: AreaKernel, Name: "real-time throttling"}
	switch {
	case !ok || !ok2:
		return i, false
	case runtime < 0:
		i.Value = "off"
		i.Effect = "a real-time thread that spins keeps its CPU for good: nothing else runs there"
	case runtime >= period:
		i.Value = fmt.Sprintf("%d of %d µs", runtime, period)
		i.Effect = "real-time threads may use all of the time"
	default:
		i.Level = Yellow
		i.Value = fmt.Sprintf("%d of %d µs", runtime, period)
		i.Effect = fmt.Sprintf("a real-time thread that spins stands still for %d ms of each %d ms (from about Linux 6.12 on only while ordinary tasks starve)",
			(period-runtime)/1000, period/1000)
		i.Remedy = "sleep instead of spinning (--timer absolute or hybrid), or write -1 to /proc/sys/kernel/sched_rt_runtime_us"
	}
	return i, true
}

// clockSource looks at what the clock is read from.
func (t tree) clockSource() (Item, bool) {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	now, ok := t.line(dir + "current_clocksource")
	if !ok || now == "" {
		return Item{}, false
	}
	i := Item{Area: AreaClock, Name: "clock source", Value: now}
	available, _ := t.line(dir + "available_clocksource")
	switch now {
	case "tsc", "arch_sys_counter", "riscv_clocksource", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase":
		i.Effect = "read without a system call in some 10 ns"
	case "jiffies":
		i.Level = Red
		i.Effect = "stamps have the step of the kernel's tick"
		i.Remedy = "find out from the kernel log why no better one is used; there are: " + available
	default:
		i.Level = Yellow
		i.Effect = "each reading takes about a microsecond, and a system call"
		i.Remedy = "see in the kernel log why the tsc is not used; there are: " + available
	}
	return i, true
}
