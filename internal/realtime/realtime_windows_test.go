package realtime

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

func TestThreadPriority(t *testing.T) {
	for _, c := range []struct {
		asked string
		want  int
	}{
		{"realtime", threadCritical}, {"realtime:80", threadCritical}, {"realtime:99", threadCritical},
		{"realtime:1", threadIdle}, {"realtime:40", -1}, {"realtime:79", 6},
		{"high", threadHighest}, {"normal", threadNormal}, {"low", threadNormal},
	} {
		p, err := ParsePriority(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := threadPriority(p); got != c.want {
			t.Errorf("%s: thread priority %d, want %d", c.asked, got, c.want)
		}
	}
	// Higher N is never a lower priority, and all are ones that Windows takes.
	last := threadIdle
	for n := 1; n <= 99; n++ {
		got := threadPriority(Priority{Realtime, n})
		if got < last || got > 6 && got != threadCritical || got < -7 && got != threadIdle {
			t.Errorf("realtime:%d: %d after %d", n, got, last)
		}
		last = got
	}
}

func TestDescribePriority(t *testing.T) {
	for _, c := range []struct {
		class  uint32
		thread int
		want   string
	}{
		{windows.REALTIME_PRIORITY_CLASS, threadCritical, "REALTIME_PRIORITY_CLASS, TIME_CRITICAL (31)"},
		{windows.REALTIME_PRIORITY_CLASS, threadIdle, "REALTIME_PRIORITY_CLASS, IDLE (16)"},
		{windows.REALTIME_PRIORITY_CLASS, -7, "REALTIME_PRIORITY_CLASS, thread -7 (17)"},
		{windows.HIGH_PRIORITY_CLASS, threadCritical, "HIGH_PRIORITY_CLASS, TIME_CRITICAL (15)"},
		{windows.HIGH_PRIORITY_CLASS, threadHighest, "HIGH_PRIORITY_CLASS, HIGHEST (15)"},
		{windows.NORMAL_PRIORITY_CLASS, 0, "NORMAL_PRIORITY_CLASS, NORMAL (8)"},
		{0x77, 1, "class 0x77, thread +1"},
	} {
		if got := describePriority(c.class, c.thread); got != c.want {
			t.Errorf("%#x %d: %q, want %q", c.class, c.thread, got, c.want)
		}
	}
}

func TestProcessorList(t *testing.T) {
	for _, c := range []struct {
		a    groupAffinity
		want string
	}{
		{groupAffinity{mask: 1}, "0"}, {groupAffinity{mask: 0b1001111}, "0-3,6"},
		{groupAffinity{mask: 1 << 63}, "63"}, {groupAffinity{mask: 2, group: 1}, "65"}, {groupAffinity{}, ""},
	} {
		if got := processorList(c.a); got != c.want {
			t.Errorf("%+v: %q, want %q", c.a, got, c.want)
		}
	}
}

// TestEveryRequest asks for each of what the command line can ask, looks with
// its own calls at what the process then has, and at what is left behind.
func TestEveryRequest(t *testing.T) {
	for _, r := range []Request{
		{Priority: "realtime", CPU: 0, LockMemory: true, TimerResolution: Resolution1ms},
		{Priority: "realtime:20", CPU: -1, TimerResolution: ResolutionHalfMs},
		{Priority: "high", CPU: -1, TimerResolution: ResolutionDefault},
		{Priority: "normal", CPU: -1},
		{Priority: "low", CPU: -1},
	} {
		t.Run(r.Priority, func(t *testing.T) { tryRequest(t, r) })
	}
}

func tryRequest(t *testing.T, r Request) {
	before, _ := windows.GetPriorityClass(self)
	s, err := Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	checkGrants(t, s.Grants(), ItemThrottling, ItemResolution)
	found := make(chan []Grant)
	go func() { found <- s.LockThread() }()
	grants := <-found
	checkGrants(t, grants, ItemPriority, ItemAwake)
	for _, g := range append(s.Grants(), grants...) {
		t.Logf("%s: asked %s, got %s: %s (%s)", g.Item, g.Asked, g.Got, g.Why, g.Hint)
	}
	if changed := s.Changed(); len(changed) > 0 {
		t.Errorf("changed at once: %+v", changed)
	}
	class, _ := windows.GetPriorityClass(self)
	for _, g := range grants {
		if g.Item == ItemPriority && !strings.HasPrefix(g.Got, classNames[class].name+",") {
			t.Errorf("the class is %s, the grant says %s", classNames[class].name, g.Got)
		}
		if g.Item == ItemPriority && g.Granted() != (class == classes[s.priority.Level]) {
			t.Errorf("class %#x: %+v", class, g)
		}
	}
	s.Restore()
	if after, _ := windows.GetPriorityClass(self); after != before {
		t.Errorf("priority class %#x before, %#x after", before, after)
	}
}

func TestAffinityRefused(t *testing.T) {
	found := make(chan Grant)
	go func() { found <- affinity(63) }() // the thread ends with the goroutine
	if g := <-found; g.Granted() || g.Hint == "" || g.Got == "" {
		t.Errorf("processor 63: %+v", g)
	}
}

// What was locked must read back, or the grant must say so.
func TestLockedMemoryIsReadBack(t *testing.T) {
	s := &Session{}
	g := s.lockMemory()
	defer s.Restore()
	if g.Granted() != (g.Got == "locked") {
		t.Errorf("%+v", g)
	}
	if len(committed()) < 5 {
		t.Error("hardly any memory was found")
	}
}
