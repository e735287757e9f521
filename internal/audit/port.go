package audit

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"serialtiming/internal/serialport"
)

// realName gives the name by which the system's tables know a port: what a
// link such as /dev/serial/by-id/... leads to, COM3 for \\.\com3.
func realName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(strings.TrimPrefix(name, `\\.\`))
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// drivers say what the way through a driver does to timing, by its name on
// Linux, then on Windows.
var drivers = map[string]struct {
	effect string
	level  Level
}{
	"ftdi_sio":   {"USB: characters pass in frames, and wait for the adapter's latency timer", Yellow},
	"ftser2k":    {"USB: characters pass in frames, and wait for the adapter's latency timer", Yellow},
	"cdc_acm":    {"USB: characters pass in frames of 1 ms or 125 µs; the adapter has no timer that could be set", Yellow},
	"usbser":     {"USB: characters pass in frames of 1 ms or 125 µs; the adapter has no timer that could be set", Yellow},
	"cp210x":     {"USB: characters pass in frames; the adapter has no timer that could be set", Yellow},
	"silabser":   {"USB: characters pass in frames; the adapter has no timer that could be set", Yellow},
	"ch341":      {"USB: characters pass in frames; the adapter gathers some", Yellow},
	"ch341ser":   {"USB: characters pass in frames; the adapter gathers some", Yellow},
	"pl2303":     {"USB: characters pass in frames; the adapter gathers some", Yellow},
	"ser2pl":     {"USB: characters pass in frames; the adapter gathers some", Yellow},
	"serial":     {"a UART: its interrupt, then a worker of the kernel, then the reader", Green},
	"serial8250": {"a UART: its interrupt, then a worker of the kernel, then the reader", Green},
}

// portItems judge what serialport knows.
func portItems(info serialport.Info) []Item {
	var items []Item
	add := func(name, value, effect, remedy string, l Level) {
		items = append(items, Item{AreaPort, name, value, effect, remedy, l})
	}
	d := drivers[strings.ToLower(info.Driver)]
	value := info.Driver
	if value == "" {
		value = "unknown"
	}
	if info.USB != "" {
		value += ", USB " + info.USB
		if what := strings.TrimSpace(info.Manufacturer + " " + info.Product); what != "" {
			value += " (" + what + ")"
		}
		if d.effect == "" {
			d.effect, d.level = "USB: characters pass in frames of 1 ms or 125 µs", Yellow
		}
	}
	if d.effect == "" {
		d.effect = "what this driver does to timing is not known here"
	}
	remedy := ""
	if d.level > Green {
		remedy = "where less than a millisecond matters take a port that is not USB"
	}
	add("driver", value, d.effect, remedy, d.level)
	if info.UART != "" {
		items = append(items, uartItem(info.UART))
	}
	if info.TriggerBytes > 0 {
		items = append(items, triggerItem(info.TriggerBytes))
	}
	if info.LatencyTimer >= 0 {
		items = append(items, latencyItem(info.LatencyTimer))
	}
	return items
}

func uartItem(uart string) Item {
	i := Item{Area: AreaPort, Name: "UART", Value: uart, Effect: "it has a FIFO: short stalls of this machine lose no characters"}
	switch uart {
	case "8250", "16450", "16550":
		i.Level = Red
		i.Effect = "no FIFO that works: a character is lost when the machine is held up for one character time"
		i.Remedy = "use a port with a 16550A or better, or a slow baud rate"
	}
	return i
}

// triggerItem judges the level at which the receive FIFO interrupts.
func triggerItem(n int) Item {
	i := Item{AreaPort, "rx_trig_bytes", fmt.Sprint(n), "each character interrupts at once", "", Green}
	if n > 1 {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("a lone character waits 4 character times (4.2 ms at 9600 baud), %d that follow each other come together; the intervals of a slow steady stream do not change", n)
		i.Remedy = "run with --low-latency as root, or write 1 to rx_trig_bytes of the port in sysfs"
	}
	return i
}

// latencyItem judges the timer of an FTDI adapter in milliseconds.
func latencyItem(ms int) Item {
	i := Item{AreaPort, "latency_timer", fmt.Sprintf("%d ms", ms), "characters come about 1 ms late, in USB frames", "", Green}
	if ms > 1 {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("characters come in batches %d ms apart", ms)
		i.Remedy = "run with --low-latency, or set it to 1 in sysfs (on Windows: the port's advanced settings)"
	}
	if ms >= 5 {
		i.Level = Red
	}
	return i
}
