package probe

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/results"
)

// fixture is a report of each probe, with cells that are null.
func fixture(name string) *Report {
	var h results.Histogram
	for i := range int64(1000) {
		h.Record(1000+i, i, false)
	}
	n := counters(realtime.Counters{}, true)
	step, mean, rate, took, lost := int64(4e6), 24.5, 20000.0, int64(time.Minute), int64(0)
	r := &Report{
		Format: Format, Version: Version, Probe: name, Loads: []LoadRun{{Label: "a\x1b[31m", Spec: "@none", Notes: []string{"note"}}},
		Granted:  []Granted{{Granted: results.Granted{Side: "sender", Item: "memory", Asked: "locked", Got: "not locked", Why: "EPERM"}}},
		Findings: []results.Finding{{Code: "code", Text: "text"}}, Warnings: []string{"warned"},
	}
	switch name {
	case "clock":
		r.Clock = []ClockCell{
			{Load: "a", Name: "C", Way: "w", ResolutionNS: &step, Figures: &ClockFigures{Readings: 9, StepNS: &step, StepIsBound: true, CostMeanNS: &mean, CostMinNS: &mean}},
			{Load: "a", Name: "D", Way: "w", Figures: &ClockFigures{Readings: 9, CostMeanNS: &mean, CostMinNS: &mean}},
			{Load: "b", Name: "E", Way: "w", Why: "too few"},
		}
	case "timer":
		tk := newTicks(time.Millisecond)
		for i := range int64(41) {
			tk.tick(clock.Instant(1 + i*1000001))
		}
		f := tk.figures(1, n)
		r.Timer = []TimerCell{
			{Load: "a", Priority: "low", Timer: "absolute", PeriodNS: 1e6, Figures: f},
			{Load: "a", Priority: "low", Timer: "sleep", PeriodNS: 1e6, Why: "too few"},
			{Load: "a", Priority: "high", Timer: "absolute", PeriodNS: 1e6, Figures: f},
		}
		r.Slack = []SlackRow{{SlackNS: 1, GotNS: &step, Sleep: h.Dist()}, {SlackNS: 2, Why: "too few"}}
		r.Resolution = &ResolutionTable{Rows: []ResolutionRow{{AskedMS: 1, CurrentNS: &step, SleepNS: &mean, Sleeps: 20}, {Why: "no"}}, Change2004: no, Why: "because"}
	case "spin":
		g := newGaps()
		g.add(1500, 1)
		f := &SpinFigures{Passes: 10, ElapsedNS: 1e9, Interruptions: g.dist.Dist(), Share: &mean, Rows: g.rows(), Counters: n}
		p := *f
		p.Missed, p.Write, p.Late, p.Interruptions, p.Share = &lost, h.Dist(), f.Interruptions, nil, nil
		r.Spin = []SpinCell{{Load: "a", Form: formLoop, Figures: f}, {Load: "a", Form: formPeriodic, With: "a pipe", Figures: &p}, {Load: "a", Form: formPeriodic, Why: "too few"}}
	case "wake":
		r.Wake = []WakeCell{{Load: "a", Form: formWake, Processors: "one", Latency: h.Dist(), Counters: &n}, {Load: "a", Form: formSwitch, Processors: "two", Why: "too few"}}
	case "rate":
		r.Rate = []RateCell{
			{Load: "a", What: "timer", ConfirmedHZ: &rate, ConfirmedFor: &took, PassedHZ: &rate, FailedHZ: &rate, LimitHZ: &rate, Counters: &n,
				Attempts: []Attempt{{Step: stepSearch, RateHZ: rate, Lost: &lost, Wrong: &lost, OK: true}, {Step: stepConfirm, RateHZ: rate, Failed: "gone"}}},
			{Load: "a", What: "timer and port", Why: "interrupted", Attempts: []Attempt{}},
		}
	}
	return r
}

