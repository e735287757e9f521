package results

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// measured makes a run of n intervals around a period with exponential delays
// of a mean, and the order of its values when asked.
func measured(label string, n int, delay float64, kind TableKind, order bool) Sample {
	r := rand.New(rand.NewPCG(uint64(n), uint64(delay)))
	tally := NewTally(TallyOptions{Table: kind, PeriodNS: 5e6, Announced: 5e6, Grid: true, Quantum: 1})
	s := Sample{Sequence: &Sequence{NewBlocks(5e6), NewBlocks(250_000)}}
	before := int64(0)
	for i := range int64(n + 1) {
		d := int64(r.ExpFloat64() * delay)
		at := i*5e6 + d
		tally.Event(at, 1, 0)
		tally.Place(at, i, true, false)
		if s.Sequence.Lateness.Add(d, float64(d)); i > 0 && kind.Hz > 0 {
			ticks := Ticks(at, kind.Hz) - Ticks(before, kind.Hz)
			s.Sequence.Interval.Add(Reading(ticks, kind.Hz)*1e6, ticksNS(ticks, kind.Hz))
		} else if i > 0 {
			s.Sequence.Interval.Add(at-before, float64(at-before))
		}
		before = at
	}
	tally.Fill(&s.Run)
	s.Run.Label, s.Run.Lost = label, new(int64(0))
	s.Run.Period.AnnouncedNS = new(int64(5e6))
	s.Run.Announced = []KeyValue{{"timer", "absolute"}}
	if !order {
		s.Sequence = nil
	}
	return s
}

var (
	plain = TableKind{Bin: time.Millisecond}
	dos   = TableKind{Bin: time.Millisecond, Hz: 1024}
)

func columnOf(name string, phases ...Sample) Column {
	return Column{Name: name, Kind: "log", QuantumNS: 1, Phases: phases}
}

func find(t *testing.T, p *Phase, column int, figure string) Difference {
	t.Helper()
	i := slices.IndexFunc(p.Differences, func(d Difference) bool { return d.Column == column && d.Figure == figure })
	if i < 0 {
		t.Fatalf("no difference of %s: %+v", figure, p.Differences)
	}
	return p.Differences[i]
}

func TestPhasesPairByLabel(t *testing.T) {
	s := func(labels ...string) Column {
		c := Column{}
		for _, l := range labels {
			c.Phases = append(c.Phases, Sample{Run: Run{Label: l}})
		}
		return c
	}
	for _, c := range []struct {
		what    string
		columns []Column
		want    []pairing
	}{
		{"alone", []Column{s("a", "b")}, []pairing{{0}, {1}}},
		{"alike", []Column{s("a", "b"), s("a", "b")}, []pairing{{0, 0}, {1, 1}}},
		{"another order and case", []Column{s("A", "b"), s(" B", "a")}, []pairing{{0, 1}, {1, 0}}},
		{"some in common", []Column{s("a", "b"), s("b", "c")}, []pairing{{0, -1}, {1, 0}, {-1, 1}}},
		{"a label twice", []Column{s("a", "a"), s("a", "a", "a")}, []pairing{{0, 0}, {1, 1}, {-1, 2}}},
		{"one run beside every phase", []Column{s("a", "b"), s("x")}, []pairing{{0, 0}, {1, 0}}},
		{"one run that has its phase", []Column{s("a", "b"), s("b")}, []pairing{{0, -1}, {1, 0}}},
		{"one run each", []Column{s("x"), s("y"), s("z")}, []pairing{{0, 0, 0}}},
		{"nothing in common", []Column{s("a", "b"), s("x", "y")}, []pairing{{0, -1}, {1, -1}, {-1, 0}, {-1, 1}}},
	} {
		got := pair(c.columns)
		if !slices.EqualFunc(got, c.want, func(a, b pairing) bool { return slices.Equal(a, b) }) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		if common := Compare(c.columns, View{Quantity: OfInterval}).Common(); common != (len(c.columns) > 1 && c.what != "nothing in common") {
			t.Errorf("%s: in common: %v", c.what, common)
		}
	}
}

