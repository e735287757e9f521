package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"serialtiming/results"
	"serialtiming/sender/load"
)

// TestMain is also the loads' processes.
func TestMain(m *testing.M) {
	if handled, status := load.Child(os.Args[1:]); handled {
		os.Exit(status)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets a load's processes end a second late
	os.Exit(m.Run())
}

// sent runs the program.
func sent(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var out, e bytes.Buffer
	status = run(ctx, args, strings.NewReader(""), &out, &e)
	return status, out.String(), e.String()
}

// looped sends to itself, which needs no second program.
func looped(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return sent(t, append([]string{"--port", "cable", "--loopback", "--period", "2ms", "--count", "100", "--settle", "300ms", "--priority", "normal"}, args...)...)
}

func TestAPhaseALoad(t *testing.T) {
	log := filepath.Join(t.TempDir(), "run.csv")
	status, out, e := looped(t, "--label", "here", "--json", "-", "--log", log,
		"--load", "idle=@none", "--load", "busy=@threads:2:low", "--load", "short=exit 3")
	var r results.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 || len(r.Runs) != 3 {
		t.Fatalf("status %d, %v, %d runs: %s", status, err, len(r.Runs), e)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"here: idle", "here: busy", "here: short"} {
		run := r.Runs[i]
		if run.Label != want || *run.Sent != 100 || !strings.Contains(e, "in 300ms: "+want) {
			t.Errorf("phase %d is %q with %d sent", i+1, run.Label, *run.Sent)
		}
		ended := slices.ContainsFunc(run.Findings, func(f results.Finding) bool {
			return f.Code == "load-ended" && strings.Contains(f.Text, "exit status 3")
		})
		if ended != (i == 2) {
			t.Errorf("%s: findings %+v", want, run.Findings)
		}
		counted(t, &run, string(text))
	}
}

// counted demands what the system did to the sender, idle and loaded, in the
// report and in the log.
func counted(t *testing.T, run *results.Run, log string) {
	t.Helper()
	i := slices.IndexFunc(run.Counters, func(c results.Counters) bool { return c.Side == "sender" })
	if i < 0 || run.Counters[i].GC == nil {
		t.Fatalf("%s: counters %+v", run.Label, run.Counters)
	}
	keys := []string{"sender_gc"}
	if c := run.Counters[i]; runtime.GOOS == "linux" {
		keys = append(keys, "sender_page_faults", "sender_involuntary_switches")
		if c.PageFaults == nil || c.InvoluntarySwitches == nil {
			t.Errorf("%s: %+v", run.Label, c)
		}
	}
	for _, k := range keys {
		if n := strings.Count(log, " "+k+": "); n != 3 {
			t.Errorf("the log has %s %d times", k, n)
		}
	}
}

// What does not start ends the program; the phases before it are kept.
func TestALoadThatDoesNotStartEndsTheRun(t *testing.T) {
	for _, c := range []struct{ spec, why, hint string }{
		{"no-such-program-here --x", "the shell cannot start the command", "by itself"},
		{"@disk:/no/such/folder", "no", "folder that you may write to"},
		{"@memory:1024x1T", "memory", "less memory"},
	} {
		if c.spec[0] == '@' && c.spec[1] == 'm' && runtime.GOOS != "linux" {
			continue // a system that gives what it does not have
		}
		// A shell takes its time on a busy machine.
		status, out, e := looped(t, "--load", "first=@none", "--load", "bad="+c.spec, "--load", "last=@none", "--settle", "1500ms")
		if status != 1 || !strings.Contains(out, "(first") || strings.Contains(out, "last") {
			t.Errorf("%s: status %d\n%s", c.spec, status, out)
		}
		for _, want := range []string{`sender: error: the load "bad" (` + c.spec + ") did not start: ", c.why, "sender: hint: ", c.hint} {
			if !strings.Contains(e, want) {
				t.Errorf("%s: no %q in\n%s", c.spec, want, e)
			}
		}
	}
}

func TestBadLoadsAreWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--load", "a=@none", "--load", "a=@threads:1"}, `two loads have the label "a"`},
		{[]string{"--load", "a=@none", "--load", "A=@threads:1"}, "nothing but their case"},
		{[]string{"--load", "@none"}, "has no label"},
		{[]string{"--load", "a=@cpu:3"}, "no built-in load @cpu"},
		{[]string{"--load", "a=@none", "--settle", "-1s"}, "--settle -1s"},
		{[]string{"--load", "a=@none", "--load", "b=@none", "--plain"}, "--plain"},
	} {
		for _, command := range [][]string{{"--port", "cable", "--count", "5"}, {"probe", "clock"}} {
			if slices.Contains(c.args, "--plain") && command[0] == "probe" {
				continue
			}
			if status, out, e := sent(t, append(slices.Clone(command), c.args...)...); status != 2 || out != "" || !strings.Contains(e, c.says) || !strings.Contains(e, "sender: hint: ") {
				t.Errorf("%v %v: status %d, no %q in %s", command, c.args, status, c.says, e)
			}
		}
	}
}
