package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"serialtiming/internal/cli"
	"serialtiming/results"
)

// compared runs the command and gives its exit status and output.
func compared(args ...string) (status int, stdout, stderr string) {
	var out, e bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &e, voice: cli.NewVoice("receiver", &e)}
	status, err := p.compare(context.Background(), args)
	if err != nil {
		status = p.voice.Fail(err)
	}
	return status, out.String(), e.String()
}

// phaseLog writes a run of a log: n characters, 5 ms apart, each late by an
// exponential delay; drop leaves characters out, batch joins the second of two.
func phaseLog(b *strings.Builder, run, n int, label string, delay float64, drop func(int) bool, batch bool) {
	r := rand.New(rand.NewPCG(uint64(run), uint64(n)))
	fmt.Fprintf(b, "# run %d announced: before\n# run %d label: %s\n# run %d period_ns: 5000000\n# run %d char: cycle\n# run %d timer: absolute\n# run %d catch_up: skip\n", run, run, label, run, run, run, run)
	zero := int64(run) * 1e12
	for i := 0; i < n; i++ {
		at := zero + int64(i)*5e6 + int64(r.ExpFloat64()*delay)
		if drop != nil && drop(i) {
			continue
		}
		if batch && i%2 == 0 && i+1 < n {
			fmt.Fprintf(b, "%d,%d,%02x,2,\n%d,%d,%02x,0,\n", run, at, 32+i%95, run, at, 32+(i+1)%95)
			i++
			continue
		}
		fmt.Fprintf(b, "%d,%d,%02x,1,\n", run, at, 32+i%95)
	}
	fmt.Fprintf(b, "# end %d sent: %d\n# end %d missed: 0\n# end %d reason: closed\n", run, n, run, run)
}

const logHead = "# serialtiming log 1\n# port: /dev/ttyS1\nrun,arrived_ns,byte,batch,flags\n"

// write puts text into a file of the test's.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// twoPhases is a log of two phases.
func twoPhases(t *testing.T, delay float64) string {
	var b strings.Builder
	b.WriteString(logHead)
	phaseLog(&b, 1, 6000, "no interface operations", delay, nil, false)
	phaseLog(&b, 2, 6000, "disk", 2*delay, nil, false)
	return write(t, "run.csv", b.String())
}

// TestSequencesAreThoseOfTheReport: the second pass over a log must see the
// very values of the first.
func TestSequencesAreThoseOfTheReport(t *testing.T) {
	play := func(f func(b *strings.Builder)) string {
		var b strings.Builder
		b.WriteString(logHead)
		f(&b)
		return b.String()
	}
	var sender strings.Builder
	sender.WriteString("# serialtiming log 1\n# run 1 label: own\n# run 1 period_ns: 5000000\nrun,seq,due_ns,woke_ns,wrote_ns,byte\n")
	for i := range int64(3000) {
		fmt.Fprintf(&sender, "1,%d,%d,%d,%d,%02x\n", i, i*5e6, i*5e6+i*i%700_001, i*5e6+i*i%700_001+9000, 32+i%95)
	}
	sender.WriteString("# end 1 sent: 3000\n# end 1 reason: closed\n")
	for name, c := range map[string]struct {
		log    string
		faulty bool // lost characters: their lateness is not known alike
	}{
		"whole":   {log: play(func(b *strings.Builder) { phaseLog(b, 1, 5000, "x", 90e3, nil, false) })},
		"batches": {log: play(func(b *strings.Builder) { phaseLog(b, 1, 5000, "x", 90e3, nil, true) })},
		"two": {log: play(func(b *strings.Builder) {
			phaseLog(b, 1, 500, "x", 90e3, nil, false)
			phaseLog(b, 2, 700, "y", 900e3, nil, false)
		})},
		"noise first": {log: play(func(b *strings.Builder) {
			b.WriteString("1,5,ff,1,\n1,900,80,1,\n# end 1 reason: noise\n")
			phaseLog(b, 2, 700, "y", 900e3, nil, false)
		})},
		"lost": {play(func(b *strings.Builder) {
			phaseLog(b, 1, 5000, "x", 90e3, func(i int) bool { return i%800 == 700 }, false)
		}), true},
		"torn":     {log: play(func(b *strings.Builder) { phaseLog(b, 1, 500, "x", 90e3, nil, false); b.WriteString("2,99") })},
		"a sender": {log: sender.String()},
	} {
		for _, v := range []results.View{{Quantity: results.OfInterval, BinNS: 1e6}, {Quantity: results.OfInterval, BinNS: 1e6, TickHz: 1024, Readings: true}} {
			t.Run(fmt.Sprintf("%s, %d Hz", name, v.TickHz), func(t *testing.T) {
				in := &input{name: write(t, "log.csv", c.log), program: &program{voice: cli.NewVoice("x", &bytes.Buffer{})}}
				if err := in.log(context.Background(), v); err != nil {
					t.Fatal(err)
				}
				for _, s := range in.data.Phases {
					if s.Sequence == nil {
						t.Fatal("no sequence")
					}
					agree(t, &s, v, c.faulty)
				}
			})
		}
	}
}

