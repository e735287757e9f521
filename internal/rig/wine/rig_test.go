//go:build rig && linux

package wine

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var theRig *Rig

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run starts what all scenarios share. A machine without Wine skips them with
// a line that cannot be overlooked.
func run(m *testing.M) int {
	if missing := Missing(); len(missing) > 0 {
		what := strings.Join(missing, "; ") + " (internal/rig/wine/setup sees to it)"
		if os.Getenv("RIG_REQUIRED") == "1" {
			fmt.Fprintln(os.Stderr, "rig-wine: error:", what)
			return 1
		}
		fmt.Fprintln(os.Stderr, "rig-wine: SKIPPED:", what)
		return 0
	}
	work, err := os.MkdirTemp("", "rig-wine")
	if err != nil {
		fmt.Fprintln(os.Stderr, "rig-wine: error:", err)
		return 1
	}
	defer os.RemoveAll(work)
	theRig, err = New(work)
	if theRig != nil {
		defer theRig.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rig-wine: error:", err)
		return 1
	}
	return m.Run()
}

// plug gives COM1 and COM12 a line for the length of the test.
func plug(t *testing.T) *Line {
	t.Helper()
	l, err := NewLine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for i, port := range []string{"COM1", "COM12"} {
		if err := theRig.Plug(port, l.Names()[i]); err != nil {
			t.Fatal(err)
		}
	}
	return l
}
