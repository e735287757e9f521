package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serialtiming/results"
)

// quiet1998 is a table of readings alone, as published in 1998.
func quiet1998(label string, rows ...results.Row) results.Sample {
	var n int64
	for _, r := range rows {
		n += r.Count
	}
	return results.Sample{Run: results.Run{
		Label: label, Characters: n + 1, Events: n + 1, Interval: &results.Dist{Count: n}, LostIsMinimum: true,
		Table:     results.TableData{BinNS: 1e6, TickHz: new(int64(1024)), Rows: rows},
		Period:    results.Period{AnnouncedNS: new(int64(5e6))},
		Announced: []results.KeyValue{{Key: "timer", Value: "periodic"}},
	}}
}

// logged is a run of n intervals with exponential delays, and their order.
func logged(label string, n int, delay float64, kind results.TableKind) results.Sample {
	r := rand.New(rand.NewPCG(uint64(n), uint64(delay)))
	t := results.NewTally(results.TallyOptions{Table: kind, PeriodNS: 5e6, Announced: 5e6, Grid: true, Quantum: 1})
	s := results.Sample{Sequence: &results.Sequence{Interval: results.NewBlocks(5e6), Lateness: results.NewBlocks(250_000)}}
	before := int64(0)
	for i := range int64(n + 1) {
		d := int64(r.ExpFloat64() * delay)
		at := i*5e6 + d
		t.Event(at, 1, 0)
		t.Place(at, i, true, false)
		s.Sequence.Lateness.Add(d, float64(d))
		if iv := at - before; i > 0 && kind.Hz > 0 {
			ticks := results.Ticks(at, kind.Hz) - results.Ticks(before, kind.Hz)
			s.Sequence.Interval.Add(results.Reading(ticks, kind.Hz)*1e6, float64(iv))
		} else if i > 0 {
			s.Sequence.Interval.Add(iv, float64(iv))
		}
		before = at
	}
	t.Fill(&s.Run)
	s.Run.Label, s.Run.Lost = label, new(int64(0))
	s.Run.Period.AnnouncedNS = new(int64(5e6))
	s.Run.Announced = []results.KeyValue{{Key: "timer", Value: "absolute"}}
	return s
}

func comparisons() map[string]*results.Comparison {
	ms, dos := results.TableKind{Bin: time.Millisecond}, results.TableKind{Bin: time.Millisecond, Hz: 1024}
	counted := results.View{Quantity: results.OfInterval, BinNS: 1e6, TickHz: 1024, Readings: true}
	own := results.View{Quantity: results.OfInterval, BinNS: 1e6}
	nt := results.Column{Name: "published:windowsnt4", Kind: "Windows NT 4.0, 1998", Phases: []results.Sample{
		quiet1998("no interface operations", results.Row{Key: 4, Count: 3468}, results.Row{Key: 5, Count: 489}),
		quiet1998("open Windows Explorer", results.Row{Key: 3, Count: 4}, results.Row{Key: 4, Count: 2230}, results.Row{Key: 5, Count: 323}, results.Row{Key: 6, Count: 2}),
		quiet1998("loading", results.Row{Key: 4, Count: 900}, results.Row{Key: 1018, Count: 1}),
	}}
	log := func(name string, s ...results.Sample) results.Column {
		return results.Column{Name: name, Kind: "log", QuantumNS: 1, Phases: s}
	}
	judged := logged("no interface operations", 20_000, 60e3, ms)
	judged.Run.Limits = []results.Limit{{Limit: results.MaxInterval, Set: 6e6, Measured: new(5.5e6), Verdict: results.Pass},
		{Limit: results.MaxLateShare, Set: .001, Measured: new(.0155), Verdict: results.Fail}, {Limit: results.MaxErrors, Set: 0, Verdict: results.Undecidable}}
	long := logged("a=\x1b[1mlabel\",x", 6000, 20e6, ms)
	long.Run.Table.Over = 2
	lost := logged("short", 300, 90e3, ms)
	lost.Run.LostIsMinimum, lost.Run.Lost = true, new(int64(3))
	histogram := results.Column{Name: "hist.txt, thread 0", Kind: "cyclictest histogram", QuantumNS: 1000, Phases: []results.Sample{{Run: results.Run{Label: "thread 0",
		Lateness: &results.Dist{Count: 9000, Mean: new(51e3), P50: new(int64(50_000)), P99: new(int64(90_000)), Max: new(int64(400_000))}}}}}
	return map[string]*results.Comparison{
		"published": results.Compare([]results.Column{nt}, counted),
		"readings":  results.Compare([]results.Column{nt, log("run.csv", logged("No interface operations", 20_000, 300e3, dos))}, counted),
		"logs": results.Compare([]results.Column{log("a.csv", judged, lost), log("b.csv", logged("no interface operations", 20_000, 90e3, ms)),
			log("c.csv", logged("no interface operations", 200, 90e3, ms), logged("disk", 400, 90e3, ms))}, own),
		"alone":     results.Compare([]results.Column{log("a.csv", judged, long)}, own),
		"long":      results.Compare([]results.Column{log("a.csv", long), log("b\x1b.csv", judged)}, own),
		"histogram": results.Compare([]results.Column{histogram, log("a.csv", judged)}, results.View{Quantity: results.OfLateness, BinNS: 1e6}),
	}
}

