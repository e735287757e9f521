package published

import (
	"errors"
	"math"
	"strings"
	"testing"

	"serialtiming/results"
)

func TestTablesAreWhole(t *testing.T) {
	// Counts added up from the article's tables.
	for system, want := range map[string][]struct {
		label string
		rows  int
		n     int64
	}{
		"windows95": {
			{"no interface operations", 4, 4048}, {"mouse movement", 4, 1606},
			{"move open Explorer window around with mouse", 5, 2755}, {"open Windows Explorer", 10, 1769},
			{"open Delphi compiler", 30, 3855}, {"run Delphi build all command", 10, 2811},
			{"run complex Mathcad calculation", 25, 31412}, {"run Curves & Colors screen saver", 3, 3748},
		},
		"windowsnt4": {
			{"no interface operations", 2, 3957}, {"mouse movement", 2, 1999},
			{"move window around with mouse", 6, 3040}, {"open Windows Explorer", 4, 2559},
			{"open Delphi compiler", 15, 3862}, {"run Delphi compiler", 9, 2123},
			{"open Borland C++ Builder", 9, 4506}, {"run C++ build all command", 17, 12514},
			{"run complex Mathcad calculation", 20, 30840}, {"Beziers screen saver", 3, 3553},
			{"3D FlowerBox screen saver", 2, 3491},
		},
	} {
		got, err := Table(system)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d tables, want %d: %v", system, len(got), len(want), err)
		}
		for i, s := range got {
			var n, before int64 = 0, -1
			for _, r := range s.Rows {
				if r.Key <= before || r.Count <= 0 {
					t.Errorf("%s, %s: row %v", system, s.Label, r)
				}
				n, before = n+r.Count, r.Key
			}
			if s.Label != want[i].label || len(s.Rows) != want[i].rows || n != want[i].n {
				t.Errorf("%s: %q with %d rows of %d, want %+v", system, s.Label, len(s.Rows), n, want[i])
			}
		}
	}
}

func TestPeriodOnTheDOSClock(t *testing.T) {
	runs, err := Runs("windowsnt4")
	if err != nil {
		t.Fatal(err)
	}
	quiet := 0
	for _, r := range runs {
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", r.Label, err)
		}
		d := results.Derive(&r.Table, int64(Period))
		if d.PeriodNS == nil {
			continue
		}
		quiet++
		if math.Abs(*d.PeriodNS-5.0035e6) > 0.9e3 || *d.PeriodPlusMinusNS > 500 {
			t.Errorf("%s: period %.1f ± %.1f ns", r.Label, *d.PeriodNS, *d.PeriodPlusMinusNS)
		}
	}
	if quiet != 4 {
		t.Errorf("%d quiet tables, the article has four", quiet)
	}
	// Windows 95 slept between its characters: no table of it is quiet.
	if runs, err = Runs("windows95"); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if d := results.Derive(&r.Table, int64(Period)); d.PeriodNS != nil || d.MeanNS == nil {
			t.Errorf("%s: %+v", r.Label, d)
		}
	}
}

func TestWorstReadings(t *testing.T) {
	// The author: "19 milliseconds, just 14 milliseconds longer than the target
	// delay", and delays of a second on Windows 95.
	for system, want := range map[string]struct {
		reading            int64
		delayFrom, delayTo float64
	}{"windowsnt4": {19, 13.5e6, 15.6e6}, "windows95": {1018, 1011e6, 1016e6}} {
		runs, err := Runs(system)
		if err != nil {
			t.Fatal(err)
		}
		var w *results.WorstReading
		for _, r := range runs {
			if d := results.Derive(&r.Table, int64(Period)); w == nil || d.Worst.Reading > w.Reading {
				w = d.Worst
			}
		}
		if w.Reading != want.reading || *w.DelayFromNS < want.delayFrom || *w.DelayToNS > want.delayTo || *w.DelayFromNS >= *w.DelayToNS {
			t.Errorf("%s: %d ms, delay %.0f to %.0f ns", system, w.Reading, *w.DelayFromNS, *w.DelayToNS)
		}
	}
}

func TestUnknownSystemsAreNamed(t *testing.T) {
	for _, name := range []string{"", "windows98", "WINDOWS95", "../windows95"} {
		_, err := Table(name)
		var u *UnknownError
		if !errors.As(err, &u) || !strings.Contains(u.Hint(), "published:windows95 and published:windowsnt4") {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := Runs(name); !errors.As(err, &u) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("scenario,reading,count\nquiet,4,5\nquiet,5,1\n")
	f.Add("a,b\n")
	f.Add("scenario,reading,count\nx,-1,99999999999999999999\n")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parse(strings.NewReader(s))
		if err != nil {
			return
		}
		for _, l := range list {
			if len(l.Rows) == 0 {
				t.Fatalf("%q: a scenario without rows", s)
			}
		}
	})
}
