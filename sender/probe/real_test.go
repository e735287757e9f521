package probe

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/sender/load"
	"serialtiming/sender/probe/system"
)

// TestMain is also the loads' processes and the one that asks for timer
// resolutions.
func TestMain(m *testing.M) {
	for _, child := range []func([]string) (bool, int){load.Child, Child} {
		if handled, status := child(os.Args[1:]); handled {
			os.Exit(status)
		}
	}
	os.Exit(m.Run())
}

// measure runs a probe; this machine is shared, so nothing here looks at how
// long anything took.
func measure(t *testing.T, o Options) *Report {
	t.Helper()
	o.CPU = -1
	if len(o.Priorities) == 0 {
		o.Priorities = []string{"normal"}
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Format != Format || r.Machine.Processors < 1 || r.ElapsedNS <= 0 || len(r.Granted) == 0 || !r.Measured() {
		t.Errorf("%+v", r)
	}
	return r
}

func loads(t *testing.T, values ...string) []load.Spec {
	t.Helper()
	specs, err := load.ParseAll(values)
	if err != nil {
		t.Fatal(err)
	}
	return specs
}

func TestClockProbe(t *testing.T) {
	r := measure(t, Options{Probe: "clock", Count: 100000})
	if len(r.Clock) != len(system.Clocks()) {
		t.Fatalf("%d cells", len(r.Clock))
	}
	for _, c := range r.Clock {
		f := c.Figures
		if f == nil || *f.CostMinNS <= 0 || *f.CostMeanNS < *f.CostMinNS || f.StepNS != nil && *f.StepNS <= 0 {
			t.Errorf("%s: %+v", c.Name, f)
		}
	}
	// A coarse clock is seen to step coarser than it costs, the hot loops' not.
	if f := r.Clock[0].Figures; *f.StepNS > 1e6 {
		t.Errorf("the hot loops' clock steps by %d", *f.StepNS)
	}
}

func TestTimerProbe(t *testing.T) {
	cells := len(periods) + experimentCells()
	r := measure(t, Options{
		Probe: "timer", Count: int64(20 * cells * 2), Timers: []wait.Kind{wait.Absolute},
		Loads: loads(t, "none=@none", "threads=@threads:5:low"),
	})
	if len(r.Timer) != 2*len(periods) || len(r.Loads) != 2 {
		t.Fatalf("%d cells, %d loads", len(r.Timer), len(r.Loads))
	}
	for i, c := range r.Timer {
		if want := r.Loads[i/len(periods)].Label; c.Load != want || c.Granted == "" || c.Call == "" {
			t.Errorf("%+v", c)
		}
		f := c.Figures
		if f == nil {
			t.Fatal(c.Why)
		}
		// An absolute wait keeps its grid: the mean is at least the interval.
		if f.Interval.Count < 20 || *f.Interval.Mean < float64(c.PeriodNS)*.9 || f.Growth[len(f.Growth)-1].Ticks != f.Interval.Count {
			t.Errorf("%v: %d ticks, mean %v", time.Duration(c.PeriodNS), f.Interval.Count, *f.Interval.Mean)
		}
		if e := f.Erroneous; e[0].Count < e[1].Count || e[1].Count < e[2].Count {
			t.Errorf("%+v", e)
		}
	}
	if runtime.GOOS == "linux" {
		checkSlack(t, r.Slack)
	}
}

// checkSlack: an ordinary thread sleeps longer with 10 ms of slack than with
// none.
func checkSlack(t *testing.T, rows []SlackRow) {
	t.Helper()
	if len(rows) != len(slacks) {
		t.Fatalf("%d rows", len(rows))
	}
	first, last := rows[0], rows[len(rows)-1]
	if first.Sleep == nil || last.Sleep == nil || *last.GotNS != int64(10*time.Millisecond) {
		t.Fatalf("%+v, %+v", first, last)
	}
	if *first.Sleep.Min < int64(time.Millisecond) || *last.Sleep.P50 <= *first.Sleep.P50 {
		t.Errorf("p50 %d without slack, %d with 10 ms", *first.Sleep.P50, *last.Sleep.P50)
	}
}

func TestTooFewTicksAreNull(t *testing.T) {
	r, err := Run(context.Background(), Options{Probe: "timer", Count: 1, CPU: -1, Timers: []wait.Kind{wait.Absolute}, Priorities: []string{"normal"}, Loads: loads(t, "n=@none")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Timer {
		if c.Figures != nil || !strings.Contains(c.Why, "ticks") {
			t.Errorf("%+v", c)
		}
	}
	if len(r.Timer) != len(periods) || r.Measured() {
		t.Errorf("%d cells", len(r.Timer))
	}
}

func TestSpinProbe(t *testing.T) {
	r := measure(t, Options{Probe: "spin", Duration: 600 * time.Millisecond, Force: true})
	if len(r.Spin) != 2 || r.Spin[0].Form != formLoop || r.Spin[1].Form != formPeriodic {
		t.Fatalf("%+v", r.Spin)
	}
	for _, c := range r.Spin {
		f := c.Figures
		if f == nil {
			t.Fatal(c.Why)
		}
		rows := f.Dropped
		for _, row := range f.Rows {
			rows += row.Count
		}
		what := f.Interruptions
		if c.Form == formPeriodic {
			what = f.Late
		}
		if what == nil || (f.Interruptions == nil) == (f.Late == nil) || (f.Share == nil) != (c.Form == formPeriodic) {
			t.Fatalf("%s: %+v", c.Form, f)
		}
		if rows != what.Count+f.Dropped || f.MinNS < 0 || float64(f.MinNS) > f.MeanNS || f.MeanNS > float64(f.MaxNS) {
			t.Errorf("%s: %+v", c.Form, f)
		}
	}
	if loop, periodic := r.Spin[0].Figures, r.Spin[1].Figures; loop.Passes < 1000*periodic.Passes/100 || periodic.Missed == nil || periodic.Write.Count == 0 {
		t.Errorf("%d passes, %d ticks", loop.Passes, periodic.Passes)
	}
}

func TestWakeProbe(t *testing.T) {
	r := measure(t, Options{Probe: "wake", Count: 400})
	if want := 2 * len(places(system.CPUs(), -1)); len(r.Wake) != want {
		t.Fatalf("%d cells, want %d", len(r.Wake), want)
	}
	for _, c := range r.Wake {
		if c.Latency == nil {
			t.Fatal(c.Why)
		}
		if n := int64(400 / len(r.Wake)); c.Latency.Count != n || *c.Latency.Min <= 0 || c.Dropped != 0 {
			t.Errorf("%s %s: %d of %d, min %d", c.Form, c.Processors, c.Latency.Count, n, *c.Latency.Min)
		}
	}
}

func TestRateProbe(t *testing.T) {
	r := measure(t, Options{
		Probe: "rate", Duration: 2 * rateUnits * 100 * time.Millisecond, Port: "cable", Loopback: true, LimitHZ: 2000,
		Line: serialport.Config{Baud: 19200, Data: 8, Parity: 'N', Stop: "1", ReadTimeout: 50 * time.Millisecond},
	})
	if len(r.Rate) != 2 || r.Rate[0].What != "timer" || r.Rate[1].What != "timer and port" || r.Port == nil || !r.Port.Virtual {
		t.Fatalf("%+v", r)
	}
	for i, c := range r.Rate {
		if len(c.Attempts) == 0 || c.Claims == "" || c.LimitHZ != nil { // a virtual cable has no line speed
			t.Errorf("%+v", c)
		}
		for _, a := range c.Attempts {
			if (a.Lost != nil) != (i == 1) || a.Sent == 0 || a.OK && a.Missed > 0 {
				t.Errorf("%+v", a)
			}
			if a.Lost != nil && (*a.Lost != 0 || *a.Wrong != 0) { // a pseudo-terminal loses nothing
				t.Errorf("lost %d, wrong %d of %d", *a.Lost, *a.Wrong, a.Sent)
			}
		}
		if c.ConfirmedHZ == nil && c.Why == "" {
			t.Error("no rate, and nobody says why")
		}
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "100ms, not 10s") }) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestALoadThatEndsEarlyIsAFinding(t *testing.T) {
	r := measure(t, Options{Probe: "clock", Count: 100000, Loads: loads(t, "gone=exit 3"), Settle: 300 * time.Millisecond})
	if len(r.Findings) != 1 || r.Findings[0].Code != "load-ended-early" || r.Loads[0].EndedEarly == nil || !strings.Contains(*r.Loads[0].EndedEarly, "exit status 3") {
		t.Errorf("%+v, %+v", r.Findings, r.Loads)
	}
}

func TestALoadThatDoesNotStartIsAnError(t *testing.T) {
	_, err := Run(context.Background(), Options{Probe: "clock", Count: 1000, CPU: -1, Loads: loads(t, "d=@disk:/no/such/folder")})
	if err == nil || !strings.Contains(err.Error(), `load "d" did not start`) {
		t.Errorf("%v", err)
	}
}

func TestAnInterruptionKeepsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cells := 0
	o := Options{Probe: "timer", Duration: time.Hour, CPU: -1, Timers: []wait.Kind{wait.Absolute}, Priorities: []string{"normal"}, Loads: loads(t, "n=@none")}
	o.Live = func(func() string) {
		if cells++; cells == 20 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil || len(r.Timer) != 1 || r.Timer[0].Figures == nil || len(r.Slack) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "interrupted") }) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestUnknownProbeAndRefusedSpin(t *testing.T) {
	if _, err := Run(context.Background(), Options{Probe: "all"}); err == nil {
		t.Error("probe all was run")
	}
	if runtime.NumCPU() == 1 {
		if _, err := Run(context.Background(), Options{Probe: "spin"}); !errors.Is(err, ErrOneProcessor) {
			t.Errorf("%v", err)
		}
	}
}
