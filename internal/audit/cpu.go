package audit

import (
	"fmt"
	"slices"
	"strings"
)

const cpuDir = "sys/devices/system/cpu/"

// cpus looks at what the processors do to a wake-up.
func (t tree) cpus() []Item {
	var items []Item
	for _, look := range []func() (Item, bool){t.online, t.governor, t.idle, t.isolated, t.siblings} {
		if i, ok := look(); ok {
			items = append(items, i)
		}
	}
	return items
}

func (t tree) online() (Item, bool) {
	list, ok := t.line(cpuDir + "online")
	n, valid := parseCPUList(list)
	if !ok || !valid || n == 0 {
		return Item{}, false
	}
	i := Item{AreaCPU, "processors", fmt.Sprint(n), "the hot thread and everything else have one each", "", Green}
	if n == 1 {
		i.Level = Yellow
		i.Effect = "the hot thread shares its processor with everything, its own driver's work too: --timer spin is refused"
		i.Remedy = "use a machine with two processors or more"
	}
	return i, true
}

// governor looks at the frequency.
func (t tree) governor() (Item, bool) {
	count := map[string]int{}
	for _, name := range t.glob(cpuDir + "cpu[0-9]*/cpufreq/scaling_governor") {
		if s, ok := t.line(name); ok && s != "" {
			count[s]++
		}
	}
	if len(count) == 0 {
		return Item{}, false
	}
	i := Item{Area: AreaCPU, Name: "frequency governor", Value: counted(count)}
	i.Effect = "the frequency stays high"
	if len(count) > 1 || count["performance"] == 0 {
		i.Level = Yellow
		i.Effect = "after a pause the processor runs slowly at first: wake-ups take longer and vary"
		i.Remedy = "cpupower frequency-set -g performance, for the time of the run"
	}
	return i, true
}

// counted writes "powersave on 4, performance on 2".
func counted(count map[string]int) string {
	var words []string
	for w := range count {
		words = append(words, w)
	}
	slices.Sort(words)
	if len(words) == 1 {
		return words[0]
	}
	for i, w := range words {
		words[i] = fmt.Sprintf("%s on %d", w, count[w])
	}
	return strings.Join(words, ", ")
}

// idle looks at the deepest idle state that may be entered.
func (t tree) idle() (Item, bool) {
	driver, _ := t.line(cpuDir + "cpuidle/current_driver")
	var name string
	deepest := int64(-1)
	for _, dir := range t.glob(cpuDir + "cpu[0-9]*/cpuidle/state[0-9]*") {
		us, ok := t.number(dir + "/latency")
		if disabled, _ := t.number(dir + "/disable"); !ok || disabled != 0 {
			continue
		}
		if us > deepest {
			deepest = us
			name, _ = t.line(dir + "/name")
		}
	}
	i := Item{Area: AreaCPU, Name: "idle states"}
	switch {
	case deepest >= 0:
		i.Value = fmt.Sprintf("down to %s, out of it in %d µs", name, deepest)
	case driver != "" && driver != "none":
		i.Value = driver + ", its states cannot be read"
	default:
		return i, false
	}
	i.Effect = "leaving them takes no time that is seen here"
	if deepest > 10 {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("a wake-up of an idle processor takes up to %d µs longer", deepest)
		i.Remedy = "high and realtime priority ask for none during a run (/dev/cpu_dma_latency); else boot with processor.max_cstate=1"
	}
	return i, true
}

func (t tree) isolated() (Item, bool) {
	list, ok := t.line(cpuDir + "isolated")
	if !ok {
		return Item{}, false
	}
	if list == "" || list == "(null)" {
		return Item{AreaCPU, "isolated processors", "none", "other tasks may run on the hot thread's processor; it preempts them if it has real-time priority",
			"where tails matter boot with isolcpus=N and run with --cpu N", Green}, true
	}
	return Item{AreaCPU, "isolated processors", list, "no other task is put there", "run with --cpu and one of them", Green}, true
}

// siblings looks at processors that share a core.
func (t tree) siblings() (Item, bool) {
	if active, ok := t.number(cpuDir + "smt/active"); !ok || active == 0 {
		return Item{}, false
	}
	return Item{AreaCPU, "hyper-threading", "on", "what runs on the sibling slows the hot thread down by up to a half",
		"leave the sibling idle, or write off to /sys/devices/system/cpu/smt/control", Yellow}, true
}

// smi judges the count of system management interrupts since the boot.
func smi(count uint64, uptimeSeconds float64) Item {
	i := Item{Area: AreaMachine, Name: "system management interrupts", Value: fmt.Sprintf("%d since the boot", count)}
	i.Effect = "the firmware does not stop this machine"
	if count == 0 || uptimeSeconds <= 0 {
		return i
	}
	rate := float64(count) / uptimeSeconds
	i.Effect = fmt.Sprintf("the firmware stops all processors, for up to some 100 µs, %.3g times a second in the mean", rate)
	if rate > 1./3600 {
		i.Level = Yellow
		i.Remedy = "look for legacy USB, power and fan settings in the firmware setup"
	}
	if rate > 1 {
		i.Level = Red
	}
	return i
}
