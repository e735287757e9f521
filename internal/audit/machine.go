package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// machine looks at what stands below and beside the kernel.
func (t tree) machine() []Item {
	var items []Item
	for _, look := range []func() (Item, bool){t.virtual, t.quota, t.swap, t.interruptThreads, t.balancer} {
		if i, ok := look(); ok {
			items = append(items, i)
		}
	}
	return items
}

// virtual looks for a hypervisor.
func (t tree) virtual() (Item, bool) {
	info, ok := t.bytes("proc/cpuinfo")
	vendor, _ := t.line("sys/class/dmi/id/sys_vendor")
	product, _ := t.line("sys/class/dmi/id/product_name")
	xen, _ := t.line("sys/hypervisor/type")
	flag := hasFlag(string(info), "hypervisor")
	name := strings.TrimSpace(vendor + " " + product)
	if !flag && xen == "" && !virtualVendor(name) {
		return Item{AreaMachine, "virtual machine", "no sign of one", "the clock and the processors are real", "", Green}, ok
	}
	i := Item{Area: AreaMachine, Name: "virtual machine", Value: "yes", Level: Yellow}
	if name = strings.TrimSpace(name + " " + xen); name != "" {
		i.Value = name
	}
	i.Effect = "the host may stop it at any time, for milliseconds, and no clock inside can tell why"
	i.Remedy = "measure on real hardware, or take this as the timing of the virtual machine and its host"
	stat, _ := t.bytes("proc/stat")
	if share, ok := stealShare(string(stat)); ok && share > 0 {
		i.Value += fmt.Sprintf(", the host took %.2f %% of its time", share*100)
		if share > .01 {
			i.Level = Red
		}
	}
	return i, true
}

// virtualVendor knows hypervisors by what they write into the DMI tables.
func virtualVendor(name string) bool {
	name = strings.ToLower(name)
	for _, v := range []string{"qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "parallels", "virtual machine", "bochs", "amazon ec2", "google compute", "firecracker"} {
		if strings.Contains(name, v) {
			return true
		}
	}
	return false
}

// quota looks at the processor time that a container may use.
func (t tree) quota() (Item, bool) {
	s, ok := t.line("sys/fs/cgroup/cpu.max")
	limit, period, _ := strings.Cut(s, " ")
	q, err := strconv.ParseInt(limit, 10, 64)
	p, err2 := strconv.ParseInt(period, 10, 64)
	if !ok || err != nil || err2 != nil || p <= 0 || q <= 0 {
		return Item{}, false
	}
	return Item{AreaMachine, "container's processor time", fmt.Sprintf("%d of each %d µs", q, p),
		fmt.Sprintf("when it is used up all threads stand still until the %d ms are over", p/1000),
		"start the container without a CPU limit", Red}, true
}

// swap looks at memory that may be on a disk.
func (t tree) swap() (Item, bool) {
	b, ok := t.bytes("proc/swaps")
	if !ok {
		return Item{}, false
	}
	areas, used := swapInUse(string(b))
	i := Item{Area: AreaMemory, Name: "swap", Value: "none", Effect: "memory stays in memory"}
	if areas > 0 {
		i.Value = fmt.Sprintf("%d areas, %d MiB in use", areas, used>>10)
		i.Effect = "memory that is not locked may have to come from a disk: milliseconds"
		if used > 0 {
			i.Level = Yellow
			i.Remedy = "let this program lock its memory (see what was granted), or swapoff -a for the time of the run"
		}
	}
	return i, true
}

// hotPriority is what this program's hot threads ask for (see
// realtime.DefaultRealtime).
const hotPriority = 80

// interruptThreads looks at interrupts that are threads.
func (t tree) interruptThreads() (Item, bool) {
	var n, low, high int
	for _, k := range t.tasks() {
		if !strings.HasPrefix(k.name, "irq/") {
			continue
		}
		if n == 0 || k.priority < low {
			low = k.priority
		}
		n++
		high = max(high, k.priority)
	}
	if n == 0 {
		return Item{}, false
	}
	i := Item{Area: AreaKernel, Name: "interrupt threads", Value: fmt.Sprintf("%d at real-time priority %d", n, low)}
	if high != low {
		i.Value = fmt.Sprintf("%d at real-time priorities %d to %d", n, low, high)
	}
	i.Effect = fmt.Sprintf("below this program's %d: a hot thread that never sleeps keeps the port's own interrupt waiting", hotPriority)
	if high >= hotPriority {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("some are not below this program's %d: they delay its wake-ups", hotPriority)
		i.Remedy = fmt.Sprintf("chrt -f -p 50 PID for those that are not the port's, or --priority realtime:%d", min(high+1, 98))
	}
	return i, true
}

// tasks gives all tasks that can be read.
func (t tree) tasks() (all []task) {
	for _, name := range t.glob("proc/[0-9]*/stat") {
		if b, ok := t.bytes(name); ok {
			if k, ok := parseTask(string(b)); ok {
				all = append(all, k)
			}
		}
	}
	return all
}

// balancer looks for irqbalance, which moves interrupts between processors.
func (t tree) balancer() (Item, bool) {
	for _, k := range t.tasks() {
		if k.name == "irqbalance" {
			return Item{AreaMachine, "irqbalance", "runs", "it moves the port's interrupt to another processor every 10 s",
				"systemctl stop irqbalance, for the time of the run", Yellow}, true
		}
	}
	return Item{}, false
}
