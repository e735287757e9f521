package realtime

import (
	"strings"
	"testing"
	"time"
)

func TestCheckTimerResolution(t *testing.T) {
	for _, s := range []string{"", "1ms", "0.5ms", "default"} {
		if err := CheckTimerResolution(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"2ms", "1 ms", "500us", "Default", "0"} {
		if err := CheckTimerResolution(s); err == nil {
			t.Errorf("%q was taken", s)
		}
		if _, err := Prepare(Request{CPU: -1, TimerResolution: s}); err == nil {
			t.Errorf("Prepare took %q", s)
		}
	}
}

func TestJudgeResolution(t *testing.T) {
	const coarse, ms = 15625 * time.Microsecond, time.Millisecond
	for _, c := range []struct {
		asked   string
		got     time.Duration
		runtime bool
		why     string // part of it; "" is granted
	}{
		{"", ms, false, ""},
		{"1ms", 976600, false, ""}, // an RTC's 1024 Hz
		{"1ms", 1001000, false, ""},
		{"1ms", coarse, false, "coarser"},
		{"1ms", ms / 2, false, "another program"},
		{"0.5ms", ms / 2, false, ""},
		{"0.5ms", ms, false, "coarser"},
		{"default", coarse, false, ""},
		{"default", ms, false, "another program"},
		{"default", ms, true, "Go runtime"},
	} {
		g := judgeResolution(c.asked, c.got, coarse, c.runtime)
		if g.Granted() != (c.why == "") || !strings.Contains(g.Why, c.why) {
			t.Errorf("%q, got %v: why %q, want %q", c.asked, c.got, g.Why, c.why)
		}
		if g.Asked == "" || g.Got == "" {
			t.Errorf("%q: incomplete: %+v", c.asked, g)
		}
	}
}

// A change stays reported even if it is taken back before the run ends; a
// reading that fails is none.
func TestAChangeIsKept(t *testing.T) {
	const ms = time.Millisecond
	now, failed := ms, error(nil)
	s := &Session{}
	s.changed = append(s.changed, watchResolution("1ms", ms, func() (time.Duration, error) { return now, failed }))
	for _, c := range []struct {
		now    time.Duration
		failed error
		want   string // in Got; "" is no change
	}{
		{ms, nil, ""},
		{0, errShape, ""},
		{ms / 2, nil, "500µs, 1ms at the start"},
		{ms, nil, "500µs, 1ms at the start"},
		{4 * ms, nil, "500µs, 1ms at the start"},
	} {
		now, failed = c.now, c.failed
		got := s.Changed()
		if (len(got) == 1) != (c.want != "") || len(got) == 1 && (got[0].Got != c.want || got[0].Granted()) {
			t.Errorf("at %v: %+v, want %q", c.now, got, c.want)
		}
	}
}
