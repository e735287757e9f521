package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"serialtiming/results"
)

// match is a file that the real receiver replays, and another program that
// reads the very same.
type match struct {
	what   string // what is replayed
	unit   string // of what it consists
	count  int    // units in it
	write  func(path string) error
	theirs []string // the other program's command line, without the file
	hint   string   // how to get it
}

const replayRows = 20_000_000 // 460 MB

var ownLog = match{
	what: "a run log", unit: "characters", count: replayRows, write: writeLog,
	theirs: []string{"wc", "-l"}, hint: "it belongs to every Unix",
}

// benchReplay prints how fast the real receiver replays files on one
// processor, beside another program on the same file, in turns.
func benchReplay(rounds int, matches []match, w io.Writer) error {
	dir, err := os.MkdirTemp("", "serialtiming-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	receiver := filepath.Join(dir, "receiver")
	if out, err := exec.Command("go", "build", "-o", receiver, "serialtiming/receiver").CombinedOutput(); err != nil {
		return fmt.Errorf("build the receiver: %w: %s", err, out)
	}
	for _, m := range matches {
		if err := m.play(receiver, filepath.Join(dir, "file"), rounds, w); err != nil {
			return err
		}
	}
	return nil
}

// play lets both programs read the file in turns.
func (m match) play(receiver, file string, rounds int, w io.Writer) error {
	if err := m.write(file); err != nil {
		return err
	}
	defer os.Remove(file)
	ours := []string{receiver, "replay", file, "--json", os.DevNull}
	_, missing := exec.LookPath(m.theirs[0])
	var best, other time.Duration
	var memory int64
	for range rounds {
		took, peak, err := timed(ours)
		if err != nil {
			return err
		}
		best, memory = shorter(best, took), max(memory, peak)
		if missing != nil {
			continue
		}
		if took, _, err = timed(append(m.theirs, file)); err != nil {
			return err
		}
		other = shorter(other, took)
	}
	fmt.Fprintf(w, "\nreplay of %s of %d %s on one processor, best of %d\n", m.what, m.count, m.unit, rounds)
	m.row(w, "receiver replay", best)
	if memory > 0 {
		fmt.Fprintf(w, "  %d MB", memory>>20)
	}
	fmt.Fprintln(w)
	if missing != nil {
		fmt.Fprintf(w, "  no comparison: %s is not installed (%s)\n", m.theirs[0], m.hint)
		return nil
	}
	m.row(w, m.theirs[0], other)
	ratio := best.Seconds() / other.Seconds()
	fmt.Fprintf(w, "  %s FILE\n  receiver / %s: %.2f of its time, %.2f of its speed\n",
		strings.Join(m.theirs, " "), m.theirs[0], ratio, 1/ratio)
	return nil
}

func (m match) row(w io.Writer, name string, took time.Duration) {
	fmt.Fprintf(w, "  %-16s %8.3f s  %6.2f million %s a second", name, took.Seconds(), float64(m.count)/took.Seconds()/1e6, m.unit)
	if name == m.theirs[0] {
		fmt.Fprintln(w)
	}
}

// shorter takes 0 for none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// timed runs a command with one processor for Go.
func timed(command []string) (took time.Duration, peak int64, err error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS=1")
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", command[0], err)
	}
	return time.Since(start), peakMemory(cmd.ProcessState), nil
}

// writeLog writes a run at 1 ms with up to 60 µs of jitter.
func writeLog(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l := results.NewLogWriter(f, results.ReceiverColumns)
	for _, k := range [][2]string{{"announced", "before"}, {"period_ns", "1000000"}, {"timer", "absolute"}, {"catch_up", "skip"}} {
		l.RunKey(1, k[0], k[1])
	}
	noise := newNoise()
	for i := range int64(replayRows) {
		l.Row(results.LogRow{Run: 1, Arrived: 1e6*i + noise(60_000), Byte: int16(' ' + i%95), Batch: 1})
	}
	l.EndKey(1, "sent", fmt.Sprint(replayRows))
	l.EndKey(1, "reason", "closed")
	return l.Flush()
}

// newNoise gives numbers from 0 to below n, the same in each run (xorshift).
func newNoise() func(n int64) int64 {
	x := uint64(88172645463325252)
	return func(n int64) int64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return int64(x % uint64(n))
	}
}
