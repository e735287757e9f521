//go:build unix

package house

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// wire is a port for a receiver, fed by hand.
func wire(t *testing.T) (master *os.File, name string) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave.Name()
}

// ready waits until the receiver has opened its port and written its log's header.
func ready(t *testing.T, log string) {
	t.Helper()
	for range 300 {
		if st, err := os.Stat(log); err == nil && st.Size() > 0 {
			time.Sleep(300 * time.Millisecond)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the receiver never came up")
}

// feed writes characters of the cycle one by one.
func feed(t *testing.T, to *os.File, from, n int) {
	t.Helper()
	for i := range n {
		if _, err := to.Write([]byte{byte(' ' + (from+i)%95)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestASenderThatAnnouncesNothing(t *testing.T) {
	master, name := wire(t)
	log := filepath.Join(t.TempDir(), "run.csv")
	p := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--idle", "700ms", "--json", "-")
	ready(t, log)
	feed(t, master, 0, 150)
	feed(t, master, 155, 150) // five are missing
	if s := p.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, p.stderr.String())
	}
	r := parse(t, p.stdout.Bytes())
	identities(t, r)
	if run := r.Runs[0]; run.Characters != 300 || *run.Lost != 5 || run.Sent != nil {
		t.Errorf("%s", p.stdout.String())
	}
}

func TestTheReceiverStopsAtItsCount(t *testing.T) {
	master, name := wire(t)
	log := filepath.Join(t.TempDir(), "run.csv")
	p := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--count", "50", "--json", "-")
	ready(t, log)
	feed(t, master, 0, 120)
	if s := p.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, p.stderr.String())
	}
	if r := parse(t, p.stdout.Bytes()); r.Runs[0].Characters != 50 {
		t.Errorf("%s", p.stdout.String())
	}
}

func TestSilenceGetsAHintAndStatusOne(t *testing.T) {
	_, name := wire(t)
	p := start(t, "receiver", "--warmup", "0s", "--port", name, "--duration", "6s")
	if s := p.wait(); s != 1 {
		t.Errorf("status %d", s)
	}
	e := p.stderr.String()
	for _, want := range []string{"warning: nothing heard for 5s", "null modem", "--baud 115200", name, "error: nothing was received"} {
		if !strings.Contains(e, want) {
			t.Errorf("no %q in %s", want, e)
		}
	}
	if p.stdout.Len() != 0 {
		t.Errorf("stdout: %s", p.stdout.String())
	}
}

func TestGarbledCharactersGetAHint(t *testing.T) {
	master, name := wire(t)
	log := filepath.Join(t.TempDir(), "run.csv")
	p := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--idle", "700ms", "--json", "-")
	ready(t, log)
	for i := range 200 {
		master.Write([]byte{byte(0x80 | i*37)})
		time.Sleep(time.Millisecond)
	}
	if s := p.wait(); s != 0 {
		t.Errorf("status %d", s)
	}
	if e := p.stderr.String(); !strings.Contains(e, "most characters are wrong") || !strings.Contains(e, "--line 8N1") {
		t.Errorf("%s", e)
	}
	if r := parse(t, p.stdout.Bytes()); r.Runs[0].Lost != nil || len(r.Runs[0].Warnings) == 0 {
		t.Errorf("%s", p.stdout.String())
	}
}

func TestAPortThatVanishes(t *testing.T) {
	master, name := wire(t)
	log := filepath.Join(t.TempDir(), "run.csv")
	p := start(t, "receiver", "--warmup", "0s", "--port", name, "--log", log, "--json", "-")
	ready(t, log)
	feed(t, master, 0, 100)
	master.Close()
	if s := p.wait(); s != 1 {
		t.Errorf("status %d", s)
	}
	if e := p.stderr.String(); !strings.Contains(e, "receiver: error: ") || !strings.Contains(e, name) || !strings.Contains(e, "receiver: hint: ") {
		t.Errorf("%s", e)
	}
	if r := parse(t, p.stdout.Bytes()); r.Runs[0].Characters == 0 {
		t.Errorf("%s", p.stdout.String())
	}
	replay := start(t, "receiver", "replay", log, "--json", "-")
	replay.wait()
	sameButSource(t, p.stdout.Bytes(), replay.stdout.Bytes())
}

func TestAStoppedReceiverIsNotBlamedOnTheSender(t *testing.T) {
	name, log := cable(t), filepath.Join(t.TempDir(), "run.csv")
	receiver := start(t, "receiver", "--warmup", "700ms", "--port", name, "--log", log, "--json", "-")
	start(t, "sender", "--port", name, "--period", "5ms", "--count", "600")
	waitForRows(t, log, 60)
	receiver.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(400 * time.Millisecond)
	receiver.cmd.Process.Signal(syscall.SIGCONT)
	if s := receiver.wait(); s != 0 {
		t.Fatalf("status %d: %s", s, receiver.stderr.String())
	}
	var r struct {
		Runs []struct {
			Disturbed int64
			Lost      int64
			Interval  struct {
				Max            int64
				MaxUndisturbed int64 `json:"max_undisturbed"`
			} `json:"interval_ns"`
		}
	}
	if err := json.Unmarshal(receiver.stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if run := r.Runs[0]; run.Disturbed == 0 || run.Lost != 0 || run.Interval.Max < 200e6 || run.Interval.MaxUndisturbed >= run.Interval.Max {
		t.Errorf("%+v", run)
	}
}
