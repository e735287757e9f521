package main

import (
	"fmt"
	"strconv"

	"serialtiming/internal/audit"
	"serialtiming/internal/serialport"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
)

// pathItems are what the log says of the way from the wire to the stamp: the
// port, the clock, and what the audit found.
func pathItems(port serialport.Info) (items []results.KeyValue) {
	add := func(key, value string) {
		if value != "" {
			items = append(items, results.KeyValue{Key: key, Value: value})
		}
	}
	add("usb", port.USB)
	add("uart", port.UART)
	if port.TriggerBytes > 0 {
		add("trigger_bytes", strconv.Itoa(port.TriggerBytes))
	}
	if port.LatencyTimer > 0 {
		add("latency_timer_ms", strconv.Itoa(port.LatencyTimer))
	}
	if ppm, ok := audit.SlewPPM(); ok {
		add("slew_ppm", fmt.Sprintf("%.3f", ppm))
	}
	return append(items, assemble.Audited(port)...)
}