func agree(t *testing.T, s *results.Sample, v results.View, faulty bool) {
	t.Helper()
	r, q := &s.Run, s.Sequence
	if q.Interval.Count() != r.Interval.Count {
		t.Errorf("%d intervals, the report has %d", q.Interval.Count(), r.Interval.Count)
	}
	if v.Readings {
		late := int64(0)
		for _, row := range r.Table.Rows {
			if row.Key > 5 {
				late += row.Count
			}
		}
		if q.Interval.Above() != late {
			t.Errorf("%d late readings, the table has %d", q.Interval.Above(), late)
		}
		return
	}
	if q.Lateness.Count() != r.Lateness.Count || q.Lateness.Above() != *r.Late.Count {
		if !faulty || q.Lateness.Count() != r.Lateness.Count || abs(q.Lateness.Above()-*r.Late.Count) > 20 {
			t.Errorf("%d late of %d, the report has %d of %d", q.Lateness.Above(), q.Lateness.Count(), *r.Late.Count, r.Lateness.Count)
		}
	}
}

func abs(v int64) int64 { return max(v, -v) }

func TestComparePrintsTheTablesOf1998(t *testing.T) {
	for system, want := range map[string]string{
		"windows95":  " M-Sec  Count (no interface operations)\n     3      9\n     4   3575\n     5    462\n     6      2\n",
		"windowsnt4": " M-Sec  Count (no interface operations)\n     4   3468\n     5    489\n",
	} {
		status, out, e := compared("published:" + system)
		if status != 0 || e != "" || !strings.HasPrefix(out, want) {
			t.Errorf("%s: status %d %s\n%s", system, status, e, out)
		}
	}
	_, out, _ := compared("published:windowsnt4")
	for _, want := range []string{"period        5.003495 ms", "reads 19 ms, an interval of 18.555 ms to 20.508 ms: 13.555 ms to 15.508 ms longer"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// comparisonJSON is the part of the JSON that these tests look at.
type comparisonJSON struct {
	Format  string
	Version int
	View    struct {
		Readings bool
		TickHz   int64 `json:"tick_hz"`
	}
	Columns  []struct{ Kind string }
	Warnings []string
	Phases   []struct {
		Label string
		Cells []*struct {
			Count     int64
			Late      results.Late
			Undecided int64  `json:"late_undecided"`
			P50       *int64 `json:"p50_ns"`
			Limits    []results.Limit
		}
		Differences []struct {
			Figure          string
			Difference, Low *float64
		}
	}
}

func comparedJSON(t *testing.T, want int, args ...string) comparisonJSON {
	t.Helper()
	status, out, e := compared(append(args, "--json", "-")...)
	var j comparisonJSON
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != want || j.Format != "serialtiming-comparison" || j.Version != 1 {
		t.Fatalf("status %d, want %d: %v\n%s%s", status, want, err, e, out)
	}
	return j
}

func TestCompareBesideNTReadsWithTheDOSCounter(t *testing.T) {
	log := twoPhases(t, 90e3)
	j := comparedJSON(t, 0, "published:windowsnt4", log)
	if !j.View.Readings || j.View.TickHz != 1024 || len(j.Phases) != 12 {
		t.Fatalf("%+v", j)
	}
	c := j.Phases[0].Cells
	if c[0].Count != 3957 || c[1].Count != 5999 || *c[0].P50 != 4e6 || *c[1].P50 != 4e6 {
		t.Errorf("%+v %+v", *c[0], *c[1])
	}
	if last := j.Phases[11]; last.Label != "disk" || last.Cells[0] != nil || last.Cells[1] == nil {
		t.Errorf("%+v", last)
	}
}

func TestCompareOfTwoLogsHasBounds(t *testing.T) {
	j := comparedJSON(t, 0, twoPhases(t, 60e3), twoPhases(t, 90e3))
	if len(j.Phases) != 2 || j.View.Readings {
		t.Fatalf("%+v", j)
	}
	bounds := 0
	for _, d := range j.Phases[1].Differences {
		if d.Difference != nil && d.Low != nil {
			bounds++
		}
	}
	if bounds < 2 {
		t.Errorf("%d differences with bounds: %+v", bounds, j.Phases[1].Differences)
	}
}

// reportFile writes a JSON report of a log as replay does.
func reportFile(t *testing.T, log string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	var out, e bytes.Buffer
	if s := run(context.Background(), append([]string{"replay", log, "--json", path}, flags...), strings.NewReader(""), &out, &e); s != 0 {
		t.Fatalf("replay: %d %s", s, e.String())
	}
	return path
}

func TestCompareReadsReports(t *testing.T) {
	log := twoPhases(t, 90e3)
	plain, ticks := reportFile(t, log), reportFile(t, log, "--tick", "1024")
	if j := comparedJSON(t, 0, plain, log); j.View.Readings || j.Phases[0].Cells[0].Count != j.Phases[0].Cells[1].Count || *j.Phases[0].Cells[0].P50 != *j.Phases[0].Cells[1].P50 {
		t.Errorf("a log beside its own report: %+v", j.Phases)
	}
	if j := comparedJSON(t, 0, "published:windowsnt4", ticks, log); *j.Phases[0].Cells[1].P50 != *j.Phases[0].Cells[2].P50 || j.Phases[0].Cells[1].Count != 5999 {
		t.Errorf("readings: %+v", j.Phases[0])
	}
	// Its bins cannot become readings: there is no comparison, whatever else is read.
	if status, out, e := compared("published:windowsnt4", plain, log); status != 1 || out != "" || !strings.Contains(e, "--tick 1024") {
		t.Errorf("status %d, %q, %s", status, out, e)
	}
	if status, out, e := compared("published:windowsnt4", plain); status != 1 || out != "" || !strings.Contains(e, "--tick 1024") {
		t.Errorf("status %d, %q, %s", status, out, e)
	}
}

func TestCompareBesideAnotherToolsHistogram(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Histogram\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%06d %06d\t%06d\n", i, 100+i, 200)
	}
	b.WriteString("# Total: 000006225 000010000\n# Min Latencies: 00000 00000\n# Avg Latencies: 00025 00025\n# Max Latencies: 00049 00049\n# Histogram Overflows: 00000 00000\n")
	hist := write(t, "hist.txt", b.String())
	log := twoPhases(t, 60e3)
	j := comparedJSON(t, 0, log, hist)
	if len(j.Columns) != 3 || j.Columns[2].Kind != "cyclictest histogram" || len(j.Phases) != 2 {
		t.Fatalf("%+v", j)
	}
	if c := j.Phases[1].Cells; c[0].Count != 6000 || c[1].Count != 6225 || *c[2].P50 != 24_000 {
		t.Errorf("%+v %+v %+v", *c[0], *c[1], *c[2])
	}
	if status, _, e := compared("published:windows95", hist); status != 1 || !strings.Contains(e, "cannot be compared") {
		t.Errorf("status %d: %s", status, e)
	}
}

// The user's own bound of late: what a column cannot tell by it is null.
func TestCompareLateBy(t *testing.T) {
	log := twoPhases(t, 90e3)
	plain := comparedJSON(t, 0, log)
	own := plain.Phases[0].Cells[0].Late
	report := reportFile(t, log, "--late-by", "50us")
	hist := write(t, "hist.txt", "# Histogram\n000000 000900\n000040 000080\n000060 000020\n# Total: 000001000\n# Min Latencies: 00000\n# Avg Latencies: 00004\n# Max Latencies: 00060\n# Histogram Overflows: 00000\n")
	for _, c := range []struct {
		args   []string
		column int
		share  float64 // of the first phase; -1 null, -2 something between 0 and 1
		doubt  int64
	}{
		{[]string{log, "--late-by", "50us"}, 0, -2, 0},
		{[]string{report, "--late-by", "50us"}, 0, -2, 0},
		{[]string{report, "--late-by", "60us"}, 0, -1, 0},
		{[]string{log, hist, "--late-by", "50us"}, 1, .02, 0},
		{[]string{log, hist, "--late-by", "60us"}, 1, .02, 0},
		{[]string{log, hist, "--late-by", "60500ns"}, 1, -1, 0},
		{[]string{log, hist}, 1, -1, 0},
		{[]string{"published:windowsnt4", "--late-by", "5ms"}, 0, 0, 0},
		{[]string{"published:windowsnt4", "--late-by", "1300us"}, 0, -1, 489},
	} {
		j := comparedJSON(t, 0, c.args...)
		late := j.Phases[0].Cells[c.column].Late
		switch {
		case c.share == -1 && (late.Share != nil || late.Count != nil):
			t.Errorf("%v: %v is late", c.args[1:], *late.Share)
		case c.share == -2 && (late.Share == nil || *late.Share <= 0 || *late.Share >= 1 || *late.Count <= *own.Count || *late.ByNS != 50_000):
			t.Errorf("%v: %+v, with the run's own bound %+v", c.args[1:], late, own)
		case c.share >= 0 && (late.Share == nil || *late.Share != c.share):
			t.Errorf("%v: %+v, want %v", c.args[1:], late, c.share)
		}
		if got := j.Phases[0].Cells[c.column].Undecided; got != c.doubt {
			t.Errorf("%v: %d in doubt", c.args[1:], got)
		}
	}
	// What cannot be told cannot be judged.
	if status, _, e := compared(report, "--late-by", "60us", "--max-late-share", "50"); status != 3 || !strings.Contains(e, "--late-by 60µs") {
		t.Errorf("status %d: %s", status, e)
	}
	if status, _, e := compared(report, "--late-by", "50us", "--max-late-share", "100"); status != 0 {
		t.Errorf("status %d: %s", status, e)
	}
}

// One input that cannot be read: nothing is written, in no form.
func TestCompareReadsAllBeforeItWrites(t *testing.T) {
	log := twoPhases(t, 90e3)
	late := write(t, "none.csv", logHead) // a log without a run: it opens, and fails when it is read
	for _, bad := range []string{"/no/such.csv", write(t, "gz", "\x1f\x8b\x08rest"), late} {
		for _, form := range []string{"", "--json", "--csv"} {
			args := []string{log, reportFile(t, log), bad}
			if form != "" {
				args = append(args, form, "-")
			}
			if status, out, e := compared(args...); status != 1 || out != "" || !strings.Contains(e, "error") {
				t.Errorf("%v: status %d, %q, %s", args, status, out, e)
			}
		}
	}
}

// A counter of 1024 Hz: a log's mean is that of its ticks, within one of the truth.
func TestCompareMeanOfALogIsOfItsTicks(t *testing.T) {
	log := twoPhases(t, 90e3)
	status, out, e := compared("published:windowsnt4", log)
	if status != 0 || !strings.Contains(out, "± 163 ns") { // a tick in 5999 intervals
		t.Errorf("status %d %s\n%s", status, e, out)
	}
	if !strings.Contains(out, "B - A: the order of the values of A is not known (") {
		t.Errorf("who has no order?\n%s", out)
	}
}

func TestCompareSaysWhatIsNoComparison(t *testing.T) {
	log := twoPhases(t, 90e3)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{log, log}, "A and B are the same"},
		{[]string{"published:windowsnt4", "published:windowsnt4"}, "A and B are the same"},
		{[]string{log, reportFile(t, log)}, ""},
	} {
		if text := strings.Join(comparedJSON(t, 0, c.args...).Warnings, "; "); text != c.want && (c.want == "" || !strings.Contains(text, c.want)) {
			t.Errorf("%v: %q, want %q", c.args, text, c.want)
		}
	}
}

