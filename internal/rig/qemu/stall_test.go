//go:build rig && linux

package qemu

import (
	"slices"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestStall holds the sender up for 30 ms, about 2 ms behind a character, and
// looks for the very pattern of each timer's policy. With g the character
// before, the one due at g+5 goes when the stall ends, say at g+32, and then
//
//	skip:  the grid goes on, the next at g+35; 10 to 30 were missed: five
//	shift: the grid moves, the next at g+37; none was missed
func TestStall(t *testing.T) {
	scenario(t)
	tests := []struct {
		timer  string
		how    string
		missed int64
		skip   bool
	}{
		{"absolute", "stopped", 5, true},
		{"absolute", "starved", 5, true},
		{"periodic", "stopped", 5, true},
		{"periodic", "starved", 5, true},
		{"sleep", "stopped", 0, false},
		{"sleep", "starved", 0, false},
	}
	work := steps(Loop(looped), trigger(looped, 1))
	for _, tt := range tests {
		work = append(work, stalled(tt.timer, tt.how)...)
	}
	o := outcome(t, boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: []UART{Unwired()}, Limit: 2 * time.Minute, Script: Script{Steps: work}}))
	for _, tt := range tests {
		run := tt.timer + "-" + tt.how
		t.Run(run, func(t *testing.T) {
			s, r := both(t, o, o, run)
			l := runLog(t, o, run+"-receiver.csv")
			whole(t, s, r, l, stallCount)
			equal(t, "missed", s.Missed, tt.missed)
			stallPattern(t, l, tt.skip)
		})
	}
}

const (
	stallCount = 600
	stallFor   = 30 * time.Millisecond
	stallAfter = 2 * time.Millisecond
	// untilMiddle: the announcement before the run is some 450 characters.
	untilMiddle = 750

	// The policies differ by milliseconds; what the machine's own work adds
	// does not. A single other interval may be longer by more of that.
	stallWithin = 500 * time.Microsecond
	otherWithin = time.Millisecond
)

// stalled is a run that is held up once: the fault in the policy strikes here.
func stalled(timer, how string) []Step {
	run := timer + "-" + how
	if fault("policy") {
		timer = map[string]string{"absolute": "sleep", "periodic": "sleep", "sleep": "absolute"}[timer]
	}
	hold := Stall(run+"-sender", stallFor)
	if how == "starved" {
		hold = Hog(stallFor)
	}
	return steps(
		receiver(run, looped), listening(run),
		sender(run, looped, fiveMS, "--timer", timer, "--count", "600"),
		// Looking for the character disturbs it: the stall follows the next one.
		AwaitTX(looped, untilMiddle, 10*time.Second), Sleep(fiveMS+stallAfter), hold,
		Wait(run+"-sender", 20*time.Second), Wait(run+"-receiver", 20*time.Second))
}

// stallPattern reads it from the log: the interval of the stall, the one behind
// it as the policy wants, all others ordinary.
func stallPattern(t *testing.T, l Log, skip bool) {
	t.Helper()
	v := intervals(l)
	if len(v) != stallCount-1 {
		t.Fatalf("%d intervals, want %d", len(v), stallCount-1)
	}
	at := slices.Index(v, slices.Max(v))
	if at < 10 || at > len(v)-10 {
		t.Fatalf("the longest interval is number %d of %d, not the stall", at, len(v))
	}
	t.Logf("intervals around the stall: %.1f %.1f %.1f %.1f µs", micro(v[at-1]), micro(v[at]), micro(v[at+1]), micro(v[at+2]))
	// The stall ends 2 to 3 ms behind a point of the grid (the guest looks for
	// the character every millisecond), and going on takes part of one.
	between(t, "the stall's interval", v[at], stallFor+stallAfter-stallWithin, 7*fiveMS-100*time.Microsecond)
	if skip {
		between(t, "the stall's interval and the next", v[at]+v[at+1], 7*fiveMS-stallWithin, 7*fiveMS+stallWithin)
	} else {
		between(t, "the interval behind the stall", v[at+1], fiveMS-otherWithin, fiveMS+otherWithin)
	}
	rest := slices.Concat(v[:at], v[at+2:])
	between(t, "the shortest of the other intervals", slices.Min(rest), fiveMS-otherWithin, fiveMS+otherWithin)
	between(t, "the longest of the other intervals", slices.Max(rest), fiveMS-otherWithin, fiveMS+otherWithin)
}