func TestDifferencesOfLogs(t *testing.T) {
	a := columnOf("a", measured("quiet", 20_000, 60e3, plain, true))
	b := columnOf("b", measured("quiet", 20_000, 90e3, plain, true))
	p := &Compare([]Column{a, b}, View{Quantity: OfInterval, BinNS: 1e6}).Phases[0]
	// The difference of two exponential delays is Laplace: its p99 is
	// ln 50 delays above the period.
	p99 := find(t, p, 1, FigureP99)
	if want := math.Log(50) * 30e3; p99.Low == nil || *p99.Low > want || *p99.High < want || *p99.Low < want*.7 || *p99.High > want*1.3 {
		t.Errorf("p99: %s, truly %.0f", text(p99), want)
	}
	late := find(t, p, 1, FigureLate)
	if want := math.Exp(-250./90) - math.Exp(-250./60); late.Low == nil || *late.Low > want || *late.High < want || *late.Low < 0 {
		t.Errorf("late: %s, truly %.4f", text(late), want)
	}
	if d := find(t, p, 1, FigureMean); d.Low == nil || *d.Low > 0 || *d.High < 0 {
		t.Errorf("mean: %s", text(d))
	}
	if d := find(t, p, 1, FigureP50); d.Difference != nil || d.BelowNS == nil {
		t.Errorf("p50: %s, both medians are the period", text(d))
	}
	if d := find(t, p, 1, FigureMax); d.Difference == nil || d.Low != nil {
		t.Errorf("max: %s", text(d))
	}
	again := &Compare([]Column{a, b}, View{Quantity: OfInterval, BinNS: 1e6}).Phases[0]
	if x, y := text(p.Differences), text(again.Differences); x != y {
		t.Errorf("the same comparison twice:\n%s\n%s", x, y)
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestNoBoundsWithoutTheOrder(t *testing.T) {
	a := columnOf("a", measured("quiet", 20_000, 40e3, plain, true))
	b := columnOf("b", measured("quiet", 20_000, 90e3, plain, false))
	p := &Compare([]Column{a, b}, View{Quantity: OfInterval, BinNS: 1e6}).Phases[0]
	for _, f := range []string{FigureLate, FigureMean, FigureP99} {
		if d := find(t, p, 1, f); d.Difference == nil || d.Low != nil || d.High != nil || d.Why == "" {
			t.Errorf("%s: %s", f, text(d))
		}
	}
	short := columnOf("c", measured("quiet", 100, 90e3, plain, true))
	p = &Compare([]Column{a, short}, View{Quantity: OfInterval, BinNS: 1e6}).Phases[0]
	if d := find(t, p, 1, FigureMean); d.Low != nil || !strings.HasPrefix(d.Why, whyShort+" in ") {
		t.Errorf("100 values: %s", text(d))
	}
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "B has 100 values, too few") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

func TestReadingsKnowNoMore(t *testing.T) {
	a := columnOf("a", measured("quiet", 20_000, 40e3, dos, true))
	b := columnOf("b", measured("quiet", 20_000, 900e3, dos, true))
	c := Compare([]Column{a, b}, View{Quantity: OfInterval, BinNS: 1e6, TickHz: 1024, Readings: true})
	x, y := c.Phases[0].Cells[0], c.Phases[0].Cells[1]
	for _, v := range []*int64{x.P50NS, x.P99NS, x.MaxNS, y.P50NS, y.P99NS, y.P999NS, y.MaxNS} {
		if v == nil || *v%1e6 != 0 {
			t.Errorf("%s\n%s: %v is no reading", text(x), text(y), v)
		}
	}
	if *x.Late.ByNS != 859_375 || *y.Late.Share < .1 || *x.Late.Share > .001 {
		t.Errorf("late %s and %s", text(x.Late), text(y.Late))
	}
	if d := find(t, &c.Phases[0], 1, FigureP99); d.Low == nil || math.Mod(*d.Low, 1e6) != 0 || *d.Low > *d.Difference || *d.High < *d.Difference {
		t.Errorf("p99: %s", text(d))
	}
	if d := find(t, &c.Phases[0], 1, FigureP50); d.Difference != nil || d.BelowNS == nil || *d.BelowNS != 976_563 {
		t.Errorf("p50: %s", text(d))
	}
}

func TestTheCoarserClockHidesDifferences(t *testing.T) {
	a := columnOf("a", measured("quiet", 2000, 40e3, plain, true))
	b := columnOf("b", measured("quiet", 2000, 60e3, plain, true))
	v := View{Quantity: OfInterval, BinNS: 1e6}
	if d := find(t, &Compare([]Column{a, b}, v).Phases[0], 1, FigureMax); d.Difference == nil {
		t.Fatalf("max: %s", text(d))
	}
	b.QuantumNS = 1e6
	c := Compare([]Column{a, b}, v)
	if d := find(t, &c.Phases[0], 1, FigureMax); d.Difference != nil || *d.BelowNS != 1e6 || len(c.Warnings) != 1 {
		t.Errorf("with stamps of 1 ms: %s %q", text(d), c.Warnings)
	}
	b.QuantumNS = 1
	b.Phases[0].Run.FloorNS = new(int64(2_000_000))
	if d := find(t, &Compare([]Column{a, b}, v).Phases[0], 1, FigureMax); d.Difference != nil || *d.BelowNS != 2e6 {
		t.Errorf("with a floor of 2 ms: %s", text(d))
	}
}

func TestDifferentMeasuringIsSaid(t *testing.T) {
	v := View{Quantity: OfInterval, BinNS: 1e6}
	for what, c := range map[string]struct {
		change func(*Run)
		want   string
	}{
		"period": {func(r *Run) { r.Period.AnnouncedNS = new(int64(1e6)) }, "differs, period: A 5ms, B 1ms"},
		"timer":  {func(r *Run) { r.Announced = []KeyValue{{"timer", "sleep"}} }, "differs, timer: A absolute, B sleep"},
		"floor":  {func(r *Run) { r.FloorNS = new(int64(9000)) }, "differs, floor: A 5µs, B 9µs"},
		"late":   {func(r *Run) { r.Late.ByNS = new(int64(100_000)) }, "differs, bound of late: A 250µs, B 100µs"},
		"bin":    {func(r *Run) { r.Table.BinNS = 1e5 }, "differs, table: A rows of 1ms, B rows of 100µs"},
		"tick":   {func(r *Run) { r.Table.TickHz = new(int64(1024)) }, "differs, table: A rows of 1ms, B readings of a 1024 Hz counter"},
		"unsaid": {func(r *Run) { r.Announced, r.FloorNS = nil, nil }, "may differ, not known of it: timer, floor"},
		"none":   {func(*Run) {}, ""},
	} {
		a, b := columnOf("a", measured("x", 6000, 40e3, plain, false)), columnOf("b", measured("x", 6000, 40e3, plain, false))
		a.Phases[0].Run.FloorNS, b.Phases[0].Run.FloorNS = new(int64(5000)), new(int64(5000))
		c.change(&b.Phases[0].Run)
		got := strings.Join(Compare([]Column{a, b}, v).Phases[0].Warnings, "\n")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestFiguresOfAnotherKindHaveNoDifference(t *testing.T) {
	v := View{Quantity: OfInterval, BinNS: 1e6}
	a, b := columnOf("a", measured("x", 6000, 200e3, plain, true)), columnOf("b", measured("x", 6000, 200e3, plain, true))
	b.Phases[0].Run.Late.ByNS = new(int64(100_000))
	b.Phases[0].Run.LostIsMinimum = true
	p := &Compare([]Column{a, b}, v).Phases[0]
	for _, f := range []string{FigureLate, FigureLost} {
		if d := find(t, p, 1, f); d.Difference != nil || d.Why == "" {
			t.Errorf("%s: %s", f, text(d))
		}
	}
}

func TestLatenessBesideAHistogram(t *testing.T) {
	hist := Sample{Run: Run{Label: "thread 0", Lateness: &Dist{Count: 9000, P50: new(int64(50_000)), P99: new(int64(90_000)), Max: new(int64(400_000))}}}
	a := columnOf("a", measured("x", 20_000, 40e3, plain, true), measured("y", 20_000, 60e3, plain, true))
	b := Column{Name: "cyclictest", Kind: "histogram", QuantumNS: 1000, Phases: []Sample{hist}}
	c := Compare([]Column{a, b, columnOf("c", measured("x", 20_000, 80e3, plain, true))}, View{Quantity: OfLateness, BinNS: 1e6})
	if len(c.Phases) != 2 || c.Phases[1].Cells[1] == nil || c.Phases[1].Cells[2] != nil {
		t.Fatalf("%s", text(c.Phases))
	}
	if d := find(t, &c.Phases[0], 1, FigureP99); d.Difference == nil || d.Low != nil {
		t.Errorf("histogram: %s", text(d))
	}
	// p99 of an exponential is ln 100 means.
	if d, want := find(t, &c.Phases[0], 2, FigureP99), math.Log(100)*40e3; d.Low == nil || *d.Low > want || *d.High < want {
		t.Errorf("log: %s, truly %.0f", text(d), want)
	}
}

func TestMarks(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB", 52: "BA", 702: "AAA"} {
		if got := mark(i); got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
}

// Whatever interval is counted from whatever phase of the ticks: from the
// first bound on it is late, below the second it is not.
func TestLateFromIsSure(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		hz := []int64{1024, 1000, 100, 18}[r.IntN(4)]
		period, by := 1+r.Int64N(50e6), r.Int64N(40e6)
		from, doubt := LateFrom(period, by, hz)
		start, d := r.Int64N(1e9), period+by-20e6+r.Int64N(60e6)
		if d <= 0 {
			continue
		}
		reading := Reading(Ticks(start+d, hz)-Ticks(start, hz), hz)
		late := d > period+by
		if doubt > from || reading >= from && by > 0 && !late || reading < doubt && by > 0 && late {
			t.Fatalf("%d Hz, period %d, by %d: an interval of %d reads %d, late from %d, in doubt from %d", hz, period, by, d, reading, from, doubt)
		}
		if by == 0 && reading >= from && d <= period {
			t.Fatalf("an interval of %d reads %d", d, reading)
		}
	}
}

func TestCompareSaysWhatTheStampsAreOf(t *testing.T) {
	a, b, c := columnOf("a", measured("x", 600, 1e5, plain, false)), columnOf("b", measured("x", 600, 1e5, plain, false)), columnOf("c", measured("x", 600, 1e5, plain, false))
	a.Source, a.Class, b.Source, b.Class = "cable", "character", "sender", "character"
	c.Source, c.Class = "socat", "chunk"
	for _, x := range []struct {
		columns []Column
		want    string
	}{
		{[]Column{a, a}, ""},
		{[]Column{a, b}, "B is what a sender saw of itself, A is what arrived: the way between is in the difference"},
		{[]Column{b, b}, ""},
		{[]Column{a, c}, "not every stamp is a character's: those of B are of a read"},
	} {
		if got := strings.Join(Compare(x.columns, View{Quantity: OfInterval, BinNS: 1e6}).Warnings, "; "); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Where a reading stands for several tick counts (two at 1999 Hz) the mean of a log is that of its ticks.
func TestMeanOfALogIsOfItsTicks(t *testing.T) {
	kind := TableKind{Bin: time.Millisecond, Hz: 1999}
	s := measured("x", 5000, 60e3, kind, true)
	view := View{Quantity: OfInterval, BinNS: 1e6, TickHz: kind.Hz, Readings: true}
	truth, tick := *s.Run.Interval.Mean, 1e9/float64(kind.Hz)
	known := view.cell(&s)
	if d := math.Abs(*known.MeanNS - truth); d > tick/5000+1 || math.Abs(*known.Derived.MeanPlusMinusNS-tick/5000) > .001 || *known.Derived.MeanNS != *known.MeanNS {
		t.Errorf("mean %v ± %v, truly %v", *known.MeanNS, *known.Derived.MeanPlusMinusNS, truth)
	}
	s.Sequence = nil
	guess := view.cell(&s)
	if *guess.Derived.MeanPlusMinusNS < 100*tick/5000 || math.Abs(*guess.MeanNS-truth) > *guess.Derived.MeanPlusMinusNS {
		t.Errorf("from readings alone: mean %v ± %v, truly %v", *guess.MeanNS, *guess.Derived.MeanPlusMinusNS, truth)
	}
}

// What has no bounds says whose fault it is.
func TestNoBoundsNameTheColumn(t *testing.T) {
	known, unknown := measured("x", 20_000, 60e3, plain, true), measured("x", 20_000, 60e3, plain, false)
	short := measured("x", 200, 60e3, plain, true)
	for _, c := range []struct {
		a, b Sample
		want string
	}{
		{unknown, known, "the order of the values of A is not known"},
		{known, unknown, "the order of the values of B is not known"},
		{unknown, unknown, "the order of the values of A and B is not known"},
		{short, known, whyShort + " in A"},
		{known, short, whyShort + " in B"},
	} {
		p := &Compare([]Column{columnOf("a", c.a), columnOf("b", c.b)}, View{Quantity: OfInterval, BinNS: 1e6}).Phases[0]
		if d := find(t, p, 1, FigureMean); d.Why != c.want {
			t.Errorf("%q, want %q", d.Why, c.want)
		}
	}
}
