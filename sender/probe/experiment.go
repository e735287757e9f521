package probe

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/results"
	"serialtiming/sender/probe/system"
)

// slacks are the timer slacks that are tried: none, the kernel's default of 50
// µs, and more.
var slacks = []time.Duration{
	1, 10 * time.Microsecond, 50 * time.Microsecond, 200 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
}

// lastResolution is the coarsest request of the resolution walk, in ms.
const lastResolution = 15

// experimentCells is how many cells this system's experiment has.
func experimentCells() int {
	switch {
	case system.HasTimerSlack:
		return len(slacks)
	case system.HasTimerResolution:
		return lastResolution + 1
	}
	return 0
}

// experiment closes the timer study with what the system lets one turn.
func (r *run) experiment(q quota) error {
	switch {
	case system.HasTimerSlack:
		return r.slack(q)
	case system.HasTimerResolution:
		return r.resolution(q)
	}
	return nil
}

// slack lets an ordinary thread sleep 1 ms again and again with different
// timer slacks. A real-time thread has none, so the priority is normal here
// whatever was asked for the study.
func (r *run) slack(q quota) error {
	r.load = "timer slack"
	return r.prepared("normal", 1, r.o.CPU, func(s *realtime.Session) error {
		for _, slack := range slacks {
			if r.over() {
				return nil
			}
			r.cell("slack %v", slack)
			row := SlackRow{SlackNS: int64(slack)}
			var h results.Histogram
			r.onThread(s, func() { r.sleeps(&row, &h, q) }, func() {})
			row.Priority = r.granted
			switch {
			case row.Why != "":
			case h.Count() < leastTicks:
				row.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(h.Count(), "sleep"), leastTicks)
			default:
				row.Sleep = h.Dist()
			}
			r.report.Slack = append(r.report.Slack, row)
			r.done++
		}
		return nil
	})
}

// sleeps is the part on the thread itself.
func (r *run) sleeps(row *SlackRow, h *results.Histogram, q quota) {
	got, err := system.SetTimerSlack(row.SlackNS)
	if err != nil {
		row.Why = "the system refuses it: " + err.Error()
		return
	}
	row.GotNS = &got
	w, err := wait.New(wait.Config{Kind: wait.Sleep, Period: time.Millisecond})
	if err != nil {
		row.Why = err.Error()
		return
	}
	defer w.Close()
	began := clock.Now()
	for now := began; !r.over() && (q.count == 0 || h.Count() < q.count) && (q.time == 0 || now.Sub(began) < q.time); {
		before := clock.Now()
		now = w.Until(before, before.Add(time.Millisecond))
		h.Record(int64(now.Sub(before)), int64(now.Sub(began)), false)
	}
}

// childWord is the hidden first word of the process that asks for timer
// resolutions.
const childWord = "probe-child"

// Child runs that process. main calls it before anything else; when handled is
// true the process has to end with that status.
func Child(args []string) (handled bool, status int) {
	if len(args) < 1 || args[0] != childWord {
		return false, 0
	}
	return true, askForResolutions(os.Stdin, os.Stdout)
}

// askForResolutions takes a line with a number of ms, asks for it in place of
// the last one (0: for nothing), and answers "ok" or why not. It ends with its
// parent, whose pipe then closes; the system takes its request back.
func askForResolutions(in io.Reader, out io.Writer) int {
	held := uint32(0)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		ms, err := strconv.ParseUint(lines.Text(), 10, 8)
		if err == nil && held > 0 {
			err = system.EndPeriod(held)
		}
		held = 0
		if err == nil && ms > 0 {
			if err = system.BeginPeriod(uint32(ms)); err == nil {
				held = uint32(ms)
			}
		}
		answer := "ok"
		if err != nil {
			answer = err.Error()
		}
		fmt.Fprintln(out, strings.ReplaceAll(answer, "\n", " "))
	}
	return 0
}

// asker is that process as its parent sees it.
type asker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startAsker() (*asker, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &asker{cmd: exec.Command(exe, childWord)}
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = bufio.NewScanner(out)
	return a, a.cmd.Start()
}

// ask has it ask for so many ms.
func (a *asker) ask(ms int64) error {
	if _, err := fmt.Fprintln(a.in, ms); err != nil {
		return err
	}
	switch {
	case !a.out.Scan():
		return fmt.Errorf("the process that asks for timer resolutions has ended")
	case a.out.Text() != "ok":
		return fmt.Errorf("%s", a.out.Text())
	}
	return nil
}

func (a *asker) close() {
	a.in.Close()
	a.cmd.Wait()
}
