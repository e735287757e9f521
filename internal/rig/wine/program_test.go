//go:build rig && linux

package wine

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is a sender or receiver that runs; what it said is shown when the
// test fails.
type program struct {
	t              *testing.T
	name           string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan error
}

func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := &program{t: t, name: name, cmd: theRig.Command(name, args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("%s %s\nstdout:\n%s\nstderr:\n%s", name, strings.Join(args, " "), p.stdout.String(), p.stderr.String())
		}
	})
	return p
}

// receive starts a receiver and waits until it listens, so that it hears the
// announcement: its log has a header from then on.
func receive(t *testing.T, log string, args ...string) *program {
	t.Helper()
	p := start(t, "receiver", append([]string{"--log", log, "--warmup", "100ms"}, args...)...)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(theRig.work, log)); err == nil && bytes.Contains(b, []byte("\n# zero_ns: ")) {
			return p
		}
	}
	t.Fatal("the receiver never began to listen")
	return nil
}

// wait gives the exit status.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		if err != nil {
			p.t.Fatal(p.name, err)
		}
		return 0
	case <-time.After(90 * time.Second):
		p.t.Fatalf("%s did not end", p.name)
	}
	return -1
}

// ends demands a status.
func (p *program) ends(want int) {
	p.t.Helper()
	if got := p.wait(); got != want {
		p.t.Errorf("%s: exit status %d, want %d", p.name, got, want)
	}
}

// interrupt is Ctrl-C: Wine turns the signal into the console's event.
func (p *program) interrupt() { p.cmd.Process.Signal(syscall.SIGINT) }

// says demands a text on stderr.
func (p *program) says(want string) {
	p.t.Helper()
	if !strings.Contains(p.stderr.String(), want) {
		p.t.Errorf("%s does not say %q", p.name, want)
	}
}

// granted is one item of a report.
type granted struct{ Side, Item, Asked, Got, Why string }

// report is the part of the JSON that the scenarios look at.
type report struct {
	Format string
	Source struct{ Kind string }
	Runs   []struct {
		Label                         string
		Sent, Lost, Duplicated, Extra *int64
		Corrupted, Missed             *int64
		BeforeStart                   *int64 `json:"before_start"`
		Characters, Events, Batched   int64
		Granted                       []granted
	}
}

// one reads a report of one run from the work folder.
func one(t *testing.T, name string) report {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(theRig.work, name))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if r.Format != "serialtiming-report" || len(r.Runs) != 1 {
		t.Fatalf("%s: format %q, %d runs", name, r.Format, len(r.Runs))
	}
	return r
}

func n(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// whole demands that all of a run arrived and that its counts balance.
func whole(t *testing.T, r report, sent int64) {
	t.Helper()
	run := r.Runs[0]
	if run.Sent == nil || run.Lost == nil {
		t.Fatalf("nothing is known of what was sent: %+v", run)
	}
	if n(run.Sent) != sent || run.Characters != sent || n(run.Lost)+n(run.Extra)+n(run.Duplicated)+n(run.Corrupted) != 0 {
		t.Errorf("sent %d, received %d, lost %d, duplicated %d, corrupted %d, extra %d",
			n(run.Sent), run.Characters, n(run.Lost), n(run.Duplicated), n(run.Corrupted), n(run.Extra))
	}
	if n(run.Sent)+n(run.Duplicated)+n(run.Extra) != run.Characters+n(run.Lost)+n(run.BeforeStart) {
		t.Error("the counts do not balance")
	}
	if run.Characters != run.Events+run.Batched {
		t.Errorf("%d characters, %d events, %d batched", run.Characters, run.Events, run.Batched)
	}
}

// grants finds an item of one side.
func grants(r report, side, item string) (granted, bool) {
	for _, g := range r.Runs[0].Granted {
		if g.Side == side && g.Item == item {
			return g, true
		}
	}
	return granted{}, false
}

// file reads from the work folder.
func file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(theRig.work, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
