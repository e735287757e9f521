package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"serialtiming/results"
)

// replayRows is the length of the log that the replay is timed on: 460 MB.
const replayRows = 20_000_000

// benchReplay prints how fast the real receiver replays a log on one
// processor, beside wc -l on the same file, in turns.
func benchReplay(rounds int, w io.Writer) error {
	dir, err := os.MkdirTemp("", "serialtiming-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, log := filepath.Join(dir, "receiver"), filepath.Join(dir, "run.csv")
	if out, err := exec.Command("go", "build", "-o", binary, "serialtiming/receiver").CombinedOutput(); err != nil {
		return fmt.Errorf("build the receiver: %w: %s", err, out)
	}
	if err := writeLog(log); err != nil {
		return err
	}
	ours := []string{binary, "replay", log, "--json", os.DevNull}
	theirs := []string{"wc", "-l", log}
	var best [2]time.Duration
	var memory int64
	for range rounds {
		for i, command := range [][]string{ours, theirs} {
			took, peak, err := timed(command)
			if err != nil && i == 1 {
				continue // no wc here
			}
			if err != nil {
				return err
			}
			if i == 0 {
				memory = max(memory, peak)
			}
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	fmt.Fprintf(w, "\nreplay of %d characters on one processor, best of %d\n", replayRows, rounds)
	fmt.Fprintf(w, "  receiver replay  %8.3f s  %6.1f million a second", best[0].Seconds(), replayRows/best[0].Seconds()/1e6)
	if memory > 0 {
		fmt.Fprintf(w, "  %d MB", memory>>20)
	}
	if best[1] > 0 {
		fmt.Fprintf(w, "\n  wc -l            %8.3f s  ratio %.1f", best[1].Seconds(), best[0].Seconds()/best[1].Seconds())
	}
	fmt.Fprintln(w)
	return nil
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
	noise := uint64(88172645463325252)
	for i := range int64(replayRows) {
		noise ^= noise << 13
		noise ^= noise >> 7
		noise ^= noise << 17
		l.Row(results.LogRow{Run: 1, Arrived: 1e6*i + int64(noise%60_000), Byte: int16(' ' + i%95), Batch: 1})
	}
	l.EndKey(1, "sent", fmt.Sprint(replayRows))
	l.EndKey(1, "reason", "closed")
	return l.Flush()
}
