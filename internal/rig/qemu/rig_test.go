//go:build rig && linux

package qemu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

var theRig *Rig

// Two scenarios beside the long one: more hold each other up, and the two
// processors that the rig is made for.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "2"); err != nil {
		panic(err)
	}
	os.Exit(run(m))
}

// run builds what all scenarios share. A machine without QEMU skips them with
// a line that cannot be overlooked.
func run(m *testing.M) int {
	if err := checkFault(); err != nil {
		fmt.Fprintln(os.Stderr, "rig-qemu: error:", err)
		return 2
	}
	if missing := Missing(); len(missing) > 0 {
		what := strings.Join(missing, "; ") + " (internal/rig/qemu/setup fetches it)"
		if os.Getenv("RIG_REQUIRED") == "1" {
			fmt.Fprintln(os.Stderr, "rig-qemu: error:", what)
			return 1
		}
		fmt.Fprintln(os.Stderr, "rig-qemu: SKIPPED:", what)
		return 0
	}
	work := os.Getenv("RIG_KEEP")
	if work == "" {
		dir, err := os.MkdirTemp("", "rig-qemu")
		if err != nil {
			fmt.Fprintln(os.Stderr, "rig-qemu: error:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		work = dir
	}
	err := os.MkdirAll(work, 0o755)
	if err == nil {
		theRig, err = New(work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rig-qemu: error:", err)
		return 1
	}
	return m.Run()
}

// scenario is what a test begins with: it runs beside others.
func scenario(t *testing.T) {
	t.Helper()
	notLong(t)
	t.Parallel()
}

func notLong(t *testing.T) {
	t.Helper()
	if os.Getenv("RIG_LONG") == "1" {
		t.Skip("RIG_LONG=1: only the long scenario")
	}
}

// boot starts a guest, named after the test where it has no name.
func boot(t *testing.T, g Guest) *Machine {
	t.Helper()
	if g.Name == "" {
		g.Name = guestName(t)
	}
	m, err := theRig.Boot(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !m.Ended() {
			m.Kill()
			t.Logf("guest %s was still running; its console:\n%s", m.name, m.Console())
		}
	})
	return m
}

func guestName(t *testing.T) string { return strings.ReplaceAll(t.Name(), "/", "-") }

// outcome waits for a guest and, when the test fails, shows all of it.
func outcome(t *testing.T, m *Machine) *Outcome {
	t.Helper()
	o, err := m.Wait()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(o)
		}
	})
	t.Logf("guest %s took %.1f s, %.1f s of processor", o.Name, o.Took.Seconds(), o.CPU.Seconds())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// mark waits for the guest to come to a mark. A guest that does not is given
// its time, so that its whole story is shown.
func mark(t *testing.T, m *Machine, text string) {
	t.Helper()
	if err := m.AwaitMark(text, time.Minute); err != nil {
		t.Error(err)
		outcome(t, m)
		t.FailNow()
	}
}

// socket gives a path for a guest's socket, in a folder that is short enough.
func socket(t *testing.T, name string) string {
	t.Helper()
	dir, err := theRig.Dir(guestName(t))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// ask is one sending or receiving program of a scenario.
type ask struct {
	run  string // names the files RUN-sender.json, RUN-receiver.csv, …
	port string
	args []string
}

// sender starts a sender with its log and report; the deliberate fault in the
// period strikes here.
func sender(run, port string, period time.Duration, args ...string) Step {
	if fault("period") && period > 0 {
		period += 200 * time.Microsecond
	}
	return start("sender", ask{run, port, append([]string{"--label", run, "--period", period.String()}, args...)})
}

func receiver(run, port string, args ...string) Step {
	return start("receiver", ask{run, port, append([]string{"--warmup", "200ms"}, args...)})
}

func start(program string, a ask) Step {
	name := a.run + "-" + program
	return Start(name, append([]string{"/bin/" + program, "--port", a.port,
		"--log", name + ".csv", "--json", name + ".json"}, a.args...)...)
}

// exchange is a whole run: the receiver first, then the sender, then both to
// their end.
func exchange(run, from, to string, period time.Duration, limit time.Duration, args ...string) []Step {
	return steps(
		receiver(run, to, lineArgs(args)...), listening(run),
		sender(run, from, period, args...),
		Wait(run+"-sender", limit), Wait(run+"-receiver", 20*time.Second))
}

// listening waits until the receiver of a run has begun its log, which it does
// behind its warm-up, and the port's buffers are empty.
func listening(run string) []Step {
	return []Step{AwaitSize("/out/"+run+"-receiver.csv", 1, 30*time.Second), Sleep(200 * time.Millisecond)}
}

// lineArgs picks what both programs must be told alike.
func lineArgs(args []string) []string {
	for i, a := range args {
		if a == "--baud" {
			return args[i : i+2]
		}
	}
	return nil
}

// trigger sets the receive FIFO's trigger of a ttyS; the deliberate fault in
// the trigger strikes here.
func trigger(port string, n int) Step {
	if fault("trigger") && n == 1 {
		n = 14
	}
	return Write("/sys/class/tty/"+filepath.Base(port)+"/rx_trig_bytes", fmt.Sprint(n))
}

// steps joins single steps and lists of them.
func steps(parts ...any) []Step {
	var out []Step
	for _, p := range parts {
		switch p := p.(type) {
		case Step:
			out = append(out, p)
		case []Step: // also none
			out = append(out, p...)
		default:
			panic(fmt.Sprintf("a %T is no step", p))
		}
	}
	return out
}