func TestWritersTellEveryCell(t *testing.T) {
	for name, c := range map[string]struct {
		rows int // of the CSV, with its head
		text []string
	}{
		"clock": {4, []string{" clock (a)", " clock (b)", "≤ 4.000 ms", "never moved", "too few", "24.5 ns"}},
		"timer": {1 + 2*3 + 1 + 2 + 2, []string{" timer (a, low priority)", "too few", "number of ticks (absolute, 1.000 ms)", "timer slack", "2004        no: because"}},
		"spin": {4, []string{" spin (a)", "1 µs to 2 µs      1", "writes to a pipe", "not measured: too few", "involuntary switches 0",
			"interrupted 1 time for more than", "late        1 tick by more than"}},
		"wake": {3, []string{" wake (a,", "half a round trip", "too few", "1.5 µs"}},
		"rate": {3, []string{" rate (a,", "highest     20000.0 Hz (a period of 50.0 µs), confirmed for 60.000 s", "failed: gone", "unknown: interrupted"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := fixture(name)
			var text, js, table strings.Builder
			for _, err := range []error{Text(&text, r), JSON(&js, r), CSV(&table, r)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range append(c.text, "not granted memory", "finding     code: text", "warning     warned") {
				if !strings.Contains(text.String(), want) {
					t.Errorf("no %q in\n%s", want, text.String())
				}
			}
			if strings.Contains(text.String(), "\x1b") {
				t.Error("an escape sequence came through")
			}
			rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll() // equal columns, or an error
			if err != nil || len(rows) != c.rows {
				t.Errorf("%d rows, %v; want %d in\n%s", len(rows), err, c.rows, table.String())
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(js.String()), &m); err != nil {
				t.Fatal(err)
			}
			if m["format"] != "serialtiming-probe" || m["version"] != 1.0 || m["probe"] != name || m[name] == nil || !r.Measured() {
				t.Errorf("%v", m)
			}
			for _, other := range Names() {
				if other != name && m[other] != nil {
					t.Errorf("a section for %s", other)
				}
			}
		})
	}
}

// The whole row of a timer has what the text has.
func TestTimerTableHasMissed(t *testing.T) {
	var table strings.Builder
	if err := CSV(&table, fixture("timer")); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || rows[0][17] != "missed" {
		t.Fatalf("%v, %v", rows, err)
	}
	for i, want := range []string{"", "", "1"} { // 10, 20, 40 ticks; fixture missed 1
		if got := rows[1+i]; got[17] != want || (got[5] == "1") != (want != "") {
			t.Errorf("%v, want missed %q", got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n         int64
		one, want string
	}{{0, "tick", "0 ticks"}, {1, "tick", "1 tick"}, {2, "tick", "2 ticks"}, {1, "pass", "1 pass"}, {3, "pass", "3 passes"}} {
		if got := counted(c.n, c.one); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What two threads were granted stands apart.
func TestGrantsNameTheThread(t *testing.T) {
	r := &run{report: &Report{}, o: Options{Granted: func([]realtime.Grant) {}}}
	cpu := func(n string) realtime.Grant { return realtime.Grant{Item: realtime.ItemCPU, Asked: n, Got: n} }
	fifo := realtime.Grant{Item: realtime.ItemPriority, Asked: "realtime:80", Got: "SCHED_FIFO 80"}
	for _, c := range []struct {
		thread, cpu string
	}{{"waking", "1"}, {"woken", "1"}, {"waking", "1"}, {"woken", "0"}} {
		r.thread = c.thread
		r.take([]realtime.Grant{cpu(c.cpu), fifo})
	}
	p := &printer{}
	p.granted(r.report.Granted)
	if want := "  granted     waking thread cpu 1, priority SCHED_FIFO 80, woken thread cpu 1 or 0\n"; p.String() != want {
		t.Errorf("%q, want %q", p.String(), want)
	}
}

func TestNullIsNull(t *testing.T) {
	var js strings.Builder
	if err := JSON(&js, &Report{Timer: []TimerCell{{Why: "x"}}, Wake: []WakeCell{{Why: "x"}}, Rate: []RateCell{{}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"figures": null`, `"latency_ns": null`, `"confirmed_hz": null`} {
		if !strings.Contains(js.String(), want) {
			t.Errorf("no %s in %s", want, js.String())
		}
	}
	if (&Report{Timer: []TimerCell{{Why: "x"}}}).Measured() {
		t.Error("a null was taken for a figure")
	}
}
