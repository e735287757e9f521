package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"serialtiming/results"
)

var update = flag.Bool("update", false, "write the golden files")

// run makes a run of 600 characters, 5 ms apart, one of them 3 ms late.
func run(kind results.TableKind) results.Run {
	t := results.NewTally(results.TallyOptions{Table: kind, PeriodNS: 5e6, Announced: 5e6, Grid: true, Quantum: 1})
	for i := range int64(600) {
		at := i*5_000_000 + i*i%7*1000
		if i == 300 {
			at += 3_000_000
		}
		t.Event(at, 1, 0)
		t.Place(at, i, true, false)
	}
	r := results.Run{Label: "a=\x1b[1mlabel\",x", Started: "2026-01-02T03:04:05Z"}
	t.Fill(&r)
	r.Period.AnnouncedNS = new(int64(5e6))
	r.Sent, r.Missed = new(int64(600)), new(int64(0))
	r.Lost, r.Duplicated, r.Corrupted, r.Extra = new(int64(0)), new(int64(0)), new(int64(0)), new(int64(0))
	r.BeforeStart = new(int64(0))
	return r
}

func reports() map[string]results.Report {
	port := results.Source{Kind: "port", Class: "character", QuantumNS: 1}
	full := run(results.TableKind{Bin: time.Millisecond})
	full.Noise, full.LostIsMinimum, full.Disturbed = 3, true, 2
	*full.BeforeStart = 12
	full.Steps = results.Steps{Zero: 1, Backward: 2}
	full.Errors.Set("framing", 4)
	full.Granted = []results.Granted{
		{Side: "sender", Item: "priority", Asked: "realtime:80", Got: "SCHED_FIFO 80"},
		{Side: "sender", Item: "memory", Asked: "locked", Got: "locked"},
		{Side: "receiver", Item: "priority", Asked: "realtime:80", Got: "SCHED_OTHER", Why: "no right"},
	}
	full.Counters = []results.Counters{{Side: "receiver", GC: new(int64(0)), PageFaults: new(int64(3))}}
	full.Limits = []results.Limit{{Limit: "max-lost", Set: 0, Measured: new(0.0), Verdict: "pass"}}
	full.FloorNS = new(int64(43_000))
	full.Findings = []results.Finding{{Code: "balance", Text: "more came than was sent"}}
	full.Warnings = []string{"run.csv is torn: the last line is cut"}
	bare := results.Run{Characters: 1, Events: 1, Table: results.TableData{BinNS: 1e6}}
	sender := run(results.TableKind{Bin: time.Millisecond})
	return map[string]results.Report{
		"bins":   results.NewReport(port, []results.Run{full}),
		"ticks":  results.NewReport(port, []results.Run{run(results.TableKind{Bin: time.Millisecond, Hz: 1024})}),
		"fine":   results.NewReport(port, []results.Run{run(results.TableKind{Bin: 100 * time.Microsecond})}),
		"bare":   results.NewReport(port, []results.Run{bare, run(results.TableKind{Bin: time.Millisecond})}),
		"sender": results.NewReport(results.Source{Kind: "sender"}, []results.Run{sender}),
		"none":   results.NewReport(port, nil),
	}
}

func TestGolden(t *testing.T) {
	for name, r := range reports() {
		for ext, write := range map[string]func(io.Writer, results.Report) error{"txt": Text, "json": JSON, "csv": CSV} {
			file := filepath.Join("testdata", name+"."+ext)
			t.Run(file, func(t *testing.T) {
				var b bytes.Buffer
				if err := write(&b, r); err != nil {
					t.Fatal(err)
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

func TestKeyHasTheDecimalsOfTheBin(t *testing.T) {
	for _, c := range []struct {
		key, bin int64
		want     string
	}{{5, 1e6, "5"}, {2, 5e6, "10"}, {50, 1e5, "5.0"}, {51, 1e5, "5.1"}, {5001, 1000, "5.001"}, {3, 2.5e5, "0.75"}, {0, 1e6, "0"}} {
		if got := Key(c.key, c.bin); got != c.want {
			t.Errorf("row %d of %d ns: %q, want %q", c.key, c.bin, got, c.want)
		}
	}
}
