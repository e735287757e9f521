package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// reportOf makes a report of 600 characters as --json writes it.
func reportOf(t testing.TB, kind TableKind) []byte {
	t.Helper()
	tally := NewTally(TallyOptions{Table: kind, PeriodNS: 5e6, Announced: 5e6, Grid: true, Quantum: 1})
	for i := range int64(600) {
		at := i*5_000_000 + i*i%7*1000
		tally.Event(at, 1, 0)
		tally.Place(at, i, true, false)
	}
	r := Run{Label: "quiet", Lost: new(int64(0))}
	tally.Fill(&r)
	r.Period.AnnouncedNS = new(int64(5e6))
	b, err := json.Marshal(NewReport(Source{Kind: "port", QuantumNS: 1}, []Run{r}))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadReportReadsWhatIsWritten(t *testing.T) {
	for _, kind := range []TableKind{{Bin: time.Millisecond}, {Bin: time.Microsecond}, {Bin: time.Millisecond, Hz: 1024}} {
		b := reportOf(t, kind)
		r, err := ReadReport(bytes.NewReader(append([]byte("\xef\xbb\xbf"), b...)))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(r)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%+v: %v\n%s\n%s", kind, err, again, b)
		}
		if !IsReport(b[:min(len(b), 200)]) {
			t.Error("its head does not tell a report")
		}
	}
}

func TestReadReportRefuses(t *testing.T) {
	good := string(reportOf(t, TableKind{Bin: time.Millisecond}))
	change := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("no %s in %s", from, good)
		}
		return strings.Replace(good, from, to, 1)
	}
	for name, c := range map[string]struct{ report, want string }{
		"nothing":           {"", "cannot be read"},
		"cut":               {good[:len(good)/2], "cannot be read"},
		"another":           {`{"format":"other","version":1}`, "not a JSON report"},
		"no version":        {`{"format":"serialtiming-report"}`, "not a JSON report"},
		"newer":             {change(`"version":1`, `"version":2`), "version 2"},
		"newer, other type": {`{"format":"serialtiming-report","version":9,"runs":{}}`, "version 9"},
		"a wrong type":      {change(`"characters":600`, `"characters":"many"`), "cannot be read"},
		"a negative count":  {change(`"characters":600`, `"characters":-600`), "-600"},
		"rows that lie":     {change(`[[5,599]]`, `[[5,598]]`), "598"},
		"a negative row":    {change(`[[5,599]]`, `[[-5,599]]`), "row -5"},
		"a row twice":       {change(`[[5,599]]`, `[[5,300],[5,299]]`), "row 5"},
		"a row beyond":      {change(`[[5,599]]`, `[[99999999,599]]`), "row 99999999"},
		"no bin":            {change(`"bin_ns":1000000`, `"bin_ns":0`), "bin of 0"},
		"no tick":           {change(`"tick_hz":null`, `"tick_hz":0`), "tick of 0"},
		"a share above all": {change(`"share":0`, `"share":1.5`), "1.5"},
	} {
		_, err := ReadReport(strings.NewReader(c.report))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, err := ReadReport(strings.NewReader(change(`"version":1`, `"version":2`)))
	var newer *NewerReportError
	if !errors.As(err, &newer) || newer.Version != 2 {
		t.Errorf("%v", err)
	}
}

func TestCoarser(t *testing.T) {
	fine := TableData{BinNS: 1000, Rows: RowsJSON{{0, 1}, {1, 2}, {2, 4}, {4, 8}, {5, 16}, {7, 32}, {8, 64}}, Over: 3}
	got, ok := fine.Coarser(3000)
	if want := (RowsJSON{{0, 3}, {1, 12}, {2, 48}, {3, 64}}); !ok || !reflect.DeepEqual(got.Rows, want) || got.Over != 3 || got.BinNS != 3000 {
		t.Errorf("%+v, want %v", got, want)
	}
	for _, bin := range []int64{2000, 1500, 4000, 500, 0} {
		if c, ok := fine.Coarser(bin); ok {
			t.Errorf("rows of 1 µs as rows of %d ns: %+v", bin, c)
		}
	}
	ticks := TableData{BinNS: 1000, TickHz: new(int64(1024))}
	if _, ok := ticks.Coarser(3000); ok {
		t.Error("readings are no bins")
	}
	// A table made with the wider bin at once holds the same.
	a, b := NewTable(TableKind{Bin: time.Microsecond}), NewTable(TableKind{Bin: 25 * time.Microsecond})
	for i := range int64(3000) {
		a.Add(0, 1+i*i%70_001)
		b.Add(0, 1+i*i%70_001)
	}
	narrow, wide := a.data(), b.data()
	if c, ok := narrow.Coarser(25_000); !ok || !reflect.DeepEqual(c.Rows, wide.Rows) {
		t.Errorf("%v\n%v", c.Rows, wide.Rows)
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add(reportOf(f, TableKind{Bin: time.Millisecond}))
	f.Add(reportOf(f, TableKind{Bin: time.Millisecond, Hz: 1024}))
	f.Add([]byte(`{"format":"serialtiming-report","version":1,"runs":[{"interval_ns":null,"table":{"rows":[]}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadReport(bytes.NewReader(b))
		if err != nil {
			return
		}
		// Whatever was let in can be judged and compared.
		d, n, share := time.Millisecond, int64(0), 0.5
		l := Limits{MaxInterval: &d, MaxLateness: &d, MaxLateShare: &share, MaxLost: &n, MaxErrors: &n}
		c := Column{Name: "x", QuantumNS: r.Source.QuantumNS}
		readings := len(r.Runs) > 0
		for i := range r.Runs {
			if got := l.Judge(&r.Runs[i]); len(got) != 5 {
				t.Fatalf("%+v", got)
			}
			readings = readings && r.Runs[i].Table.TickHz != nil
			c.Phases = append(c.Phases, Sample{Run: r.Runs[i]})
		}
		if len(c.Phases) == 0 {
			return
		}
		v := View{Quantity: OfInterval, BinNS: 1e6}
		if readings {
			v.Readings, v.TickHz = true, *r.Runs[0].Table.TickHz
		}
		if _, err := json.Marshal(Compare([]Column{c, c}, v)); err != nil {
			t.Fatal(err)
		}
	})
}
