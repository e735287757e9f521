package realtime

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestParsePriority(t *testing.T) {
	good := map[string]Priority{
		"realtime":    {Realtime, 80},
		"realtime:1":  {Realtime, 1},
		"realtime:99": {Realtime, 99},
		"high":        {Level: High},
		"normal":      {Level: Normal},
		"":            {Level: Normal},
		"low":         {Level: Low},
	}
	for s, want := range good {
		got, err := ParsePriority(s)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
		if again, err := ParsePriority(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %q, which reads as %+v, %v", s, got, again, err)
		}
	}
	for _, s := range []string{"realtime:", "realtime:0", "realtime:100", "realtime:-1", "realtime:8 ", "realtime: 8", "Realtime", "fifo", "high:3"} {
		if p, err := ParsePriority(s); err == nil {
			t.Errorf("%q was taken as %+v", s, p)
		}
	}
}

func FuzzParsePriority(f *testing.F) {
	for _, s := range []string{"realtime:80", "low", "realtime:+7", "realtime:007"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePriority(s)
		if err != nil {
			return
		}
		if p.Level == Realtime && (p.N < 1 || p.N > 99) {
			t.Errorf("%q: %+v", s, p)
		}
		if again, err := ParsePriority(p.String()); err != nil || again != p {
			t.Errorf("%q: %+v is written as %q", s, p, p)
		}
	})
}

func TestPrepareRefuses(t *testing.T) {
	for _, r := range []Request{{Priority: "urgent", CPU: -1}, {CPU: -2}, {CPU: -1, Threads: -1}} {
		if s, err := Prepare(r); err == nil {
			s.Restore()
			t.Errorf("%+v was taken", r)
		}
	}
}

// setting is what Prepare changes in the Go runtime.
type setting struct {
	processors, percent int
}

func settings() setting {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return setting{runtime.GOMAXPROCS(0), percent}
}

func TestPrepareAndRestore(t *testing.T) {
	before := settings()
	s, err := Prepare(Request{Priority: "realtime", CPU: -1, LockMemory: true, Threads: before.processors + 3})
	if err != nil {
		t.Fatal(err)
	}
	during := settings()
	if during.processors != before.processors+5 || during.percent != -1 {
		t.Errorf("prepared: %+v", during)
	}
	s.Restore()
	if after := settings(); after != before {
		t.Errorf("%+v before, %+v after", before, after)
	}
	s.Restore()
	if after := settings(); after != before {
		t.Errorf("a second Restore changed %+v to %+v", before, after)
	}
}

func TestProcessorsAreNeverTakenAway(t *testing.T) {
	before := runtime.GOMAXPROCS(9)
	defer runtime.GOMAXPROCS(before)
	s, err := Prepare(Request{CPU: -1, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Restore()
	if got := runtime.GOMAXPROCS(0); got != 9 {
		t.Errorf("%d processors of 9", got)
	}
}

// Every grant says what was got, and one that was refused says why.
func checkGrants(t *testing.T, grants []Grant, items ...string) {
	t.Helper()
	for _, item := range items {
		found := false
		for _, g := range grants {
			found = found || g.Item == item
		}
		if !found {
			t.Errorf("nothing was said about %s: %+v", item, grants)
		}
	}
	for _, g := range grants {
		if g.Item == "" || g.Asked == "" || g.Got == "" {
			t.Errorf("an incomplete grant: %+v", g)
		}
		if strings.ContainsAny(g.Item+g.Asked+g.Got+g.Why+g.Hint, "\n\r\x1b") {
			t.Errorf("a grant that breaks the line: %+v", g)
		}
	}
}

func TestGrantsAreComplete(t *testing.T) {
	s, err := Prepare(Request{Priority: "realtime", CPU: 0, LockMemory: true, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Restore()
	checkGrants(t, s.Grants(), ItemProcessors, ItemCollector, ItemMemory)
	grants := make(chan []Grant)
	go func() { grants <- s.LockThread() }() // the thread ends with the goroutine
	checkGrants(t, <-grants, ItemPriority, ItemCPU)
}

func TestUsageCountsCollections(t *testing.T) {
	before, _ := Usage()
	runtime.GC()
	after, _ := Usage()
	if d := after.Sub(before); d.GC < 1 {
		t.Errorf("a collection was made, and counted as %d", d.GC)
	}
}

func TestUsageCountsTime(t *testing.T) {
	before, ok := Usage()
	if !ok {
		t.Skip("this system does not count")
	}
	x := 0.0
	for i := range 20_000_000 {
		x += math.Sqrt(float64(i))
	}
	after, _ := Usage()
	if d := after.Sub(before); d.CPU <= 0 || x == 0 {
		t.Errorf("counted %+v", d)
	}
}

// The collector collects when the heap is full, and only then.
func TestCollectWhen(t *testing.T) {
	before := collections()
	end, full := make(chan struct{}), make(chan struct{})
	looks := 0
	heap := func() uint64 {
		looks++
		switch {
		case looks < 3:
			if collections() != before {
				t.Error("it collected a heap that was not full")
			}
			return 10
		case looks == 3:
			return 11
		}
		if looks == 4 {
			close(full)
		}
		return 0
	}
	done := make(chan struct{})
	go func() { collectWhen(heap, 10, time.Millisecond, end); close(done) }()
	<-full
	close(end)
	<-done
	if collections() == before {
		t.Error("it did not collect a full heap")
	}
}

func TestHeapBytes(t *testing.T) {
	before := heapBytes()
	keep := make([]byte, 8<<20)
	if after := heapBytes(); before == 0 || after < before+uint64(len(keep))/2 {
		t.Errorf("%d bytes, %d with %d more", before, after, len(keep))
	}
	runtime.KeepAlive(keep)
}
