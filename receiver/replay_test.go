package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
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
	var out, e bytes.Buffer
	p := &program{stdin: bytes.NewReader(data), stdout: &out, stderr: &e, voice: cli.NewVoice("receiver", &e)}
	status, err := p.replay(context.Background(), append([]string{"-"}, args...))
	if err != nil {
		status = p.voice.Fail(err)
	}
	return status, out.String(), e.String()
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
		args := []string{"--expect", expect, "--samplerate", "1000003"}
		status, stdout, stderr := replayedInput(data, append(args, "--json", "-")...)
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
		_, stdout, stderr = replayedInput(data, args...)
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
