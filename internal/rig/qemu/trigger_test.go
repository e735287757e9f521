//go:build rig && linux

package qemu

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestTriggerOneWay: a lone character at 9600 is handed on at once with a
// receive trigger of 1, and after four silent character times with 14 (the
// FIFO's timeout: 4.17 ms); the intervals are the same.
func TestTriggerOneWay(t *testing.T) {
	scenario(t)
	run := func(name string, n int) []Step {
		return steps(trigger(looped, n), Read(name+" trigger", "/sys/class/tty/ttyS1/rx_trig_bytes"),
			exchange(name, looped, looped, 10*time.Millisecond, 20*time.Second, "--baud", "9600", "--count", "200"))
	}
	o := outcome(t, boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: []UART{Unwired()}, Limit: time.Minute,
		Script: Script{Steps: steps(Loop(looped), run("one", 1), run("fourteen", 14))}}))
	for _, x := range []struct {
		run       string
		low, high time.Duration
		says      string // in the error budget
	}{
		{"one", 20 * time.Microsecond, 400 * time.Microsecond, "trigger 1)"},
		{"fourteen", 4100 * time.Microsecond, 4700 * time.Microsecond, "trigger 14 delays each lone character by the same"},
	} {
		t.Run(x.run, func(t *testing.T) {
			s, r := both(t, o, o, x.run)
			heard := runLog(t, o, x.run+"-receiver.csv")
			whole(t, s, r, heard, 200)
			v := oneWay(t, runLog(t, o, x.run+"-sender.csv"), heard)
			t.Logf("one way p1 %.1f, p50 %.1f, p99 %.1f µs", micro(quantile(v, 0.01)), micro(quantile(v, 0.5)), micro(quantile(v, 0.99)))
			between(t, "one way p1", quantile(v, 0.01), x.low, x.high)
			between(t, "one way p50", quantile(v, 0.5), x.low, x.high)
			exact(t, heard, 10*time.Millisecond, 100*time.Microsecond)
			fifoLine(t, r, x.says, 0)
		})
	}
}

// oneWay lays two logs of one machine on each other: woke to arrived, in ns.
func oneWay(t *testing.T, sent, heard Log) []int64 {
	t.Helper()
	zs, zr := sent.Int("zero_ns"), heard.Int("zero_ns")
	if zs <= 0 || zr <= 0 {
		t.Fatalf("zero_ns of the sender's log is %d, of the receiver's %d", zs, zr)
	}
	if len(sent.Events) != len(heard.Events) {
		t.Fatalf("%d rows sent, %d heard", len(sent.Events), len(heard.Events))
	}
	var out []int64
	for i := range sent.Events {
		out = append(out, heard.Events[i].Arrived+zr-sent.Events[i].Woke-zs)
	}
	return out
}

// fifoLine asserts what the error budget says of the receive FIFO.
func fifoLine(t *testing.T, r RunReport, says string, amount time.Duration) {
	t.Helper()
	if r.Budget == nil {
		t.Fatal("no error budget")
	}
	for _, l := range r.Budget.Lines {
		if l.Item != "receive FIFO" {
			continue
		}
		t.Logf("receive FIFO ± %s: %s", figure(l.Amount), l.Applies)
		if !strings.Contains(l.Applies, says) || l.Amount == nil || math.Abs(*l.Amount-float64(amount)) > 1e3 {
			t.Errorf("the budget says of the FIFO ± %s, %q; want ± %v, %q", figure(l.Amount), l.Applies, amount, says)
		}
		return
	}
	t.Errorf("no line of the receive FIFO in %+v", r.Budget.Lines)
}

// TestTriggerBatches: back to back at 9600, a trigger of 1 gives single
// characters and 14 gives batches of 14, which the report names with their
// cause. The line's pace is the host's, so this one runs in real time, and a
// few characters may come together.
func TestTriggerBatches(t *testing.T) {
	scenario(t)
	const n = 2000 // some 140 batches: findings need 100
	for _, x := range []struct {
		name      string
		trigger   int
		low, high int64 // characters of the middle event
		budget    time.Duration
		says      string
	}{
		{"one", 1, 1, 1, 0, "trigger 1)"},
		{"fourteen", 14, 13, 16, 13 * charTime(9600), "trigger 14: characters that follow each other"},
	} {
		t.Run(x.name, func(t *testing.T) {
			a, b, err := RelayedCable(faulty(9600, n), clean(9600))
			if err != nil {
				t.Fatal(err)
			}
			const from, to = "/dev/ttyS1", "/dev/ttyS2"
			o := outcome(t, boot(t, Guest{Kernel: Cloud, UARTs: []UART{a, b}, Limit: time.Minute, Script: Script{Steps: steps(
				trigger(to, x.trigger), exchange("batch", from, to, 0, 30*time.Second, "--baud", "9600", "--count", fmt.Sprint(n)))}}))
			s, r := both(t, o, o, "batch")
			l := runLog(t, o, "batch-receiver.csv")
			whole(t, s, r, l, n)
			got := quantile(batches(l), 0.5)
			t.Logf("%d events of %d characters, the middle one of %d", r.Events, r.Characters, got)
			if got < x.low || got > x.high {
				t.Errorf("the middle event has %d characters, want %d to %d", got, x.low, x.high)
			}
			fifoLine(t, r, x.says, x.budget)
			if named := code(r, "fifo-trigger"); named != (x.trigger > 1) {
				t.Errorf("finding fifo-trigger: %v, with a trigger of %d", named, x.trigger)
			}
		})
	}
}

// code says whether a report has a finding.
func code(r RunReport, code string) bool {
	for _, f := range r.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// batches are the characters of each event.
func batches(l Log) []int64 {
	var out []int64
	for _, e := range l.Events {
		if e.Batch > 0 {
			out = append(out, e.Batch)
		}
	}
	return out
}
