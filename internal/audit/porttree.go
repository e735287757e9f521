package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lowLatencyBit is ASYNC_LOW_LATENCY of include/uapi/linux/tty_flags.h.
const lowLatencyBit = 1 << 13

// port reads what sysfs shows of a terminal besides what serialport knows.
// Nothing of it opens the port.
func (t tree) port(name string) []Item {
	tty := filepath.Base(name)
	dir := "sys/class/tty/" + tty
	if _, err := os.Stat(t.path(dir)); err != nil {
		return nil
	}
	var items []Item
	if i, ok := t.console(tty); ok {
		items = append(items, i)
	}
	if i, ok := t.lowLatency(dir); ok {
		items = append(items, i)
	}
	if i, ok := t.portInterrupt(dir, tty); ok {
		items = append(items, i)
	}
	return append(items, t.usbDevice(dir)...)
}

// console says whether the kernel itself writes there.
func (t tree) console(tty string) (Item, bool) {
	active, _ := t.line("sys/class/tty/console/active")
	for _, c := range strings.Fields(active) {
		if c == tty {
			return Item{AreaPort, "console", "yes", "the kernel writes its messages between the characters, with interrupts off",
				"use another port, or boot without console=" + tty, Red}, true
		}
	}
	return Item{}, false
}

// lowLatency reads the flag where the serial core shows it.
func (t tree) lowLatency(dir string) (Item, bool) {
	s, ok := t.line(dir + "/flags")
	flags, err := strconv.ParseUint(s, 0, 32)
	if !ok || err != nil {
		return Item{}, false
	}
	i := Item{AreaPort, "low_latency flag", "off", "since Linux 3.15 it changes nothing for a 16550: characters pass a worker of the kernel either way", "", Green}
	if flags&lowLatencyBit != 0 {
		i.Value = "on"
	}
	return i, true
}

// portInterrupt finds the port's interrupt and the thread that serves it.
func (t tree) portInterrupt(dir, tty string) (Item, bool) {
	irq, ok := t.number(dir + "/irq")
	if !ok {
		return Item{}, false
	}
	i := Item{AreaPort, "interrupt", fmt.Sprintf("IRQ %d", irq), "served at once, not as a thread", "", Green}
	if irq == 0 {
		i.Level = Red
		i.Value = "none"
		i.Effect = "the driver polls the UART by a timer: stamps have the step of that timer"
		i.Remedy = "give the port its interrupt in the firmware setup, or with setserial"
		return i, true
	}
	for _, k := range t.tasks() {
		if strings.HasPrefix(k.name, fmt.Sprintf("irq/%d-", irq)) {
			i.Value += fmt.Sprintf(", its thread at real-time priority %d", k.priority)
			i.Effect = "and from there on a worker of the kernel: do not keep their processor busy at a higher priority"
		}
	}
	return i, true
}

// usbDevice looks at the USB device above a terminal.
func (t tree) usbDevice(dir string) (items []Item) {
	device, err := filepath.EvalSymlinks(t.path(dir + "/device"))
	if err != nil {
		return nil
	}
	top, err := filepath.EvalSymlinks(t.path("sys"))
	if err != nil {
		return nil
	}
	for ; len(device) > len(top); device = filepath.Dir(device) {
		if _, err := os.Stat(filepath.Join(device, "idVendor")); err == nil {
			break
		}
	}
	if len(device) <= len(top) {
		return nil
	}
	usb := tree{device}
	if speed, ok := usb.line("speed"); ok {
		items = append(items, usbSpeed(speed))
	}
	if control, ok := usb.line("power/control"); ok && control == "auto" {
		items = append(items, Item{AreaPort, "USB autosuspend", "auto", "an idle adapter may be put to sleep: the first characters after a silence come late",
			"write on to power/control of the device in sysfs", Yellow})
	}
	return items
}

// usbSpeed judges the speed in Mbit/s.
func usbSpeed(speed string) Item {
	i := Item{Area: AreaPort, Name: "USB speed", Value: speed + " Mbit/s", Effect: "characters are fetched once in a microframe of 125 µs"}
	if speed == "12" || speed == "1.5" {
		i.Level = Yellow
		i.Effect = "characters are fetched once in a frame of 1 ms"
		i.Remedy = "nothing but another adapter changes that; take 1 ms as the floor"
	}
	return i
}
