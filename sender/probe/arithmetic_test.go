package probe

import (
	"math"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/results"
	"serialtiming/sender/load"
	"serialtiming/sender/pace"
	"serialtiming/sender/probe/system"
)

// fakeClock costs so much a reading and shows whole steps only; reading the
// time beside it costs nothing.
type fakeClock struct {
	now        int64
	cost, step int64
	jump       map[int64]int64 // by the number of the reading
	readings   int64
}

func (f *fakeClock) read() int64 {
	f.readings++
	f.now += f.cost
	return f.now/f.step*f.step + f.jump[f.readings]
}

func (f *fakeClock) instant() clock.Instant { return clock.Instant(f.now) }

func TestClockStudy(t *testing.T) {
	for _, c := range []struct {
		name       string
		cost, step int64
		want       int64 // the step
		bound      bool
	}{
		{"step far above the cost", 30, 4000000, 4000000, false},
		{"step just above the cost", 30, 100, 100, false},
		{"step below the cost", 30, 1, 30, true},
		{"a slow reading", 1500, 100, 1500, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeClock{cost: c.cost, step: c.step}
			s := studyClock(f.read, f.instant, quota{time: 50 * time.Millisecond})
			cell := s.cell("x", system.Clock{Name: "n", Way: "w", Resolution: 7})
			g := cell.Figures
			if g == nil {
				t.Fatal(cell.Why)
			}
			if *g.StepNS != c.want || g.StepIsBound != c.bound || *cell.ResolutionNS != 7 {
				t.Errorf("step %d, bound %v; want %d, %v", *g.StepNS, g.StepIsBound, c.want, c.bound)
			}
			if *g.CostMeanNS != float64(c.cost) || *g.CostMinNS != float64(c.cost) || g.Backward != 0 {
				t.Errorf("cost %v, best %v, %d backward", *g.CostMeanNS, *g.CostMinNS, g.Backward)
			}
			if least := int64(50e6) / c.cost; g.Readings < least || g.Readings > least+2*batch {
				t.Errorf("%d readings in 50 ms", g.Readings)
			}
		})
	}
}

func TestClockStudyOfABadClock(t *testing.T) {
	stuck := &fakeClock{cost: 30, step: math.MaxInt64}
	g := studyClock(stuck.read, stuck.instant, quota{count: 1000}).cell("", system.Clock{}).Figures
	if g.StepNS != nil || g.StepIsBound || g.StepMedianNS != nil || g.Readings != 1000 {
		t.Errorf("a clock that stands still: %+v", g)
	}
	back := &fakeClock{cost: 30, step: 1, jump: map[int64]int64{500: -1e6}}
	if g := studyClock(back.read, back.instant, quota{count: 1000}).cell("", system.Clock{}).Figures; g.Backward != 1 {
		t.Errorf("%d steps back, want 1", g.Backward)
	}
	slow := &fakeClock{cost: 1e9, step: 1}
	cell := (&clockStudy{readings: 5}).cell("", system.Clock{})
	if cell.Figures != nil || cell.Why == "" || cell.ResolutionNS != nil {
		t.Errorf("too few readings: %+v", cell)
	}
	// A count may be meant for a faster clock: the cell ends all the same.
	if s := studyClock(slow.read, slow.instant, quota{count: 1e9}); s.readings > 10*batch {
		t.Errorf("%d readings at a second each", s.readings)
	}
}

func TestAfter125(t *testing.T) {
	n := int64(1)
	for _, want := range []int64{2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		if n = after125(n); n != want {
			t.Fatalf("%d, want %d", n, want)
		}
	}
	if after125(0) != 1 {
		t.Error("behind nothing stands 1")
	}
}

