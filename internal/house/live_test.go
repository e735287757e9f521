//go:build unix

package house

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestLiveLine runs both ends with a terminal as stderr, and without.
func TestLiveLine(t *testing.T) {
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	name := cable(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 60})
	cmd := exec.Command(filepath.Join(dir, "receiver"), "--warmup", "0s", "--port", name)
	cmd.Stderr = slave
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	sender := start(t, "sender", "--port", name, "--period", "2ms", "--count", "500")
	seen, _ := io.ReadAll(master) // ends with EIO when the receiver is gone
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, seen)
	}
	sender.wait()
	for _, want := range []string{"characters", "last ", "min ", "max ", "left"} {
		if !strings.Contains(string(seen), want) {
			t.Errorf("the live line does not show %q: %q", want, seen)
		}
	}
	for frame := range strings.SplitSeq(string(seen), "\r") {
		if text, _, _ := strings.Cut(frame, "\x1b"); strings.Contains(text, "characters") && len([]rune(text)) > 60 {
			t.Errorf("a line wider than the terminal: %q", text)
		}
	}
	if e := sender.stderr.String(); strings.Contains(e, "characters  ") || strings.Contains(e, "\x1b") {
		t.Errorf("a live line without a terminal: %q", e)
	}
}
