package pace

import (
	"testing"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

const ms = clock.Instant(time.Millisecond)

// plan gives the due times of a schedule whose writes end at the given
// instants, and what was missed.
func plan(s Schedule, wrote []clock.Instant) (due []clock.Instant, missed int64) {
	s.Start()
	due = append(due, s.Due())
	for _, w := range wrote {
		s.Sent(w)
		due = append(due, s.Due())
	}
	return due, s.Missed()
}

func TestSchedule(t *testing.T) {
	const p = 5 * time.Millisecond
	tests := []struct {
		name   string
		s      Schedule
		wrote  []clock.Instant
		due    []clock.Instant
		missed int64
	}{
		{"undisturbed skip", Schedule{Period: p, Policy: Skip},
			[]clock.Instant{1, 5*ms + 1, 10*ms + 1}, []clock.Instant{0, 5 * ms, 10 * ms, 15 * ms}, 0},
		{"undisturbed burst", Schedule{Period: p, Policy: Burst},
			[]clock.Instant{1, 5*ms + 1, 10*ms + 1}, []clock.Instant{0, 5 * ms, 10 * ms, 15 * ms}, 0},
		{"undisturbed shift", Schedule{Period: p, Policy: Shift},
			[]clock.Instant{1, 5*ms + 1, 10*ms + 1}, []clock.Instant{0, 5 * ms, 10 * ms, 15 * ms}, 0},
		{"late by less than a period changes nothing", Schedule{Period: p, Policy: Shift},
			[]clock.Instant{4 * ms, 9*ms + 999_999}, []clock.Instant{0, 5 * ms, 10 * ms}, 0},

		{"skip: stall of 3.4 periods", Schedule{Period: p, Policy: Skip},
			[]clock.Instant{1, 22 * ms, 25*ms + 1}, []clock.Instant{0, 5 * ms, 25 * ms, 30 * ms}, 3},
		{"skip: the next point is right now", Schedule{Period: p, Policy: Skip},
			[]clock.Instant{5 * ms}, []clock.Instant{0, 5 * ms}, 0},
		{"skip: the next point was a nanosecond ago", Schedule{Period: p, Policy: Skip},
			[]clock.Instant{5*ms + 1}, []clock.Instant{0, 10 * ms}, 1},
		{"skip: a point far away is right now", Schedule{Period: p, Policy: Skip},
			[]clock.Instant{20 * ms}, []clock.Instant{0, 20 * ms}, 3},
		{"burst: the missed ones are due at once", Schedule{Period: p, Policy: Burst},
			[]clock.Instant{1, 22 * ms, 22*ms + 1, 22*ms + 2, 22*ms + 3, 25*ms + 1},
			[]clock.Instant{0, 5 * ms, 10 * ms, 15 * ms, 20 * ms, 25 * ms, 30 * ms}, 0},
		{"shift: the grid moves", Schedule{Period: p, Policy: Shift},
			[]clock.Instant{1, 22 * ms, 27*ms + 1}, []clock.Instant{0, 5 * ms, 27 * ms, 32 * ms}, 0},

		{"relative: every character moves the grid", Schedule{Period: p, Policy: Shift, Relative: true},
			[]clock.Instant{1, 5*ms + 7}, []clock.Instant{0, 5*ms + 1, 10*ms + 7}, 0},
		{"period 0: now", Schedule{Policy: Skip},
			[]clock.Instant{3, 8}, []clock.Instant{0, 3, 8}, 0},
		{"the end: points from there on are not missed", Schedule{Period: p, Policy: Skip, End: 15 * ms},
			[]clock.Instant{1, 42 * ms}, []clock.Instant{0, 5 * ms, 15 * ms}, 1},
		{"the end was passed by the last one", Schedule{Period: p, Policy: Skip, End: 4 * ms},
			[]clock.Instant{42 * ms}, []clock.Instant{0, 5 * ms}, 0},
		{"a first point somewhere", Schedule{Period: p, Policy: Skip, First: 7},
			[]clock.Instant{8, 16 * ms}, []clock.Instant{7, 5*ms + 7, 20*ms + 7}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			due, missed := plan(tt.s, tt.wrote)
			for i := range tt.due {
				if due[i] != tt.due[i] {
					t.Errorf("character %d is due at %d, want %d", i, due[i], tt.due[i])
				}
			}
			if missed != tt.missed {
				t.Errorf("%d missed, want %d", missed, tt.missed)
			}
		})
	}
}

