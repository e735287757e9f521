package results

import (
	"math"
	"strings"
	"testing"
	"time"
)

// known600 is a run whose figures are all known.
func known600() *Run {
	zero := func() *int64 { return new(int64(0)) }
	return &Run{
		Characters: 600, Events: 600, Lost: new(int64(2)), Duplicated: zero(), Corrupted: new(int64(1)), Extra: zero(),
		Errors:   LineErrors{Framing: new(int64(3)), Parity: zero(), Overrun: zero(), Break: zero()},
		Interval: &Dist{Count: 599, Max: new(int64(8_000_000)), MaxUndisturbed: new(int64(8_000_000))},
		Lateness: &Dist{Count: 600, Max: new(int64(3_000_000)), MaxUndisturbed: new(int64(3_000_000))},
		Late:     Late{ByNS: new(int64(250_000)), Count: new(int64(6)), Share: new(0.01)},
	}
}

func limit(name string, v float64) Limits {
	d := time.Duration(v)
	n := int64(v)
	switch name {
	case MaxInterval:
		return Limits{MaxInterval: &d}
	case MaxLateness:
		return Limits{MaxLateness: &d}
	case MaxLateShare:
		return Limits{MaxLateShare: &v}
	case MaxLost:
		return Limits{MaxLost: &n}
	}
	return Limits{MaxErrors: &n}
}

