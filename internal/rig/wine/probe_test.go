//go:build rig && linux

package wine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// counted are the figures of a distribution.
type counted struct {
	Count              int64
	Min, P50, P99, Max *int64
	Mean               *float64
}

// probed is the part of a probe's JSON that the scenarios look at.
type probed struct {
	Format, Probe string
	Machine       struct{ OS, Clock string }
	Granted       []granted
	Findings      []struct{ Code, Text string }
	Loads         []struct {
		Label string
		Early *string `json:"ended_early"`
	}
	Clock []struct {
		Name    string
		Why     string
		Figures *struct {
			Readings, Backward int64
			Step               *int64   `json:"step_ns"`
			Cost               *float64 `json:"cost_mean_ns"`
		}
	}
	Timer []struct {
		Load, Timer, Call, Granted, Why string
		Period                          int64 `json:"period_ns"`
		Figures                         *struct {
			Interval  counted `json:"interval_ns"`
			Erroneous []struct{ Count int64 }
		}
	}
	Resolution *struct {
		Change, Why string
		Verdict     string `json:"change_2004"`
		Rows        []struct {
			Asked   int64    `json:"asked_ms"`
			Current *int64   `json:"current_ns"`
			Step    *int64   `json:"time_step_ns"`
			Sleep   *float64 `json:"sleep_mean_ns"`
			Sleeps  int64
			Why     string
		}
	} `json:"timer_resolution"`
	Spin []struct {
		Form, Why string
		Figures   *struct {
			Passes, Dropped int64
			Interruptions   *counted `json:"interruptions_ns"`
			Late            *counted `json:"late_ns"`
			Write           *counted `json:"write_ns"`
			Rows            []struct{ Count int64 }
		}
	}
	Wake []struct {
		Form, Processors, Why string
		Latency               *counted `json:"latency_ns"`
		Dropped               int64
	}
	Rate []struct {
		What      string
		Limit     *float64 `json:"limit_hz"`
		Confirmed *float64 `json:"confirmed_hz"`
		Why       string
		Attempts  []struct {
			Sent   int64
			Failed string
			Lost   *int64
			Wrong  *int64
		}
	}
}