func TestScheduleEnds(t *testing.T) {
	s := Schedule{Period: time.Millisecond, Policy: Skip, End: 3 * ms}
	s.Start()
	n := 0
	for ; !s.Over(); n++ {
		s.Sent(s.Due())
	}
	if n != 3 {
		t.Errorf("%d characters in 3 periods", n)
	}
}

// Whatever the policy and the stalls: time goes forward, the points of the
// grid are sent or missed and nothing else, and skip never sends two characters
// for one point.
func FuzzSchedule(f *testing.F) {
	f.Add(uint32(5_000_000), uint8(0), []byte{1, 2, 200, 3})
	f.Add(uint32(1), uint8(1), []byte{255, 255})
	f.Add(uint32(1_000_000), uint8(2), []byte{0, 0, 90})
	f.Fuzz(func(t *testing.T, period uint32, policy uint8, stalls []byte) {
		if period == 0 {
			return
		}
		p := Policies()[int(policy)%3]
		s := Schedule{Period: time.Duration(period), Policy: p, First: 1000}
		s.Start()
		now, sent := clock.Instant(0), int64(0)
		for _, stall := range stalls {
			due := s.Due()
			now = max(now, due) + clock.Instant(stall)*clock.Instant(period)/16
			s.Sent(now)
			sent++
			if p == Skip && s.Due() < now {
				t.Fatalf("skip: due at %d, but it is %d", s.Due(), now)
			}
			if s.Due() <= due {
				t.Fatalf("%s: due at %d after %d", p, s.Due(), due)
			}
			if p != Shift && s.Due() != 1000+clock.Instant(sent+s.Missed())*clock.Instant(period) {
				t.Fatalf("%s: off the grid: %d after %d sent and %d missed", p, s.Due(), sent, s.Missed())
			}
		}
		if p != Skip && s.Missed() != 0 {
			t.Errorf("%s missed %d", p, s.Missed())
		}
	})
}

func TestPolicies(t *testing.T) {
	for _, p := range Policies() {
		if got, err := ParsePolicy(string(p)); err != nil || got != p {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
	if _, err := ParsePolicy("wait"); err == nil {
		t.Error("an unknown policy was taken")
	}
}

// The table of section 4 of the design, and every pair.
func TestTimersAndPolicies(t *testing.T) {
	defaults := map[wait.Kind]Policy{
		wait.Periodic: Skip, wait.Absolute: Skip, wait.Sleep: Shift, wait.Hybrid: Skip, wait.Spin: Skip,
	}
	refused := map[wait.Kind]map[Policy]bool{
		wait.Sleep:    {Skip: true, Burst: true},
		wait.Periodic: {Shift: true},
	}
	for _, k := range wait.Kinds() {
		if got := DefaultPolicy(k); got != defaults[k] {
			t.Errorf("%s: %s by default, want %s", k, got, defaults[k])
		}
		if err := Compatible(k, DefaultPolicy(k)); err != nil {
			t.Errorf("%s refuses its own default: %v", k, err)
		}
		for _, p := range Policies() {
			if err := Compatible(k, p); (err != nil) != refused[k][p] {
				t.Errorf("%s with %s: %v", k, p, err)
			}
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("skip")
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePolicy(s); err == nil && string(p) != s {
			t.Errorf("%q became %q", s, p)
		}
	})
}