func TestCompareJudgesLimits(t *testing.T) {
	log := twoPhases(t, 60e3)
	for _, c := range []struct {
		args    []string
		status  int
		verdict string
	}{
		{[]string{log, "--max-interval", "20ms"}, 0, results.Pass},
		{[]string{log, "--max-interval", "5100us"}, 3, results.Fail},
		{[]string{log, "--max-errors", "0"}, 3, results.Undecidable},
		{[]string{log, "--max-late-share", "99.5"}, 0, results.Pass},
		{[]string{log, "--max-late-share", "0"}, 3, results.Fail},
		{[]string{log, "--max-lost", "0", "--max-lateness", "10ms"}, 0, results.Pass},
		{[]string{"published:windows95", "--max-interval", "2s"}, 0, results.Pass},
		{[]string{"published:windows95", "--max-lost", "0"}, 3, results.Undecidable},
	} {
		j := comparedJSON(t, c.status, c.args...)
		for _, l := range j.Phases[0].Cells[0].Limits {
			if l.Verdict != c.verdict {
				t.Errorf("%v: %+v, want %s", c.args[1:], l, c.verdict)
			}
		}
		if len(j.Phases[0].Cells[0].Limits) == 0 {
			t.Errorf("%v: no verdict", c.args)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	log := twoPhases(t, 90e3)
	other := write(t, "other.csv", strings.ReplaceAll(strings.ReplaceAll(readFile(t, log), "disk", "x"), "no interface operations", "y"))
	report := reportFile(t, log)
	comparison := filepath.Join(t.TempDir(), "c.json")
	if s, _, e := compared(log, log, "--json", comparison); s != 0 {
		t.Fatal(e)
	}
	newer := write(t, "newer.json", strings.Replace(readFile(t, report), `"version": 1`, `"version": 7`, 1))
	cut := write(t, "cut.json", readFile(t, report)[:2000])
	saleae := write(t, "saleae.csv", "name,type,start_time,duration,data\n\"Async 1\",\"data\",0.000592672,0.000082464,0x31\n\"Async 1\",\"data\",0.010592672,0.000082464,0x32\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string // in the error
		hint   string
	}{
		{nil, 2, "no run", "receiver compare"},
		{[]string{"published:windows98"}, 2, "windows98", "published:windows95 and published:windowsnt4"},
		{[]string{"published:"}, 2, `""`, "published:windowsnt4"},
		{[]string{log, "--bin", "1ms", "--tick", "1024"}, 2, "--bin and --tick", "drop"},
		{[]string{log, "--bin", "1ns"}, 2, "1ns", "--bin"},
		{[]string{log, "--json", "-", "--csv", "-"}, 2, "stdout", "file"},
		{[]string{log, "--max-late-share", "101"}, 2, "101", "percentage"},
		{[]string{log, "--max-interval", "0s"}, 2, "0s", "20ms"},
		{[]string{log, "--late-by", "0s"}, 2, "--late-by 0s", "250us"},
		{[]string{log, "--late-by", "-1ms"}, 2, "negative", "5ms"},
		{[]string{log, "--max-lateness", "-1ms"}, 2, "-1ms", "1ms"},
		{[]string{log, "--max-lost", "-1"}, 2, "-1", "from 0"},
		{[]string{log, "--max-errors", "-1"}, 2, "-1", "from 0"},
		{[]string{"published:windowsnt4", "--bin", "2ms"}, 2, "1024 Hz", "drop"},
		{[]string{"published:windowsnt4", "--tick", "1000"}, 2, "1024 Hz", "drop"},
		{[]string{log, "--nonsense"}, 2, "nonsense", "--help"},
		{[]string{log, "-"}, 1, "- cannot be compared", "file"},
		{[]string{log, "/dev/null"}, 1, "a pipe or device only once", "file"},
		{[]string{log, write(t, "probe.json", `{"format": "serialtiming-probe"}`)}, 1, "report of a probe", "--log"},
		{[]string{log, write(t, "text", " M-Sec  Count (x)\n     5   1997\n")}, 1, "text of a report", "--json"},
		{[]string{log, "/no/such.csv"}, 1, "such.csv", "name"},
		{[]string{log, t.TempDir()}, 1, "folder", "log"},
		{[]string{log, other}, 1, "in common", `"disk"`},
		{[]string{log, write(t, "e", "")}, 1, "empty", "--log"},
		{[]string{log, write(t, "p", "hello\n")}, 1, "no run log", "--log"},
		{[]string{log, write(t, "j", `{"a":1}`)}, 1, "no run log", "--json"},
		{[]string{log, write(t, "n", "# serialtiming log 99\n")}, 1, "version 99", "update"},
		{[]string{log, write(t, "h", "# serialtiming log 1\nrun,arrived_ns\n")}, 1, "no run", "ended"},
		{[]string{log, newer}, 1, "version 7", "update"},
		{[]string{log, cut}, 1, "cannot be read", "--json"},
		{[]string{log, comparison}, 1, "comparison", "made from"},
		{[]string{log, saleae}, 1, "no histogram", "receiver replay"},
		{[]string{log, "--json", "/no/such/file"}, 1, "/no/such", "folder"},
	} {
		status, out, e := compared(c.args...)
		var errors, hints string
		for line := range strings.Lines(e) {
			switch {
			case strings.HasPrefix(line, "receiver: error: "):
				errors += line
			case strings.HasPrefix(line, "receiver: hint: "):
				hints += line
			}
		}
		if status != c.status || !strings.Contains(errors, c.want) || !strings.Contains(hints, c.hint) || hints == "" {
			t.Errorf("%v: status %d, want %d with %q and hint %q:\n%s", c.args, status, c.status, c.want, c.hint, e)
		}
		if strings.Count(errors, "\n") != 1 || out != "" {
			t.Errorf("%v: more than one error, or something on stdout:\n%s%s", c.args, e, out)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCompareHelpAndInterrupt(t *testing.T) {
	status, out, e := compared("--help")
	if status != 0 || out != compareUsage || e != "" {
		t.Errorf("status %d\n%s%s", status, out, e)
	}
	for _, flag := range []string{"--bin", "--tick", "--late-by", "--json", "--csv", "--max-interval", "--max-lateness", "--max-late-share", "--max-lost", "--max-errors"} {
		if !strings.Contains(compareUsage, "  "+flag+" ") {
			t.Errorf("the usage does not name %s", flag)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	p := &program{stdout: &stdout, stderr: &stderr, voice: cli.NewVoice("receiver", &stderr)}
	if status, err := p.compare(ctx, []string{twoPhases(t, 90e3)}); err == nil && status != cli.Failed || stdout.Len() > 0 {
		t.Errorf("interrupted: status %d, %v: %s", status, err, stdout.String())
	}
}