func TestCompareGolden(t *testing.T) {
	for name, c := range comparisons() {
		for ext, write := range map[string]func(io.Writer, *results.Comparison) error{"txt": CompareText, "json": CompareJSON, "csv": CompareCSV} {
			file := filepath.Join("testdata", "compare_"+name+"."+ext)
			t.Run(file, func(t *testing.T) {
				var b bytes.Buffer
				if err := write(&b, c); err != nil {
					t.Fatal(err)
				}
				if bytes.ContainsRune(b.Bytes(), 0x1b) && ext == "txt" {
					t.Errorf("an escape sequence reaches the terminal: %q", b.Bytes())
				}
				if *update {
					os.MkdirAll("testdata", 0o755)
					if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(b.Bytes(), want) {
					t.Errorf("got:\n%s\nwant:\n%s", b.Bytes(), want)
				}
			})
		}
	}
}

// TestPublishedLooksAsIn1998 holds the form of the article itself.
func TestPublishedLooksAsIn1998(t *testing.T) {
	var b strings.Builder
	if err := CompareText(&b, comparisons()["published"]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" M-Sec  Count (no interface operations)\n     4   3468\n     5    489\n",
		" M-Sec  Count (open Windows Explorer)\n     3      4\n     4   2230\n     5    323\n     6      2\n",
		"     4    900\n  1018      1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

func TestCompareFormsAreWhole(t *testing.T) {
	for name, c := range comparisons() {
		var b bytes.Buffer
		if err := CompareJSON(&b, c); err != nil {
			t.Fatal(err)
		}
		var j struct {
			Format  string
			Version int
			Columns []struct{ Mark, Name string }
			Phases  []struct{ Cells []*struct{ Count int64 } }
		}
		if err := json.Unmarshal(b.Bytes(), &j); err != nil || j.Format != "serialtiming-comparison" || j.Version != 1 {
			t.Fatalf("%s: %v %+v", name, err, j)
		}
		for _, p := range j.Phases {
			if len(p.Cells) != len(j.Columns) {
				t.Errorf("%s: %d cells of %d columns", name, len(p.Cells), len(j.Columns))
			}
		}
		b.Reset()
		if err := CompareCSV(&b, c); err != nil {
			t.Fatal(err)
		}
		if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) < 9 {
			t.Errorf("%s: %d lines: %v", name, len(rows), err)
		}
	}
}

func TestLimitsSpeakTheCommandLinesUnits(t *testing.T) {
	for _, c := range []struct {
		l    results.Limit
		want string
	}{
		{results.Limit{Limit: results.MaxInterval, Set: 20e6, Measured: new(19.53125e6), Verdict: results.Pass}, "max-interval 20.000 ms: 19.531 ms, pass"},
		{results.Limit{Limit: results.MaxLateness, Set: 50e3, Verdict: results.Undecidable}, "max-lateness 50.0 µs: unknown, undecidable"},
		{results.Limit{Limit: results.MaxLateShare, Set: .001, Measured: new(.25), Verdict: results.Fail}, "max-late-share 0.1 %: 25 %, fail"},
		{results.Limit{Limit: results.MaxLost, Set: 1e6, Measured: new(2e6), Verdict: results.Fail}, "max-lost 1000000: 2000000, fail"},
	} {
		if got := Limit(c.l); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
