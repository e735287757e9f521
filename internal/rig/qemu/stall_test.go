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
//	burst: the six of 5 to 30 go at once, then the grid goes on; none was missed
//	shift: the grid moves, the next at g+37; none was missed
func TestStall(t *testing.T) {
	scenario(t)
	tests := []struct {
		timer  string
		policy string
		how    string
		missed int64
	}{
		{"absolute", "skip", "stopped", 5},
		{"absolute", "skip", "starved", 5},
		{"absolute", "burst", "stopped", 0},
		{"periodic", "skip", "stopped", 5},
		{"periodic", "skip", "starved", 5},
		{"sleep", "shift", "stopped", 0},
		{"sleep", "shift", "starved", 0},
	}
	work := steps(Loop(looped), trigger(looped, 1))
	for _, tt := range tests {
		work = append(work, stalled(tt.timer, tt.policy, tt.how)...)
	}
	o := outcome(t, boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: []UART{Unwired()}, Limit: 2 * time.Minute, Script: Script{Steps: work}}))
	for _, tt := range tests {
		run := tt.timer + "-" + tt.policy + "-" + tt.how
		t.Run(run, func(t *testing.T) {
			s, r := both(t, o, o, run)
			l := runLog(t, o, run+"-receiver.csv")
			whole(t, s, r, l, stallCount)
			equal(t, "missed", s.Missed, tt.missed)
			if tt.policy == "burst" {
				burstPattern(t, l)
			} else {
				stallPattern(t, l, tt.policy == "skip")
			}
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
func stalled(timer, policy, how string) []Step {
	run := timer + "-" + policy + "-" + how
	if fault("policy") {
		timer = map[string]string{"absolute": "sleep", "periodic": "sleep", "sleep": "absolute"}[timer]
		policy = map[string]string{"skip": "shift", "burst": "shift", "shift": "skip"}[policy]
	}
	hold := Stall(run+"-sender", stallFor)
	if how == "starved" {
		hold = Hog(stallFor)
	}
	return steps(
		receiver(run, looped), listening(run),
		sender(run, looped, fiveMS, "--timer", timer, "--catch-up", policy, "--count", "600"),
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

// burstPattern reads it from the log: behind the stall's interval the missed
// characters come as fast as the line takes them, the seventh is on the grid.
func burstPattern(t *testing.T, l Log) {
	t.Helper()
	var at []int64 // each character's arrival, those in a batch together
	for _, e := range l.Events {
		at = append(at, e.Arrived)
	}
	if len(at) != stallCount {
		t.Fatalf("%d characters, want %d", len(at), stallCount)
	}
	longest := 0
	for i := range len(at) - 1 {
		if at[i+1]-at[i] > at[longest+1]-at[longest] {
			longest = i
		}
	}
	if longest < 10 || longest > len(at)-20 {
		t.Fatalf("the longest interval is number %d of %d, not the stall", longest, len(at))
	}
	before, late, grid := at[longest], at[longest+1:longest+7], at[longest+7]
	t.Logf("behind the stall: %.1f µs, then %.1f µs for five more, then %.1f µs", micro(late[0]-before), micro(late[5]-late[0]), micro(grid-late[5]))
	between(t, "the stall's interval", late[0]-before, stallFor+stallAfter-stallWithin, 7*fiveMS-100*time.Microsecond)
	between(t, "the five behind it", late[5]-late[0], 0, otherWithin)
	between(t, "the stall and what goes on behind it", grid-before, 7*fiveMS-stallWithin, 7*fiveMS+stallWithin)
}
