package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/results"
)

// replayedInput replays a file from standard input.
func replayedInput(data []byte, args ...string) (status int, stdout, stderr string) {
	return replayed(string(data), append([]string{"-"}, args...)...)
}

func replayed(input string, args ...string) (status int, stdout, stderr string) {
	var out, e bytes.Buffer
	p := &program{stdin: strings.NewReader(input), stdout: &out, stderr: &e, voice: cli.NewVoice("receiver", &e)}
	status, err := p.replay(context.Background(), args)
	if err != nil {
		status = p.voice.Fail(err)
	}
	return status, out.String(), e.String()
}

// Ctrl-C while a pipe waits ends it, and what had come is reported.
func TestAnInterruptedPipeGivesItsReport(t *testing.T) {
	for name, text := range map[string]string{
		"run log": "# serialtiming log 1\nrun,arrived_ns,byte,batch,flags\n1,5000000,20,1,\n1,10000000,21,1,\n",
		"table":   "time [s],byte\n0.005,20\n0.010,21\n0.015,22\n",
	} {
		in, out := io.Pipe() // whose other end is never closed
		defer out.Close()
		ctx, interrupt := context.WithCancel(context.Background())
		go func() {
			io.WriteString(out, text)
			time.Sleep(50 * time.Millisecond)
			interrupt()
		}()
		var stdout, stderr bytes.Buffer
		p := &program{stdin: in, stdout: &stdout, stderr: &stderr, voice: cli.NewVoice("receiver", &stderr)}
		_, err := p.replay(ctx, []string{"-"})
		if err != nil || !strings.Contains(stdout.String(), " M-Sec  Count") || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%s: %v\n%s%s", name, err, stdout.String(), stderr.String())
		}
	}
}

// FuzzReplayFile gives the whole command any file: it ends, with a report that
// keeps its identities or with an error, and nothing of the file reaches the
// terminal as it is.
func FuzzReplayFile(f *testing.F) {
	samples, err := filepath.Glob("../results/importer/testdata/*.*")
	if err != nil || len(samples) < 20 {
		f.Fatalf("%d samples, %v", len(samples), err)
	}
	for i, name := range samples {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(i))
	}
	f.Add([]byte("# serialtiming log 1\nrun,arrived_ns,byte,batch,flags\n1,5,20,1,\n1,10,21,2,f\n1,10,22,0,\n"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, how uint8) {
		defer time.AfterFunc(time.Minute, func() { panic("it hangs") }).Stop()
		expect := [...]string{"none", "cycle", "counter"}[how%3]
		args := []string{"--expect", expect, "--samplerate", "1000003", "--json", "-"}
		status, stdout, stderr := replayedInput(data, args...)
		if status == cli.WrongUsage && strings.Contains(stderr, "--samplerate does not apply") {
			args = append(args[:2], "--json", "-")
			status, stdout, stderr = replayedInput(data, args...)
		}
		if status == cli.Failed && stdout == "" && strings.HasPrefix(stderr, "receiver: ") {
			printable(t, stderr)
			return
		}
		if status != cli.Done {
			t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
		report, err := results.ReadReport(strings.NewReader(stdout))
		if err != nil || len(report.Runs) == 0 {
			t.Fatalf("%v in %s", err, stdout)
		}
		for _, r := range report.Runs {
			if err := r.Check(); err != nil && len(r.Findings) == 0 && r.Sent == nil {
				t.Fatal(err)
			}
		}
		_, stdout, stderr = replayedInput(data, args[:len(args)-2]...)
		printable(t, stdout)
		printable(t, stderr)
	})
}

// printable fails where text could command a terminal.
func printable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			t.Fatalf("%q in %q", r, text)
		}
	}
}

// A file that is refused at its end leaves no half log behind.
func TestARefusedFileLeavesNothing(t *testing.T) {
	two := "name,type,start_time,duration,\"data\"\n\"A\",\"data\",0.001,0.00008,0x31\n\"B\",\"data\",0.002,0.00008,0x32\n"
	log, packets := filepath.Join(t.TempDir(), "run.csv"), filepath.Join(t.TempDir(), "run.pcapng")
	status, _, stderr := replayedInput([]byte(two), "--log", log, "--pcapng", packets)
	if status != cli.Failed || !strings.Contains(stderr, `"B"  1 events`) || !strings.Contains(stderr, "--channel") {
		t.Errorf("status %d: %s", status, stderr)
	}
	for _, name := range []string{log, packets} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left", name)
		}
	}
	if status, _, stderr = replayedInput([]byte(two), "--channel", "a", "--log", log); status != cli.Done {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
}