func TestJudge(t *testing.T) {
	readings := func(rows ...Row) func(*Run) {
		return func(r *Run) {
			r.Interval = &Dist{Count: 1}
			r.Table = TableData{BinNS: 1e6, TickHz: new(int64(1024)), Rows: rows}
		}
	}
	for _, c := range []struct {
		what    string
		limit   string
		set     float64
		change  func(*Run)
		verdict string
		shown   float64 // NaN: null
	}{
		{"the longest is the limit", MaxInterval, 8e6, nil, Pass, 8e6},
		{"the longest is above", MaxInterval, 8e6 - 1, nil, Fail, 8e6},
		{"no interval", MaxInterval, 8e6, func(r *Run) { r.Interval = &Dist{} }, Undecidable, math.NaN()},
		{"below the floor", MaxInterval, 50e3, func(r *Run) { r.FloorNS = new(int64(60_000)) }, Undecidable, 8e6},
		{"a disturbed one alone is above", MaxInterval, 6e6, func(r *Run) { *r.Interval.MaxUndisturbed = 5e6 }, Undecidable, 8e6},
		{"disturbed and not", MaxInterval, 4e6, func(r *Run) { *r.Interval.MaxUndisturbed = 5e6 }, Fail, 8e6},
		{"all disturbed", MaxInterval, 4e6, func(r *Run) { r.Interval.MaxUndisturbed = nil }, Undecidable, 8e6},
		{"disturbed, and still below", MaxInterval, 9e6, func(r *Run) { *r.Interval.MaxUndisturbed = 5e6 }, Pass, 8e6},
		// Reading 19 of the 1024 Hz counter: 18.555 to 20.508 ms.
		{"a reading that is surely below", MaxInterval, 21e6, readings(Row{4, 9}, Row{19, 1}), Pass, 19.53125e6},
		{"a reading that is surely above", MaxInterval, 18.5e6, readings(Row{4, 9}, Row{19, 1}), Fail, 19.53125e6},
		{"a reading that may be either", MaxInterval, 20e6, readings(Row{4, 9}, Row{19, 1}), Undecidable, 19.53125e6},
		{"over the table", MaxInterval, 20e6, func(r *Run) { readings(Row{4, 9})(r); r.Table.Over = 1 }, Fail, math.NaN()},
		{"over the table, and so is the limit", MaxInterval, 20e9, func(r *Run) { readings()(r); r.Table.Over = 1 }, Undecidable, math.NaN()},

		{"late by the limit", MaxLateness, 3e6, nil, Pass, 3e6},
		{"later", MaxLateness, 2e6, nil, Fail, 3e6},
		{"no period", MaxLateness, 2e6, func(r *Run) { r.Lateness = nil }, Undecidable, math.NaN()},
		{"lateness below the floor", MaxLateness, 50e3, func(r *Run) { r.FloorNS = new(int64(60_000)) }, Undecidable, 3e6},

		{"a share at the limit", MaxLateShare, .01, nil, Pass, .01},
		{"a share above", MaxLateShare, .009, nil, Fail, .01},
		{"no share", MaxLateShare, .5, func(r *Run) { r.Late.Share = nil }, Undecidable, math.NaN()},
		{"a share of nothing judged", MaxLateShare, .5, func(r *Run) { r.Lateness = &Dist{} }, Undecidable, math.NaN()},
		{"late by less than the floor", MaxLateShare, .5, func(r *Run) { r.FloorNS = new(int64(300_000)) }, Undecidable, .01},

		{"lost as many", MaxLost, 2, nil, Pass, 2},
		{"lost more", MaxLost, 1, nil, Fail, 2},
		{"lost at least more", MaxLost, 1, func(r *Run) { r.LostIsMinimum = true }, Fail, 2},
		{"lost at least as many", MaxLost, 2, func(r *Run) { r.LostIsMinimum = true }, Undecidable, 2},
		{"no sequence", MaxLost, 2, func(r *Run) { r.Lost = nil }, Undecidable, math.NaN()},

		{"as many errors", MaxErrors, 4, nil, Pass, 4},
		{"more errors", MaxErrors, 3, nil, Fail, 4},
		{"errors not counted", MaxErrors, 4, func(r *Run) { r.Errors = LineErrors{} }, Undecidable, 1},
		{"errors not counted, wrong ones enough", MaxErrors, 0, func(r *Run) { r.Errors = LineErrors{} }, Fail, 1},
		{"no sequence, but the line's errors", MaxErrors, 3, func(r *Run) { r.Duplicated, r.Corrupted, r.Extra = nil, nil, nil }, Pass, 3},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := known600()
			if c.change != nil {
				c.change(r)
			}
			l := limit(c.limit, c.set)
			got := l.Judge(r)
			if len(got) != 1 || got[0].Limit != c.limit || got[0].Set != c.set || got[0].Verdict != c.verdict {
				t.Fatalf("%+v, want %s", got, c.verdict)
			}
			if m := got[0].Measured; (m == nil) != math.IsNaN(c.shown) || m != nil && *m != c.shown {
				t.Errorf("measured %v, want %v", m, c.shown)
			}
			if why := l.Explain(r); (len(why) == 1) != (c.verdict == Undecidable) || len(why) == 1 && strings.HasSuffix(why[0], ": ") {
				t.Errorf("explained as %q", why)
			}
		})
	}
}

func TestTheQuantumLimitsToo(t *testing.T) {
	l := limit(MaxLateness, 500e3)
	l.QuantumNS = 1e6
	if v := l.Judge(known600())[0].Verdict; v != Undecidable {
		t.Errorf("500 µs with stamps of 1 ms: %s", v)
	}
	if l.QuantumNS = 1e3; l.Judge(known600())[0].Verdict != Fail {
		t.Error("500 µs with stamps of 1 µs must fail a lateness of 3 ms")
	}
}

func TestLimitsAreAllJudgedAndNoneMore(t *testing.T) {
	if l := (Limits{}); l.Any() || len(l.Judge(known600())) != 0 {
		t.Error("no limit was set")
	}
	d, share, n := 10*time.Millisecond, .5, int64(9)
	l := Limits{MaxInterval: &d, MaxLateness: &d, MaxLateShare: &share, MaxLost: &n, MaxErrors: &n}
	r := known600()
	if r.Limits = l.Judge(r); len(r.Limits) != 5 || !Passed([]Run{*r}) {
		t.Errorf("%+v", r.Limits)
	}
	r.Limits[3].Verdict = Undecidable
	if Passed([]Run{*known600(), *r}) {
		t.Error("what cannot be decided is not passed")
	}
}
