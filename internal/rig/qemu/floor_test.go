//go:build rig && linux

package qemu

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestFloor: the floor that the receiver measured before the run covers the
// error of 99 % of its intervals, and is at most three times that error. What
// an interval was on the wire is known: the guest's init writes the characters
// into the UART itself, above all programs. Where its one processor is busy the
// error comes in lumps, as the receiver's housekeeping falls together with an
// arrival, and two seconds know its p99 but roughly.
func TestFloor(t *testing.T) {
	scenario(t)
	for _, x := range []struct {
		name  string
		least float64 // of the error
		load  []Step
		end   []Step
	}{
		{name: "quiet guest", least: 1},
		{name: "busy guest", least: .5,
			load: steps(Start("load", "/bin/sender", "probe", "spin", "--force", "--priority", "low", "--duration", "1m")),
			end:  steps(Signal("load", 2))},
	} {
		t.Run(x.name, func(t *testing.T) {
			const n, base = 2000, 0x2f8 // of ttyS1
			o := outcome(t, boot(t, Guest{Kernel: Full, Virtual: true, UARTs: []UART{Unwired()}, Limit: 3 * time.Minute, Script: Script{Steps: steps(
				Loop(looped), trigger(looped, 1), x.load,
				receiver("floor", looped, "--warmup", "2s", "--count", fmt.Sprint(n)),
				Sleep(4*time.Second), listening("floor"), // looking for its log would disturb the warm-up
				Emit("floor", base, n, 5003*time.Microsecond), // no whole number of the kernel's ticks
				Wait("floor-receiver", 20*time.Second), x.end)}}))
			exitStatus(t, o, "floor-receiver", "exit status 0")
			l := runLog(t, o, "floor-receiver.csv")
			inOrder(t, l, n)
			floorHolds(t, l, emitted(t, o, "floor"), x.least)
		})
	}
}

// floorHolds compares the floor with what the receiver made of the intervals.
func floorHolds(t *testing.T, l Log, wire [][2]int64, least float64) {
	t.Helper()
	if len(l.Events) != len(wire) {
		t.Fatalf("%d characters heard of %d", len(l.Events), len(wire))
	}
	var wrong, unsure []int64
	for i := 1; i < len(wire); i++ {
		d := l.Events[i].Arrived - l.Events[i-1].Arrived - (wire[i][0] - wire[i-1][0])
		wrong = append(wrong, max(d, -d))
		unsure = append(unsure, wire[i][1]-wire[i][0])
	}
	// The wire's own instants are known to a reading of the clock.
	floor, p99 := l.Int("floor_ns"), quantile(wrong, .99)-2*l.Int("clock_cost_ns")
	t.Logf("floor %.1f µs (%s); error of an interval p50 %.1f, p90 %.1f, p99 %.1f, max %.1f µs; on the wire known to %.1f µs",
		micro(floor), l.Keys["floor_by"], micro(quantile(wrong, .5)), micro(quantile(wrong, .9)), micro(p99), micro(quantile(wrong, 1)), micro(quantile(unsure, .5)))
	if float64(floor) < least*float64(p99) {
		t.Errorf("1 %% of the intervals are wrong by %.1f µs and more, the floor is %.1f µs", micro(p99), micro(floor))
	}
	if floor > 3*p99 {
		t.Errorf("the floor is %.1f µs, the error of 99 %% of the intervals at most %.1f µs", micro(floor), micro(p99))
	}
}

// emitted are the instants of a step Emit.
func emitted(t *testing.T, o *Outcome, name string) (at [][2]int64) {
	t.Helper()
	r, err := o.Step("emit", name)
	if err == nil {
		err = json.Unmarshal([]byte(r.Value), &at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}