// Remarks on a compressed file that was cut stand once, in the report and on
// standard error.
func TestATornCompressedFile(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 2000 {
		fmt.Fprintf(z, "%d.%06d,41\n", i/200, i*5000%1000000)
	}
	z.Close()
	status, stdout, stderr := replayedInput(b.Bytes()[:b.Len()/2])
	if status != cli.Done || strings.Count(stdout, "compressed file is torn") != 1 || strings.Count(stderr, "compressed file is torn") != 1 {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

func TestAnEmptyFileIsSaidToBeEmpty(t *testing.T) {
	if status, _, stderr := replayedInput(nil); status != cli.Failed || !strings.Contains(stderr, "-: the file is empty") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

const ownLog = "# serialtiming log 1\nrun,arrived_ns,byte,batch,flags\n1,5,20,1,\n1,5000005,21,1,\n"

// The flags of a table make a bare column of numbers one, and are never
// silently ignored.
func TestTheFlagsOfATable(t *testing.T) {
	const strace = "1796039122.116921 read(3, \"\\37\", 131072) = 1 <0.0198>\n1796039122.216921 read(3, \"\\37\", 131072) = 1 <0.0198>\n"
	const tio = "[11:45:03.719] text\n[11:45:03.819] text\n[11:45:03.919] text\n"
	table := []string{"source        table", "steps of 1.0 µs", "max 5.000 ms"}
	for _, c := range []struct {
		name, data, args string
		status           int
		want             []string
	}{
		{"unit", "t\n500.000\n505.000\n", "--time-unit ms", cli.Done, table},
		{"unit, long header", "time\n500.000\n505.000\n", "--time-unit ms", cli.Done, table},
		{"column", "time\n0.500000\n0.505000\n", "--time-column 1", cli.Done, table},
		{"deltas", "t\n0.005000\n0.005000\n0.005000\n", "--deltas", cli.Done, table},
		{"deltas without a header", "0.005000\n0.005000\n0.005000\n", "--deltas", cli.Done, table},
		{"two tables' flags", "t\n5.000\n5.000\n5.000\n", "--deltas --time-unit ms", cli.Done, table},
		{"deltas of lines", tio, "--deltas", cli.Done, []string{"source        tio"}},
		{"deltas of bare lines", "0.005000 one\n0.005000 two\n0.005000 three\n", "--deltas", cli.Done, []string{"source        ts", "max 5.000 ms"}},
		{"deltas and values", "0.005000 41\n0.005000 42\n0.005000 43\n", "--deltas", cli.Done, table},
		{"a wrong column", "t\n500.000\n505.000\n", "--time-column 4", cli.Failed, []string{"table: column 4 does not hold numbers", "hint: "}},
		{"no table", tio, "--time-unit ms", cli.WrongUsage, []string{"--time-unit does not apply to the format tio", "hint: drop it"}},
		{"deltas of reads", strace, "--deltas --format strace", cli.WrongUsage, []string{"--deltas does not apply to the format strace", "hint: drop it"}},
		{"column of lines", tio, "--time-column 1 --format tio", cli.WrongUsage, []string{"--time-column does not apply to the format tio", "hint: drop it"}},
		{"rate of lines", tio, "--samplerate 1000", cli.WrongUsage, []string{"--samplerate does not apply to the format tio", "hint: drop it"}},
		{"rate of a table of times", "t,byte\n0.1,41\n0.2,42\n", "--samplerate 1000", cli.WrongUsage, []string{"--samplerate does not apply to the format table, unless", "hint: drop it"}},
		{"rate of a table of samples", "sample,byte\n10,41\n15,42\n", "--samplerate 1000", cli.Done, []string{"max 5.000 ms"}},
		{"own log, unit", ownLog, "--time-unit ms", cli.WrongUsage, []string{"--time-unit does not apply to a run log", "hint: drop it"}},
		{"own log, column", ownLog, "--time-column 2", cli.WrongUsage, []string{"--time-column does not apply to a run log", "hint: drop it"}},
		{"own log, deltas", ownLog, "--deltas", cli.WrongUsage, []string{"--deltas does not apply to a run log", "hint: drop it"}},
		{"own log, rate", ownLog, "--samplerate 1000", cli.WrongUsage, []string{"--samplerate does not apply to a run log", "hint: drop it"}},
		{"own log", ownLog, "", cli.Done, []string{"max 5.000 ms"}},
		{"own log as a table", ownLog, "--format table --time-unit ms", cli.Failed, []string{"run log", "hint: drop --format"}},
		{"no rows", "t\n", "", cli.Failed, []string{"table: no rows", "hint: "}},
		{"no rows of two columns", "t,byte\n", "", cli.Failed, []string{"table: no rows", "hint: "}},
		{"no rows of a channel", "t,channel,byte\n", "--format table", cli.Failed, []string{"table: no rows", "hint: "}},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"-", file} {
			status, stdout, stderr := replayed(c.data, append([]string{name}, strings.Fields(c.args)...)...)
			if status != c.status {
				t.Errorf("%s, %s: status %d, want %d: %s", c.name, name, status, c.status, stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("%s, %s: no %q in\n%s%s", c.name, name, want, stdout, stderr)
				}
			}
		}
	}
}

// What no sequence was named for says how to name one.
func TestNoSequenceSaysExpect(t *testing.T) {
	const log = "0.100,41\n0.200,42\n"
	if _, stdout, _ := replayedInput([]byte(log)); !strings.Contains(stdout, "sequence      not judged unless --expect") {
		t.Error(stdout)
	}
	if _, stdout, _ := replayedInput([]byte(log), "--expect", "counter"); strings.Contains(stdout, "not judged") {
		t.Error(stdout)
	}
}
