package watch

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
)

func TestFloorIsTheP99OfDifferencesInARow(t *testing.T) {
	var f Floor
	var latency []int64
	for i := range 1001 {
		v := int64(10_000)
		if i%100 == 50 { // one in a hundred is 90 µs later: two differences each
			v += 90_000
		}
		latency = append(latency, v)
	}
	f.judge(latency)
	if !f.Known || f.Samples != 1000 || f.NS != 90_000 || f.P50 != 10_000 {
		t.Errorf("%+v", f)
	}
	var steady Floor
	steady.step = 100
	steady.judge(make([]int64, 800))
	if steady.NS != 100 {
		t.Errorf("a floor of %d below the clock's step", steady.NS)
	}
}

func TestFloorNeedsSamples(t *testing.T) {
	for _, n := range []int{0, 1, 2, 400} {
		var f Floor
		f.judge(make([]int64, n))
		if f.Known {
			t.Errorf("%d latencies give a floor: %+v", n, f)
		}
	}
}

func TestStallOverlaps(t *testing.T) {
	s := Stall{100, 200}
	for _, c := range []struct {
		from, to clock.Instant
		want     bool
	}{{0, 100, false}, {0, 101, true}, {120, 130, true}, {199, 300, true}, {200, 300, false}} {
		if got := s.Overlaps(c.from, c.to); got != c.want {
			t.Errorf("%d to %d: %v", c.from, c.to, got)
		}
	}
}

func TestWarmUpsMeasureSomething(t *testing.T) {
	line := serialport.Config{Baud: 115200, Data: 8, Parity: 'N', Stop: "1"}
	var stop atomic.Bool
	rt, err := realtime.Prepare(realtime.Request{Priority: "normal", CPU: -1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Restore()
	for name, measure := range map[string]func() (Floor, error){
		"wake":  func() (Floor, error) { return Wake(700*time.Millisecond, &stop) },
		"cable": func() (Floor, error) { return Cable(rt, line, 700*time.Millisecond, &stop) },
	} {
		f, err := measure()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.By == "" || f.Samples < 50 || f.P50 <= 0 || f.P99 < f.P50 || f.NS <= 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestAWarmUpEndsAtOnce(t *testing.T) {
	var stop atomic.Bool
	stop.Store(true)
	started := time.Now()
	if _, err := Wake(time.Minute, &stop); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWatchNoticesAHeldUpThread(t *testing.T) {
	rt, err := realtime.Prepare(realtime.Request{Priority: "normal", CPU: -1, Threads: 2 * Threads}) // two watches
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Restore()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seen := realtime.Observe()
	defer seen.Close()
	// With a limit of nothing every wake-up is late; with an hour none is.
	eager, patient := Start(rt, seen, 0), Start(rt, seen, time.Hour)
	if g := eager.Place(); runtime.GOOS == "linux" && runtime.NumCPU() > 1 && (!g.Granted() || !strings.Contains(g.Got, " and ")) {
		t.Errorf("placed: %+v", g)
	}
	time.Sleep(300 * time.Millisecond)
	if n := len(eager.Stalls()); n < 20 {
		t.Errorf("%d stalls noticed", n)
	}
	if n := len(patient.Stalls()); n != 0 {
		t.Errorf("%d stalls of an hour", n)
	}
	eager.Stop()
	patient.Stop()
	if used := eager.Used(); runtime.GOOS == "linux" && (used <= 0 || used > 300*time.Millisecond) {
		t.Errorf("%v of a processor in 300 ms", used)
	}
}
