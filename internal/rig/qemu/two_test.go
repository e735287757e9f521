//go:build rig && linux

package qemu

import (
	"fmt"
	"testing"
	"time"

	"serialtiming/internal/rig/qemu/relay"
	. "serialtiming/internal/rig/qemu/script"
)

// charTime is a character of 10 bits.
func charTime(baud int) time.Duration { return 10 * time.Second / time.Duration(baud) }

// clean is a line at this baud.
func clean(baud int) relay.Line {
	return relay.Line{CharTime: charTime(baud), Slack: 50 * time.Millisecond}
}

// faulty gives the line from sender to receiver, with the deliberate faults of
// a cable in the middle of a run of n characters. A frame of announcement
// comes before them, so the middle is later by that.
func faulty(baud, n int) relay.Line {
	l := clean(baud)
	at := n/2 + 200
	if fault("drop") {
		l.Drop = func(k int) bool { return k == at }
	}
	if fault("noise") {
		l.Noise = func(k int) []byte {
			if k == at {
				return []byte("~")
			}
			return nil
		}
	}
	return l
}

// TestTwoMachines: sender and receiver each in a machine of its own, cabled
// through a relay that takes the line's time for each character.
func TestTwoMachines(t *testing.T) {
	scenario(t)
	tests := []struct {
		name   string
		line   int
		period time.Duration
		mean   time.Duration
		n      int
	}{
		{"every 5 ms at 115200", 115200, fiveMS, fiveMS, 1000},
		{"back to back at 9600", 9600, 0, charTime(9600), 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// All must be right at once but the intervals: the host may hold the
			// line up, so the best of three counts.
			for try := 1; ; try++ {
				r := twoMachines(t, try, tt.line, tt.period, tt.n)
				if tt.period > 0 {
					announced(t, r, tt.period)
				} else {
					unscheduled(t, r)
				}
				if try == tries || near(r, tt.mean, 0.01) && nearMiddle(r, tt.mean, 0.15) {
					mean(t, r, tt.mean, 0.01)
					middle(t, r, tt.mean, 0.15)
					return
				}
				t.Logf("try %d: the intervals are not yet right", try)
			}
		})
	}
}

const tries = 3

// twoMachines is one run between two guests.
func twoMachines(t *testing.T, try, baud int, period time.Duration, n int) RunReport {
	t.Helper()
	a, b, err := RelayedCable(faulty(baud, n), clean(baud))
	if err != nil {
		t.Fatal(err)
	}
	const port, limit = "/dev/ttyS1", time.Minute
	name := fmt.Sprintf("%s-%d-", guestName(t), try)
	speed := []string{"--baud", fmt.Sprint(baud)}
	quiet := boot(t, Guest{Name: name + "receiver", Kernel: Cloud, UARTs: []UART{b}, Limit: 2 * limit, Script: Script{Steps: steps(
		Hold(port), trigger(port, 1), Count("before", port),
		receiver("two", port, speed...), listening("two"), Mark("listening"),
		Wait("two-receiver", limit), Count("after", port))}})
	mark(t, quiet, "listening")
	tested := boot(t, Guest{Name: name + "sender", Kernel: Cloud, UARTs: []UART{a}, Limit: 2 * limit, Script: Script{Steps: steps(
		sender("two", port, period, append(speed, "--count", fmt.Sprint(n))...),
		Wait("two-sender", limit))}})
	sent, heard := outcome(t, tested), outcome(t, quiet)
	s, r := both(t, sent, heard, "two")
	whole(t, s, r, runLog(t, heard, "two-receiver.csv"), int64(n))
	noErrors(t, heard, r)
	return r
}

// noErrors: the driver counted none over the run, and the report says so.
func noErrors(t *testing.T, o *Outcome, r RunReport) {
	t.Helper()
	driverClean(t, o, r)
	equal(t, "errors.overrun", r.Errors.Overrun, 0)
	equal(t, "errors.framing", r.Errors.Framing, 0)
}

// driverClean compares the driver's counters before and after the run.
func driverClean(t *testing.T, o *Outcome, r RunReport) {
	t.Helper()
	before, after := twoCounters(t, o)
	if after.Overrun != before.Overrun || after.Framing != before.Framing || after.Break != before.Break || after.BufferOverrun != before.BufferOverrun {
		t.Errorf("driver's counters went from %+v to %+v", before, after)
	}
	if int64(after.RX-before.RX) < r.Characters {
		t.Errorf("the driver saw %d characters, the receiver %d", after.RX-before.RX, r.Characters)
	}
}

// announced: the period that the receiver heard is the one that was asked for.
func announced(t *testing.T, r RunReport, want time.Duration) {
	t.Helper()
	if r.Period.Announced == nil || *r.Period.Announced != float64(want) {
		t.Errorf("heard period %s, want %v", figure(r.Period.Announced), want)
	}
}

// unscheduled: back to back there is no schedule, so nothing is late.
func unscheduled(t *testing.T, r RunReport) {
	t.Helper()
	if r.Period.PPM != nil || r.Late != nil && r.Late.Count != nil || r.Lateness != nil && r.Lateness.Mean != nil {
		t.Errorf("lateness, late and ppm of a run without a schedule are not null")
	}
}
