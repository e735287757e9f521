package house

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// bin builds both binaries once and gives their folder.
var bin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "serialtiming")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), module+"/sender", module+"/receiver").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := bin(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// proc is a started binary.
type proc struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan error
}

// start starts a binary by its name; it is killed when the test ends.
func start(t *testing.T, name string, args ...string) *proc {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	p := &proc{t: t, cmd: exec.CommandContext(ctx, filepath.Join(dir, name), args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait(); cancel() }()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// wait gives the exit status.
func (p *proc) wait() int {
	p.t.Helper()
	err := <-p.done
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	p.t.Fatal(err)
	return -1
}

// report is the part of the JSON that the tests look at.
type report struct {
	Format  string
	Version int
	Source  struct{ Kind string }
	Runs    []struct {
		Label                                     string
		Sent, Missed, Lost, Duplicated, Corrupted *int64
		Extra, BeforeStart                        *int64
		Characters, Events, Batched               int64
		Steps                                     struct{ Zero, Backward, Stale int64 }
		Interval                                  *struct{ Count int64 } `json:"interval_ns"`
		Table                                     struct {
			Over int64
			Rows [][2]int64
		}
		FloorNS  *int64 `json:"floor_ns"`
		Warnings []string
	}
}

func parse(t *testing.T, b []byte) report {
	t.Helper()
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if r.Format != "serialtiming-report" || r.Version != 1 {
		t.Errorf("format %q version %d", r.Format, r.Version)
	}
	return r
}

// identities are those of the report that hold for every run.
func identities(t *testing.T, r report) {
	t.Helper()
	for i, run := range r.Runs {
		rows := run.Table.Over
		for _, row := range run.Table.Rows {
			rows += row[1]
		}
		steps := run.Steps.Zero + run.Steps.Backward + run.Steps.Stale
		if run.Characters != run.Events+run.Batched || max(run.Events-1, 0)-steps != run.Interval.Count || rows != run.Interval.Count {
			t.Errorf("run %d breaks an identity: %+v", i, run)
		}
	}
}

// sameButSource compares two JSON reports without their source.
func sameButSource(t *testing.T, a, b []byte) {
	t.Helper()
	var x, y map[string]any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	delete(x, "source")
	delete(y, "source")
	if p, q := fmt.Sprint(x), fmt.Sprint(y); p != q {
		t.Errorf("reports differ:\n%s\n%s", p, q)
	}
}

// cable gives a cable's name of this test's own.
func cable(t *testing.T) string {
	return fmt.Sprintf("cable:test-%d-%x", os.Getpid(), time.Now().UnixNano()&0xffffff)
}

func TestBothEndsOverTheCable(t *testing.T) {
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--port", name, "--log", log, "--json", "-")
	sent := filepath.Join(t.TempDir(), "sent.csv")
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--count", "1000", "--label", "no interface operations", "--log", sent, "--json", "-")
	if s := sender.wait(); s != 0 {
		t.Fatalf("sender: status %d: %s", s, sender.stderr.String())
	}
	if s := receiver.wait(); s != 0 {
		t.Fatalf("receiver: status %d: %s", s, receiver.stderr.String())
	}
	live := receiver.stdout.Bytes()
	r := parse(t, live)
	identities(t, r)
	run := r.Runs[0]
	if len(r.Runs) != 1 || run.Characters != 1000 || *run.Sent != 1000 || *run.Lost+*run.Duplicated+*run.Corrupted+*run.Extra != 0 || run.Label != "no interface operations" {
		t.Errorf("%s", live)
	}

	if run.FloorNS == nil || *run.FloorNS <= 0 {
		t.Error("no floor after a warm-up")
	}

	replay := start(t, "receiver", "replay", log, "--json", "-")
	if s := replay.wait(); s != 0 {
		t.Fatalf("replay: status %d: %s", s, replay.stderr.String())
	}
	sameButSource(t, live, replay.stdout.Bytes())

	ticks := start(t, "receiver", "replay", log, "--tick", "1024")
	if s := ticks.wait(); s != 0 || !strings.HasPrefix(ticks.stdout.String(), " M-Sec  Count (no interface operations)\n") {
		t.Errorf("status %d: %s", s, ticks.stdout.String())
	}

	self := start(t, "receiver", "replay", sent, "--json", "-")
	if s := self.wait(); s != 0 {
		t.Fatalf("replay of the sender's log: status %d: %s", s, self.stderr.String())
	}
	sameButSource(t, sender.stdout.Bytes(), self.stdout.Bytes())
}

func TestBackToBackLosesNothing(t *testing.T) {
	count := "1000000"
	if testing.Short() || runtime.GOOS != "linux" {
		count = "50000"
	}
	name := cable(t)
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--json", "-")
	sender := start(t, "sender", "--port", name, "--period", "0", "--count", count)
	if s := sender.wait(); s != 0 {
		t.Fatalf("sender: status %d: %s", s, sender.stderr.String())
	}
	if s := receiver.wait(); s != 0 {
		t.Fatalf("receiver: status %d: %s", s, receiver.stderr.String())
	}
	r := parse(t, receiver.stdout.Bytes())
	identities(t, r)
	if got := fmt.Sprint(r.Runs[0].Characters); got != count || *r.Runs[0].Lost != 0 {
		t.Errorf("%s of %s: %s", got, count, receiver.stdout.String())
	}
}

func TestInterruptedReceiverReports(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to another process there")
	}
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--json", "-")
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--duration", "1m")
	waitForRows(t, log, 200)
	receiver.cmd.Process.Signal(os.Interrupt)
	if s := receiver.wait(); s != 0 {
		t.Errorf("receiver: status %d: %s", s, receiver.stderr.String())
	}
	r := parse(t, receiver.stdout.Bytes())
	identities(t, r)
	if run := r.Runs[0]; run.Characters < 150 || *run.Lost != 0 || run.Sent != nil {
		t.Errorf("%s", receiver.stdout.String())
	}
	replay := start(t, "receiver", "replay", log, "--json", "-")
	replay.wait()
	sameButSource(t, receiver.stdout.Bytes(), replay.stdout.Bytes())
	if strings.Contains(replay.stderr.String(), "torn") {
		t.Errorf("the log of an interrupted capture is called torn: %s", replay.stderr.String())
	}
	// The sender's other end is gone: it says so and keeps what it did.
	if s := sender.wait(); s != 1 || !strings.Contains(sender.stderr.String(), "sender: error: ") || !strings.Contains(sender.stderr.String(), "sender: hint: ") {
		t.Errorf("sender: status %d: %s", s, sender.stderr.String())
	}
	if !strings.Contains(sender.stdout.String(), "sent") {
		t.Errorf("no result of the sender: %s", sender.stdout.String())
	}
}

// waitForRows waits until a log holds that many lines.
func waitForRows(t *testing.T, log string, n int) {
	t.Helper()
	for range 600 {
		if b, _ := os.ReadFile(log); bytes.Count(b, []byte{'\n'}) > n {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s never came to %d lines", log, n)
}

func TestKilledSender(t *testing.T) {
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--json", "-")
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--duration", "1m")
	waitForRows(t, log, 200)
	sender.cmd.Process.Kill()
	if s := receiver.wait(); s != 1 {
		t.Errorf("receiver: status %d: %s", s, receiver.stderr.String())
	}
	if e := receiver.stderr.String(); !strings.Contains(e, "receiver: error: ") || !strings.Contains(e, "receiver: hint: ") {
		t.Errorf("stderr: %s", e)
	}
	r := parse(t, receiver.stdout.Bytes())
	identities(t, r)
	replay := start(t, "receiver", "replay", log, "--json", "-")
	replay.wait()
	sameButSource(t, receiver.stdout.Bytes(), replay.stdout.Bytes())
}

func TestKilledReceiverLeavesALogThatReplays(t *testing.T) {
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log)
	start(t, "sender", "--port", name, "--period", "2ms", "--duration", "1m")
	waitForRows(t, log, 200)
	receiver.cmd.Process.Kill()
	receiver.wait()
	replay := start(t, "receiver", "replay", log, "--json", "-")
	if s := replay.wait(); s != 0 || !strings.Contains(replay.stderr.String(), "torn") {
		t.Errorf("status %d: %s", s, replay.stderr.String())
	}
	if r := parse(t, replay.stdout.Bytes()); r.Runs[0].Characters < 150 || r.Runs[0].Lost == nil || *r.Runs[0].Lost != 0 {
		t.Errorf("%s", replay.stdout.String())
	}
}

func TestALostDiskDoesNotEndTheCapture(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	name := cable(t)
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", "/dev/full", "--json", "-")
	start(t, "sender", "--port", name, "--period", "2ms", "--count", "1000")
	if s := receiver.wait(); s != 1 || !strings.Contains(receiver.stderr.String(), "the log is not whole") {
		t.Errorf("status %d: %s", s, receiver.stderr.String())
	}
	if r := parse(t, receiver.stdout.Bytes()); r.Runs[0].Characters != 1000 {
		t.Errorf("%s", receiver.stdout.String())
	}
}

func TestEscapeSequencesInALabel(t *testing.T) {
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log)
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--count", "20", "--label", "a\x1b[31mred\n1,5,20,1,\n# end 1 sent: 7")
	if s := receiver.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, receiver.stderr.String())
	}
	sender.wait()
	file, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"log": string(file), "text": receiver.stdout.String(), "sender": sender.stdout.String()} {
		if strings.ContainsRune(text, 0x1b) || strings.Contains(text, "\n1,5,20,1,\n") || !strings.Contains(text, `a\x1b[31mred`) {
			t.Errorf("%s: %q", what, text)
		}
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain.txt")
	newer := filepath.Join(dir, "newer.csv")
	os.WriteFile(file, []byte("hello\n"), 0o600)
	os.WriteFile(newer, []byte("# serialtiming log 99\n"), 0o600)
	for _, c := range []struct {
		command string
		status  int
		want    string // in the error
		hint    string // in the hint
	}{
		{"receiver", 2, "no port", "ports"},
		{"receiver --port cable --baud 0", 2, "0 baud", "--baud"},
		{"receiver --port cable --line 9Z1", 2, "9Z1", "8N1"},
		{"receiver --port cable --bin 1ms --tick 1024", 2, "--bin and --tick", "drop"},
		{"receiver --port cable --bin 1ns", 2, "1ns", "--bin"},
		{"receiver --port cable --tick-phase 1ms", 2, "--tick-phase", "--tick"},
		{"receiver --port cable --json - --csv -", 2, "stdout", "file"},
		{"receiver --port cable --idle 0s", 2, "--idle", "5s"},
		{"receiver --port cable --count 0", 2, "--count", "1"},
		{"receiver --port cable --priority urgent", 2, "urgent", "realtime"},
		{"receiver --port cable --nonsense", 2, "nonsense", "--help"},
		{"receiver --port cable stray", 2, "stray", "replay"},
		{"receiver --port cable --log " + dir + "/no/such/run.csv", 1, "no/such", "folder"},
		{"receiver --port cable --json " + dir + "/no/such/run.json", 1, "no/such", "folder"},
		{"receiver --port /dev/serialtiming-none", 1, "/dev/serialtiming-none", ""},
		{"receiver --port " + file, 1, "plain.txt", ""},
		{"receiver --port cable:../x", 2, "cable", ""},
		{"receiver --port cable --log " + file + " --json " + dir + "/./plain.txt", 2, "plain.txt", "file of its own"},
		{"receiver replay " + file + " --log " + file, 2, "plain.txt", "file of its own"},
		{"receiver replay " + file + " --format morse", 2, "morse", "--formats"},
		{"receiver compare " + file + " --json " + file, 2, "plain.txt", "file of its own"},
		{"receiver replay", 2, "no log", "receiver replay"},
		{"receiver replay " + file, 1, "plain.txt", "--format"},
		{"receiver replay " + newer, 1, "version 99", "update"},
		{"receiver replay " + dir + "/none.csv", 1, "none.csv", "name"},
		{"receiver replay " + dir, 1, "folder", "log"},
		{"receiver ports extra", 2, "extra", "receiver ports"},
		{"sender --port cable", 2, "no end", "--count"},
		{"sender --port cable --count 5 --duration 5s", 2, "--count and --duration", "drop"},
		{"sender --port cable --count -1", 2, "--count -1", ""},
		{"sender --port cable --count 5 --baud 9600 --period 1ms", 2, "1ms period is shorter than a character takes at 9600 baud 8N1 (1.0417ms)", "--period"},
		{"sender --port cable --count 5 --char 0x01", 2, "0x01", "--char"},
		{"sender --port cable --count 5 --char 0xff --line 7E1", 2, "wider", "--line"},
		{"sender --port cable --count 5 --line 5N1", 2, "data bits", "--line"},
		{"sender --port cable --count 5 --timer quartz", 2, "quartz", "--timer"},
		{"sender --port cable --count 5 --timer sleep --catch-up skip", 2, "", "--catch-up"},
		{"sender --port cable --count 5 --period -5ms", 2, "-5ms", "5ms"},
		{"sender --port cable --count 5 --cpu -3", 2, "CPU -3", ""},
		{"sender --port cable --count 5 --require-realtime --priority low", 2, "contradict", "drop"},
	} {
		t.Run(c.command, func(t *testing.T) {
			words := strings.Fields(c.command)
			p := start(t, words[0], words[1:]...)
			status, e := p.wait(), p.stderr.String()
			var errorLine, hintLine string
			for line := range strings.Lines(e) {
				if strings.Contains(line, ": error: ") {
					errorLine += line
				}
				if strings.Contains(line, ": hint: ") {
					hintLine += line
				}
			}
			if status != c.status || !strings.Contains(errorLine, c.want) || !strings.Contains(hintLine, c.hint) || hintLine == "" {
				t.Errorf("status %d, want %d with %q and hint %q:\n%s", status, c.status, c.want, c.hint, e)
			}
			if strings.Count(errorLine, "\n") != 1 || p.stdout.Len() != 0 {
				t.Errorf("more than one error, or something on stdout:\n%s%s", e, p.stdout.String())
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, c := range []string{"sender --help", "receiver --help", "receiver replay --help", "sender --version", "receiver --version", "sender ports", "receiver ports"} {
		words := strings.Fields(c)
		p := start(t, words[0], words[1:]...)
		if s := p.wait(); s != 0 || p.stdout.Len() == 0 || p.stderr.Len() != 0 {
			t.Errorf("%s: status %d, stdout %q, stderr %q", c, s, p.stdout.String(), p.stderr.String())
		}
	}
}

func TestBothLogsSideBySide(t *testing.T) {
	name, dir := cable(t), t.TempDir()
	log, sent := filepath.Join(dir, "run.csv"), filepath.Join(dir, "sent.csv")
	receiver := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log)
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--count", "500", "--log", sent,
		"--load", "one=@none", "--load", "two=@none", "--settle", "10ms")
	if s := sender.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, sender.stderr.String())
	}
	receiver.wait()
	p := start(t, "receiver", "replay", log, "--sender", sent, "--json", "-")
	if s := p.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, p.stderr.String())
	}
	var r struct {
		Runs []struct {
			Path struct {
				DueWoke      struct{ Count int64 } `json:"due_woke"`
				WokeWrote    struct{ Count int64 } `json:"woke_wrote"`
				WroteArrived struct{ Count int64 } `json:"wrote_arrived"`
			} `json:"path_ns"`
			Worst []struct{ Place int64 }
		}
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil || len(r.Runs) != 2 {
		t.Fatalf("%v in %s", err, p.stdout.String())
	}
	for i, run := range r.Runs {
		if run.Path.DueWoke.Count != 500 || run.Path.WokeWrote.Count != 500 || run.Path.WroteArrived.Count != 0 || len(run.Worst) != 10 {
			t.Errorf("run %d: %+v", i, run)
		}
	}
}
