//go:build rig && linux

package wine

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// reportOf reads a report of any number of runs.
func reportOf(t *testing.T, name string) (r report) {
	t.Helper()
	if err := json.Unmarshal([]byte(file(t, name)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPhases sends five phases over the named pipe: a labelled table each, and
// the same five from the log. One load ends at once, which is a finding.
func TestPhases(t *testing.T) {
	before := litter(t)
	s := start(t, "sender", "--port", "cable:phases", "--period", "4ms", "--count", "200", "--settle", "200ms", "--label", "wine",
		"--load", "quiet=@none", "--load", "x=@threads:20", "--load", "memory=@memory:1x16M", "--load", "disk=@disk:.:4M:64K",
		"--load", "short=exit 3")
	r := start(t, "receiver", "--port", "cable:phases", "--warmup", "100ms", "--log", "phases.csv", "--json", "phases.json")
	s.ends(0)
	r.ends(0)
	s.says("phase 5 of 5 in 200ms: wine: short")
	s.says("load short ended before the run did: it ended by itself after")
	got := reportOf(t, "phases.json")
	want := []string{"wine: quiet", "wine: x", "wine: memory", "wine: disk", "wine: short"}
	for i, run := range got.Runs {
		if i >= len(want) || run.Label != want[i] || !strings.Contains(r.stdout.String(), "Count ("+run.Label+")") {
			t.Errorf("phase %d is %q", i+1, run.Label)
		}
		whole(t, report{Runs: got.Runs[i : i+1]}, 200)
	}
	if len(got.Runs) != 5 || !strings.Contains(r.stdout.String(), "exit status 3") {
		t.Errorf("%d phases:\n%s", len(got.Runs), r.stdout.String())
	}
	replayed(t, "phases.csv", "phases.json")
	if after := litter(t); !slices.Equal(after, before) {
		t.Errorf("files before %q, after %q", before, after)
	}
}

func TestALoadThatDoesNotStart(t *testing.T) {
	for load, says := range map[string]string{
		"x=no-such-program-here --x": "the shell cannot start the command",
		`d=@disk:Q:\none`:            "did not start",
	} {
		r := start(t, "receiver", "--port", "cable:bad", "--warmup", "100ms")
		s := start(t, "sender", "--port", "cable:bad", "--count", "10", "--settle", "500ms", "--load", load)
		s.ends(1)
		s.says(says)
		s.says("sender: hint: ")
		r.wait()
	}
}

// TestAKilledSenderLeavesNothing ends the sender under the load of a command
// and under that of a built-in one, and compares process list and files.
func TestAKilledSenderLeavesNothing(t *testing.T) {
	for name, load := range map[string]string{
		"command": "start /b cmd /c ping -n 1000 127.0.0.1 & ping -n 1000 127.0.0.1",
		"disk":    "@disk:.:4M:64K",
	} {
		t.Run(name, func(t *testing.T) {
			processes, files := processList(t), litter(t)
			r := start(t, "receiver", "--port", "cable:kill", "--warmup", "100ms")
			s := start(t, "sender", "--port", "cable:kill", "--period", "5ms", "--duration", "60s", "--settle", "60s", "--load", "x="+load)
			added := 4 // receiver, sender, supervisor, worker
			if name == "command" {
				added += 3 // a shell, two pings
			}
			eventually(t, "the load runs", func() bool { return len(processList(t)) >= len(processes)+added })
			if during := litter(t); len(during) <= len(files) {
				t.Errorf("the load has no files: %q", during)
			}
			s.cmd.Process.Kill()
			s.wait()
			r.wait()
			var after []string
			eventually(t, "the processes are gone", func() bool {
				after = processList(t)
				return reflect.DeepEqual(after, processes)
			})
			eventually(t, "the files are gone", func() bool { return reflect.DeepEqual(litter(t), files) })
			t.Logf("before %d processes, after %d; files %d and %d", len(processes), len(after), len(files), len(litter(t)))
		})
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s\n%s", what, strings.Join(processList(t), "\n"))
		}
	}
}

// processList is what runs in the rig's prefix and was started for a scenario:
// Wine's own services come and go.
func processList(t *testing.T) (list []string) {
	t.Helper()
	mark := []byte("\x00WINEPREFIX=" + filepath.Join(theRig.cache, "prefix") + "\x00")
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range names {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), mark) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		text := strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
		if err != nil || text == "" || strings.Contains(text, `\windows\system32\`) && !strings.Contains(text, "ping") && !strings.Contains(text, "cmd") {
			continue
		}
		list = append(list, filepath.Base(dir)+" "+text)
	}
	slices.Sort(list)
	return list
}

// litter lists what loads leave while they run, in the work folder and in those
// for temporary files.
func litter(t *testing.T) (list []string) {
	t.Helper()
	for _, root := range []string{theRig.work, filepath.Join(theRig.cache, "prefix", "drive_c", "users"), os.TempDir()} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it has gone meanwhile
			case strings.Contains(d.Name(), "serialtiming-load-"):
				list = append(list, path)
			case d.IsDir() && root == os.TempDir() && path != root:
				return fs.SkipDir
			}
			return nil
		})
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestCheck: both programs look at this machine and open no port.
func TestCheck(t *testing.T) {
	for _, name := range []string{"sender", "receiver"} {
		p := start(t, name, "check", "--port", "COM1")
		p.ends(0)
		for _, want := range []string{"timer resolution: 1ms now", "priority class: normal", " port "} {
			if !strings.Contains(p.stdout.String(), want) {
				t.Errorf("%s check does not say %q", name, want)
			}
		}
	}
}