// Ticks at 1 ms; every tenth comes 0.3 ms late, every hundredth 2 ms, and the
// next one then comes earlier.
func TestTicks(t *testing.T) {
	const period = time.Millisecond
	tk := newTicks(period)
	for i := range int64(1001) {
		at := clock.Instant(1e9 + i*int64(period))
		switch {
		case i > 0 && i%100 == 0:
			at += clock.Instant(2 * time.Millisecond)
		case i%10 == 0:
			at += clock.Instant(300 * time.Microsecond)
		}
		tk.tick(at)
	}
	f := tk.figures(3, counters(realtime.Counters{GC: 1}, false))
	if f.Interval.Count != 1000 || *f.Interval.Max != int64(3*time.Millisecond) || f.Missed != 3 {
		t.Fatalf("%d intervals, max %d", f.Interval.Count, *f.Interval.Max)
	}
	if f.Counters.PageFaults != nil || *f.Counters.GC != 1 {
		t.Errorf("counters %+v", f.Counters)
	}
	for i, want := range []int64{100, 100, 10} {
		if got := f.Erroneous[i]; got.Count != want || got.Share != float64(want)/1000 || got.ToleranceNS != int64(tolerances[i]) {
			t.Errorf("tolerance %v: %+v, want %d", tolerances[i], got, want)
		}
	}
	var counts []int64
	for _, g := range f.Growth {
		counts = append(counts, g.Ticks)
		if (g.P99NS != nil) != (g.Ticks >= 500) {
			t.Errorf("p99 of %d ticks: %v", g.Ticks, g.P99NS)
		}
		if g.MinNS > int64(g.MeanNS) || int64(g.MeanNS) > g.MaxNS {
			t.Errorf("%+v", g)
		}
	}
	if want := []int64{10, 20, 50, 100, 200, 500, 1000}; len(counts) != len(want) || counts[0] != 10 || counts[6] != 1000 {
		t.Errorf("growth at %v, want %v", counts, want)
	}
	if g := f.Growth[0]; g.Erroneous[0].Count != 1 || g.MeanNS != 1e6 {
		t.Errorf("after ten: %+v", g)
	}
}

func TestGapRows(t *testing.T) {
	g := newGaps()
	for _, v := range []int64{1000, 1999, 2000, 4999, 5000, 50e6, 50e6 + 1} {
		g.add(v, 0)
	}
	want := map[int64]int64{1000: 2, 2000: 2, 5000: 1, 50e6: 2}
	rows := g.rows()
	if len(rows) != 15 || rows[0].FromNS != 1000 || rows[14].FromNS != 50e6 {
		t.Fatalf("%+v", rows)
	}
	sum := int64(0)
	for i, row := range rows {
		if row.Count != want[row.FromNS] || i > 0 && rows[i-1].ToNS != row.FromNS {
			t.Errorf("%+v", row)
		}
		sum += row.Count
	}
	if sum != g.dist.Count() || g.atLeast(throttled) != 2 || len(newGaps().rows()) != 0 {
		t.Errorf("%d rows' counts, %d values", sum, g.dist.Count())
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		o     Options
		cells int
		want  quota
	}{
		{Options{Duration: time.Minute}, 6, quota{time: 10 * time.Second}},
		{Options{Count: 600}, 6, quota{count: 100}},
		{Options{Count: 3}, 6, quota{count: 1}},
		{Options{Probe: "timer"}, 10, quota{time: 500 * time.Millisecond}},
		{Options{Probe: "wake"}, 4, quota{time: 5 * time.Second}},
	} {
		if got := c.o.share(c.cells); got != c.want {
			t.Errorf("%+v in %d cells: %+v, want %+v", c.o, c.cells, got, c.want)
		}
	}
	if q := (quota{count: 100}).ticks(); q != 101 {
		t.Errorf("100 intervals lie between %d ticks", q)
	}
}

