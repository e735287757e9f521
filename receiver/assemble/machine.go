package assemble

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"serialtiming/internal/audit"
	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/serialport"
	"serialtiming/protocol"
	"serialtiming/results"
)

// Path gives the items of a log that say what lies between the wire and the
// stamp: the port, the clock, and what on this machine bears on the timing.
func Path(port serialport.Info) []results.KeyValue {
	var k items
	k.text("usb", port.USB)
	k.text("uart", port.UART)
	k.number("trigger_bytes", int64(max(port.TriggerBytes, 0)))
	k.number("latency_timer_ms", int64(max(port.LatencyTimer, 0)))
	k.always("clock_step_ns", int64(clock.Step()))
	k.always("clock_cost_ns", int64(clock.Cost()))
	if ppm, ok := audit.SlewPPM(); ok {
		k.text("slew_ppm", fmt.Sprintf("%.3f", ppm))
	}
	return append(k, audited(port)...)
}

// audited gives what the audit found.
func audited(port serialport.Info) []results.KeyValue {
	var k items
	for _, i := range audit.Sorted(append(audit.Port(port), audit.System()...)) {
		k.text("audit", formatAudit(results.Audit{
			Level: i.Level.String(), Area: i.Area, Name: i.Name, Value: i.Value, Effect: i.Effect, Remedy: i.Remedy,
		}))
	}
	return k
}

// Machine gives the items of a log that name the port and its settings, the
// machine and the clock; zero is the log's zero.
func Machine(program, port, driver string, baud int, line protocol.Line, zero clock.Instant) []results.KeyValue {
	host, _ := os.Hostname()
	var k items
	k.text("port", port)
	k.text("driver", driver)
	k.always("baud", int64(baud))
	k.text("line", line.String())
	k.text("clock", clock.Name())
	k.always("zero_ns", int64(zero))
	k.text("host", host)
	k.text("os", runtime.GOOS+"/"+runtime.GOARCH)
	k.text("version", program+" "+cli.Version())
	k.text("started", time.Now().UTC().Format(time.RFC3339Nano))
	return k
}
