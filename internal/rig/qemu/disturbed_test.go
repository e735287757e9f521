//go:build rig && linux

package qemu

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestDisturbed holds up the receiver, its whole machine, or the sender for
// 30 ms. The first two are the receiver's own doing: the arrivals that it
// touches carry the flag d, in the log and in the report. The sender's is what
// is to be measured: no arrival of it is flagged.
func TestDisturbed(t *testing.T) {
	scenario(t)
	tests := []struct {
		run  string
		hold Step
		mine bool // the receiver's own doing
	}{
		{"receiver-stopped", Stall("receiver-stopped-receiver", stallFor), true},
		{"machine-starved", Hog(stallFor), true},
		{"sender-stopped", Stall("sender-stopped-sender", stallFor), false},
	}
	work := steps(Loop(looped), trigger(looped, 1))
	for _, tt := range tests {
		work = append(work, steps(
			receiver(tt.run, looped, "--warmup", "700ms"), listening(tt.run),
			sender(tt.run, looped, fiveMS, "--count", "600"),
			AwaitTX(looped, untilMiddle, 10*time.Second), Sleep(fiveMS+stallAfter), tt.hold,
			Wait(tt.run+"-sender", 20*time.Second), Wait(tt.run+"-receiver", 20*time.Second))...)
	}
	o := outcome(t, boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: []UART{Unwired()}, Limit: 2 * time.Minute, Script: Script{Steps: work}}))
	for _, tt := range tests {
		t.Run(tt.run, func(t *testing.T) {
			_, r := both(t, o, o, tt.run)
			equal(t, "characters", &r.Characters, stallCount)
			equal(t, "lost", r.Lost, 0)
			disturbed(t, r, runLog(t, o, tt.run+"-receiver.csv"), tt.mine)
		})
	}
}

// disturbed finds the stall in the log and asserts whether it is called the
// receiver's own.
func disturbed(t *testing.T, r RunReport, l Log, mine bool) {
	t.Helper()
	v := intervals(l)
	at := slices.Index(v, slices.Max(v))
	between(t, "the stall's interval", v[at], stallFor-fiveMS, stallFor+2*fiveMS)
	var flagged []int // events
	n := 0
	for _, e := range l.Events {
		if e.Batch == 0 {
			continue
		}
		if strings.Contains(e.Flags, "d") {
			flagged = append(flagged, n)
		}
		n++
	}
	t.Logf("the stall ended with event %d; flagged are %v; max %s, undisturbed %s",
		at+1, flagged, figure(r.Interval.Max), figure(r.Interval.MaxUndisturbed))
	equal(t, "disturbed", &r.Disturbed, int64(len(flagged)))
	if slices.Contains(flagged, at+1) != mine {
		t.Errorf("the stall ended with event %d, flagged are %v", at+1, flagged)
	}
	if r.Interval.Max == nil || r.Interval.MaxUndisturbed == nil {
		t.Fatal("max or max_undisturbed is null")
	}
	if equals := *r.Interval.Max == *r.Interval.MaxUndisturbed; equals == mine {
		t.Errorf("max %s, undisturbed %s", figure(r.Interval.Max), figure(r.Interval.MaxUndisturbed))
	}
	for _, i := range flagged { // nothing else is called disturbed
		if !mine || i < at || i > at+3 {
			t.Errorf("event %d is flagged, the stall ended with %d", i, at+1)
		}
	}
}