// probeRun runs a probe and gives its JSON; the text comes on stdout.
func probeRun(t *testing.T, name string, args ...string) (r probed, text string) {
	t.Helper()
	p := start(t, "sender", append([]string{"probe", name, "--json", name + ".json", "--csv", name + ".csv"}, args...)...)
	p.ends(0)
	if err := json.Unmarshal([]byte(file(t, name+".json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Format != "serialtiming-probe" || r.Probe != name || r.Machine.OS != "windows" || r.Machine.Clock != "QueryPerformanceCounter" {
		t.Errorf("%s: %q %q %+v", name, r.Format, r.Probe, r.Machine)
	}
	text = p.stdout.String()
	if !strings.HasPrefix(text, " "+name+" (") || !strings.Contains(text, "windows/amd64") {
		t.Errorf("the text begins with %.60q", text)
	}
	if lines := strings.Count(file(t, name+".csv"), "\n"); lines < 3 {
		t.Errorf("%s: a CSV of %d lines", name, lines)
	}
	return r, text
}

func TestProbeClock(t *testing.T) {
	r, text := probeRun(t, "clock", "--count", "140000")
	for _, name := range []string{"QueryPerformanceCounter", "time.Now", "GetSystemTimeAsFileTime", "GetSystemTimePreciseAsFileTime",
		"QueryUnbiasedInterruptTime", "GetTickCount64", "timeGetTime"} {
		if !strings.Contains(text, "\n  "+name+" ") {
			t.Errorf("no %s in the text", name)
		}
	}
	for _, c := range r.Clock {
		if f := c.Figures; f == nil || f.Readings < 10000 || f.Backward > 0 || f.Cost == nil || *f.Cost <= 0 {
			t.Errorf("%s: %+v %s", c.Name, f, c.Why)
		}
	}
}

// TestProbeTimer counts: 8 intervals of one timer, and the 16 requests of the
// experiment, in which this process must ask for nothing itself.
func TestProbeTimer(t *testing.T) {
	r, text := probeRun(t, "timer", "--count", "480", "--timer", "absolute", "--priority", "normal", "--load", "three=@threads:3:low", "--settle", "200ms")
	if len(r.Timer) != 8 || len(r.Loads) != 1 || r.Loads[0].Early != nil {
		t.Fatalf("%d cells, loads %+v", len(r.Timer), r.Loads)
	}
	for _, c := range r.Timer {
		f := c.Figures
		if f == nil || c.Load != "three" || !strings.Contains(c.Call, "waitable timer") || !strings.HasPrefix(c.Granted, "NORMAL_PRIORITY_CLASS") {
			t.Errorf("%+v", c)
			continue
		}
		if e := f.Erroneous; f.Interval.Count < 10 || len(e) != 3 || e[0].Count > f.Interval.Count || e[2].Count > e[0].Count {
			t.Errorf("%d ns: %+v", c.Period, *f)
		}
	}
	if !slices.ContainsFunc(r.Granted, func(g granted) bool { return g.Item == "timer resolution" && g.Asked == "default" }) {
		t.Errorf("the experiment ran under a request of its own: %+v", r.Granted)
	}
	resolutionWalk(t, r)
	if !strings.Contains(text, "asked there  interrupt every") || !strings.Contains(text, "  15 ms ") || !strings.Contains(text, "  2004        ") {
		t.Error("the text has no table of the experiment")
	}
}

// resolutionWalk: under Wine the interrupt does not exist, so nothing follows
// the other process and the verdict has to be that nothing can be said.
func resolutionWalk(t *testing.T, r probed) {
	t.Helper()
	x := r.Resolution
	if x == nil || len(x.Rows) != 16 || x.Verdict != "undecidable" || x.Why == "" {
		t.Fatalf("%+v", x)
	}
	for i, row := range x.Rows {
		if row.Asked != int64(i) || row.Current == nil || row.Step == nil || row.Sleep == nil || row.Sleeps < 10 || row.Why != "" {
			t.Errorf("%d ms: %+v", i, row)
		} else if *row.Current < 500_000 || *row.Step < 1e6 || *row.Sleep < 0.9e6 {
			t.Errorf("%d ms: interrupt %d, step %d, sleep %.0f", i, *row.Current, *row.Step, *row.Sleep)
		}
	}
}

func TestProbeSpin(t *testing.T) {
	r, text := probeRun(t, "spin", "--count", "2000")
	if len(r.Spin) != 2 || !strings.Contains(text, "\n  interrupted ") || !strings.Contains(text, "\n  late ") {
		t.Fatalf("%+v", r.Spin)
	}
	for _, c := range r.Spin {
		f := c.Figures
		if f == nil {
			t.Fatal(c.Why)
		}
		what := f.Interruptions
		if c.Form == "periodic" {
			what = f.Late
		}
		rows := f.Dropped
		for _, row := range f.Rows {
			rows += row.Count
		}
		if what == nil || rows != what.Count+f.Dropped || f.Passes < 10 || (f.Write != nil) != (c.Form == "periodic") {
			t.Errorf("%s: %+v", c.Form, *f)
		}
	}
}

func TestProbeWake(t *testing.T) {
	r, _ := probeRun(t, "wake", "--count", "800")
	seen := map[string]int64{}
	for _, c := range r.Wake {
		if c.Latency == nil || *c.Latency.Min <= 0 || c.Dropped > 0 {
			t.Fatalf("%+v", c)
		}
		seen[c.Form+" "+c.Processors] = c.Latency.Count
	}
	each := int64(800 / len(r.Wake))
	for _, what := range []string{"wake one", "switch one"} {
		if seen[what] != each {
			t.Errorf("%s: %d of %d", what, seen[what], each)
		}
	}
}

// TestProbeRate: a pipe loses nothing and has no speed.
func TestProbeRate(t *testing.T) {
	r, text := probeRun(t, "rate", "--duration", "8s", "--port", "cable", "--loopback")
	if len(r.Rate) != 2 || r.Rate[1].What != "timer and port" {
		t.Fatalf("%+v", r.Rate)
	}
	for i, c := range r.Rate {
		if len(c.Attempts) == 0 || c.Limit != nil || c.Confirmed == nil && c.Why == "" {
			t.Errorf("%+v", c)
		}
		for _, a := range c.Attempts {
			if a.Sent == 0 || a.Failed != "" || (a.Lost != nil) != (i == 1) || a.Lost != nil && *a.Lost+*a.Wrong != 0 {
				t.Errorf("%s: %s", c.What, fmt.Sprintf("%+v", a))
			}
		}
	}
	if strings.Contains(text, "the line carries") {
		t.Error("a speed of a line that is none")
	}
}