func TestThreshold(t *testing.T) {
	for pass, want := range map[int64]int64{0: 1000, 30: 1000, 100: 1000, 500: 5000} {
		if got := threshold(pass); got != want {
			t.Errorf("passes of %d: %d, want %d", pass, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		wish int
		want string
	}{
		{nil, -1, "any -1 -1"},
		{[]int{0}, -1, "one 0 0"},
		{[]int{0, 1}, -1, "one 1 1, two 1 0"},
		{[]int{4, 5, 7}, -1, "one 7 7, two 7 5"},
		{[]int{0, 1}, 0, "one 0 0, two 0 1"},
	} {
		var got []string
		for _, p := range places(c.cpus, c.wish) {
			got = append(got, strings.Join([]string{p.name, itoa(p.cpus[0]), itoa(p.cpus[1])}, " "))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%v, %d: %s; want %s", c.cpus, c.wish, text, c.want)
		}
	}
}

func itoa(n int) string {
	v := int64(n)
	return number(&v)
}

func TestRefusalsHaveAMeaning(t *testing.T) {
	for _, item := range []string{realtime.ItemPriority, realtime.ItemMemory, realtime.ItemCPU, realtime.ItemIdle} {
		if meaning(realtime.Grant{Item: item, Asked: "a", Got: "b", Why: "c"}) == "" {
			t.Errorf("%s: nothing is said", item)
		}
	}
	r := &run{report: &Report{}, o: Options{Granted: func([]realtime.Grant) {}}}
	refused := realtime.Grant{Item: realtime.ItemPriority, Asked: "realtime:80", Got: "SCHED_OTHER nice 0", Why: "EPERM"}
	told := 0
	r.o.Granted = func(g []realtime.Grant) { told += len(g) }
	r.take([]realtime.Grant{refused})
	r.take([]realtime.Grant{refused})
	if told != 1 || len(r.report.Granted) != 1 || len(r.report.Warnings) != 1 || r.granted != refused.Got {
		t.Errorf("told %d, %+v", told, r.report)
	}
	if w := r.report.Warnings[0]; !strings.Contains(w, "realtime:80") || !strings.Contains(w, "SCHED_OTHER nice 0") {
		t.Error(w)
	}
}

// Ordinary priority is held up by ordinary tasks, not by a limit of real time.
func TestOnlyRealTimeIsThrottled(t *testing.T) {
	r := &run{report: &Report{}, o: Options{Granted: func([]realtime.Grant) {}}}
	for _, c := range []struct {
		g    realtime.Grant
		want bool
	}{
		{realtime.Grant{Item: realtime.ItemPriority, Asked: "realtime:80", Got: "SCHED_FIFO 80"}, true},
		{realtime.Grant{Item: realtime.ItemPriority, Asked: "realtime:80", Got: "SCHED_OTHER nice 0", Why: "EPERM"}, false},
		{realtime.Grant{Item: realtime.ItemPriority, Asked: "high", Got: "SCHED_OTHER nice -10"}, false},
	} {
		if r.take([]realtime.Grant{c.g}); r.realtime != c.want {
			t.Errorf("%+v: %v", c.g, r.realtime)
		}
	}
	for _, c := range []struct {
		n, seconds int64
		want       bool
	}{{0, 10, false}, {2, 1, false}, {10, 10, true}, {5, 10, true}, {4, 10, false}, {21, 10, false}, {3, 3, true}} {
		if got := onceASecond(c.n, c.seconds*1e9); got != c.want {
			t.Errorf("%d in %d s: %v", c.n, c.seconds, got)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, name := range Names() {
		o := Options{Probe: name, Force: true}
		if err := o.defaults(); err != nil || len(o.Loads) == 0 || len(o.Priorities) == 0 {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if name == "timer" && (len(o.Loads) != 3 || o.Loads[2].Threads != 400 || len(o.Priorities) != 3) {
			t.Errorf("%+v", o)
		}
		if o.Loads[0].Kind != load.None || DefaultDuration(name, 10) <= 0 {
			t.Errorf("%s: %+v", name, o.Loads)
		}
	}
	for _, o := range []Options{
		{Probe: "clock", Duration: 1, Count: 1}, {Probe: "clock", Count: -1}, {Probe: "clock", Priorities: []string{"top"}},
	} {
		if err := o.defaults(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// A first tick that is late is in no figure: nothing before it could show why.
// A later one is in all.
func TestTheFirstTickIsInNoFigure(t *testing.T) {
	const ms = clock.Instant(time.Millisecond)
	for _, c := range []struct {
		name   string
		late   int // the tick that comes 21.3 ms late
		missed int64
		most   int64
	}{
		{"the first", 0, 0, int64(ms)},
		{"a later one", 5, 21, int64(ms) + 21_300_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, tk, all := newPeriodic(), newTicks(time.Millisecond), int64(0)
			due := 100 * ms
			for i := range 40 {
				woke := due
				if i == c.late {
					woke += 21_300_000
				}
				rec := pace.Record{Seq: int64(i), Due: due, Woke: woke, Wrote: woke + 1000}
				p.record(&rec)
				tk.record(&rec)
				if due += ms; i == c.late {
					due, all = due+21*ms, all+21
				}
			}
			f := p.figures(pace.Result{Missed: all}, results.Counters{})
			late := int64(0)
			if f.Late.Count > 0 {
				late = *f.Late.Max
			}
			if *f.Missed != c.missed || f.MaxNS > c.most || (f.Late.Count > 0) != (c.missed > 0) || (late > 0) != (f.MaxNS > int64(ms)) {
				t.Errorf("missed %d, max %d, late max %d", *f.Missed, f.MaxNS, late)
			}
			if got := tk.start.behind(all); got != c.missed {
				t.Errorf("the timer study missed %d, want %d", got, c.missed)
			}
		})
	}
	if s := (start{missed: 21}); s.behind(0) != 0 {
		t.Error("a timer without a grid missed something")
	}
}
