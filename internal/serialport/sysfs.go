package serialport

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sysfs reads what Linux tells about terminals in /sys/class/tty (see
// Documentation/ABI/stable/sysfs-driver-*, testing/sysfs-tty in the kernel).
// It is built everywhere, so that it is tested everywhere.
type sysfs struct{ sys, dev string }

// list gives the real ports: those with a device behind them (consoles and
// pseudo-terminals have none), a node in dev, and a UART where the driver
// tells its type (the 8250 driver keeps places for ports that do not exist).
func (s sysfs) list() ([]Info, error) {
	dir := filepath.Join(s.sys, "class", "tty")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, e := range entries {
		node := filepath.Join(s.dev, e.Name())
		if _, err := os.Stat(node); err != nil {
			continue
		}
		if i, ok := s.describe(filepath.Join(dir, e.Name())); ok {
			i.Name = node
			all = append(all, i)
		}
	}
	return all, nil
}

// describe reads one entry; false if no real port is behind it.
func (s sysfs) describe(entry string) (Info, bool) {
	device, err := filepath.EvalSymlinks(filepath.Join(entry, "device"))
	if err != nil {
		return Info{}, false
	}
	uart, hasType := readText(entry, "type")
	if hasType && uart == "0" {
		return Info{}, false
	}
	i := Info{Driver: driverOf(device), LatencyTimer: -1}
	if hasType {
		i.UART = uartName(uart)
	}
	i.TriggerBytes = readNumber(entry, "rx_trig_bytes", 0)
	i.LatencyTimer = readNumber(device, "latency_timer", -1)
	s.describeUSB(&i, device)
	return i, true
}

// describeUSB looks for the USB device above the port's own.
func (s sysfs) describeUSB(i *Info, device string) {
	top, err := filepath.EvalSymlinks(s.sys)
	if err != nil {
		return
	}
	for dir := device; len(dir) > len(top); dir = filepath.Dir(dir) {
		vid, ok := readText(dir, "idVendor")
		if !ok {
			continue
		}
		pid, _ := readText(dir, "idProduct")
		i.USB = vid + ":" + pid
		i.Serial, _ = readText(dir, "serial")
		i.Manufacturer, _ = readText(dir, "manufacturer")
		i.Product, _ = readText(dir, "product")
		return
	}
}

// driverOf goes past the levels that the serial core puts between a port and
// its hardware (since Linux 6.5: "port" and "ctrl" on the bus serial-base).
func driverOf(device string) string {
	for range 3 {
		bus, err := filepath.EvalSymlinks(filepath.Join(device, "subsystem"))
		if err != nil || filepath.Base(bus) != "serial-base" {
			break
		}
		device = filepath.Dir(device)
	}
	driver, err := filepath.EvalSymlinks(filepath.Join(device, "driver"))
	if err != nil {
		return ""
	}
	return cleaned(filepath.Base(driver))
}

// uartName names a type number of include/uapi/linux/serial.h.
func uartName(number string) string {
	names := map[string]string{
		"1": "8250", "2": "16450", "3": "16550", "4": "16550A", "6": "16C650",
		"7": "16C650V2", "8": "16C750", "10": "16C950", "11": "16654", "12": "16850",
	}
	if name := names[number]; name != "" {
		return name
	}
	return "type " + number
}

// readText reads a one-line file.
func readText(dir, name string) (string, bool) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return cleaned(line), true
}

func readNumber(dir, name string, unknown int) int {
	s, _ := readText(dir, name)
	n, err := strconv.Atoi(s)
	if err != nil {
		return unknown
	}
	return n
}
