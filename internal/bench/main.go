// Command bench measures the hot loops beside the best that C does on the same
// machine in the same minute. `make bench` runs it.
//
// It promises a fair comparison on a small, noisy machine: every program has
// the same priority and period, they take turns in short rounds, and of each
// the best round is compared, since a machine's own spells of seconds are
// larger than the differences in question. The spread of the rounds is shown
// beside it. It runs the real pace.Run,
// capture.Run and receiver.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are what a run of the bench is made of.
type options struct {
	rounds   int
	length   time.Duration // of one program's turn in a round
	period   time.Duration
	priority int
	timers   []wait.Kind
	lateness bool
	path     bool
	causes   bool
	replay   bool
	imports  bool
	watch    bool
	load     string // a command that runs beside; "": none
}

func (o options) count() int { return int(o.length / o.period) }

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var timers, parts string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 6, "rounds, at least 2")
	f.DurationVar(&o.length, "time", 3*time.Second, "length of each turn in a round")
	f.DurationVar(&o.period, "period", time.Millisecond, "period of every program, whole microseconds")
	f.IntVar(&o.priority, "priority", realtime.DefaultRealtime, "SCHED_FIFO priority of every program")
	f.StringVar(&timers, "timers", "absolute,periodic,sleep,hybrid,spin", "timers to measure")
	f.StringVar(&parts, "parts", "lateness,path,replay,importers", "lateness (beside cyclictest), path (write to stamp, beside a C loop), replay (beside wc -l), importers (beside mawk and tshark), watch (the path with and without the receiver's watching threads), causes (what makes Go late)")
	f.StringVar(&o.load, "load", "", "command to run beside lateness and path, as \"stress-ng --cpu 2 --vm 1\"")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(timers, ",") {
		kind, err := wait.ParseKind(name)
		if err != nil {
			return o, err
		}
		o.timers = append(o.timers, kind)
	}
	for part := range strings.SplitSeq(parts, ",") {
		switch part {
		case "lateness":
			o.lateness = true
		case "path":
			o.path = true
		case "replay":
			o.replay = true
		case "importers":
			o.imports = true
		case "watch":
			o.watch = true
		case "causes":
			o.causes = true
		default:
			return o, fmt.Errorf("unknown part %q: there are lateness, path, replay, importers, watch, causes", part)
		}
	}
	return o, o.validate(f.NArg())
}

func (o options) validate(extra int) error {
	switch {
	case extra > 0:
		return fmt.Errorf("bench takes flags only")
	case o.rounds < 2:
		return fmt.Errorf("one round has no spread: at least 2")
	case o.period < 100*time.Microsecond || o.period%time.Microsecond != 0:
		return fmt.Errorf("the period must be whole microseconds, at least 100: cyclictest takes no other")
	case o.count() < 100:
		return fmt.Errorf("a turn of %v has fewer than 100 periods of %v", o.length, o.period)
	case o.priority < 1 || o.priority > 99:
		return fmt.Errorf("a SCHED_FIFO priority is 1 to 99")
	}
	return nil
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err == flag.ErrHelp {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: error: %v\n", err)
		return 2
	}
	if o.causes && len(causes(o)) > 0 {
		if err := compete(stdout, causesTitle(o), o.rounds, causes(o)); err != nil {
			return fail(stderr, err)
		}
	}
	var matches []match
	if o.replay {
		matches = append(matches, ownLog)
	}
	if o.imports {
		matches = append(matches, importers...)
	}
	if len(matches) > 0 { // before memory is locked
		if err := benchReplay(o.rounds, matches, stdout); err != nil {
			return fail(stderr, err)
		}
	}
	if !o.lateness && !o.path && !o.watch {
		return 0
	}
	s, err := realtime.Prepare(o.request())
	if err != nil {
		return fail(stderr, err)
	}
	defer s.Restore()
	for _, g := range s.Grants() {
		warn(stderr, g)
	}
	if err := measure(o, s, stdout, stderr); err != nil {
		return fail(stderr, err)
	}
	return 0
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "bench: error: %v\n", err)
	return 1
}

// request is what every program of ours asks for.
func (o options) request() realtime.Request {
	return realtime.Request{Priority: fmt.Sprintf("realtime:%d", o.priority), CPU: -1, LockMemory: true, Threads: 2}
}

// warn tells what was not granted.
func warn(w io.Writer, g realtime.Grant) {
	if g.Granted() {
		return
	}
	fmt.Fprintf(w, "bench: warning: %s: asked %s, got %s: %s\n", g.Item, g.Asked, g.Got, g.Why)
	if g.Hint != "" {
		fmt.Fprintf(w, "bench: hint: %s\n", g.Hint)
	}
}

// measure runs the parts beside the load.
func measure(o options, s *realtime.Session, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "serialtiming-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	end, err := startLoad(o.load, stderr)
	if err != nil {
		return err
	}
	if o.lateness {
		err = compete(stdout, o.title("Lateness (woke - due)"), o.rounds, latenessContestants(o, s, dir, stderr))
	}
	if o.path && err == nil {
		err = compete(stdout, o.title("Write to stamp on a pseudo-terminal (woke -> arrived)"), o.rounds, pathContestants(o, s, dir, stderr))
	}
	if o.watch && err == nil {
		err = benchWatch(o, s, stdout)
	}
	return errors.Join(err, end())
}

// title says what the table shows, and how it was measured.
func (o options) title(what string) string {
	t := fmt.Sprintf("%s, %d rounds of %v, period %v, SCHED_FIFO %d", what, o.rounds, o.length, o.period, o.priority)
	if o.load != "" {
		t += ", beside " + o.load
	}
	return t
}
