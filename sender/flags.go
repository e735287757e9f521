package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/protocol"
	"serialtiming/results"
	"serialtiming/sender/load"
	"serialtiming/sender/pace"
)

const usage = `sender emits a character on a serial port at a fixed period.

Usage:
  sender --port PORT (--count N | --duration D) [flags]
  sender probe WHAT [flags]         measure this machine: clock, timer, spin, wake, rate
  sender check [--port PORT]        what on this machine will show in the timing
  sender ports                      list the ports of this machine

Example:
  sender --port /dev/ttyUSB0 --period 5ms --count 4000 --label "no interface operations"

Port:
  --port PORT          COM3, /dev/ttyUSB0, …; cable or cable:NAME: a virtual cable
  --baud N             speed, as the receiver's (115200)
  --line 8N1           data bits, parity, stop bits, as the receiver's
  --low-latency        ask driver and adapter for their lowest latency

Stream:
  --period D           start of one character to start of the next (5ms); 0: back to back
  --count N            characters to send
  --duration D         or how long to send (10s, 1m30s)
  --char C             cycle (space to ~, as in 1998), nul, or 0xNN (cycle)
  --plain              announce nothing: the bare stream of 1998
  --loopback           receive on the same port (plug 2-3, or --port cable)
  --label TEXT         title of the run

Timing:
  --timer T            absolute, periodic, sleep, hybrid, spin: the way of waiting
  --catch-up P         missed periods: skip them, send a burst, shift the grid
  --timer-resolution R 1ms, 0.5ms or default: the system's timer (Windows; 1ms)
  --force              allow what can hang a machine with one processor
  --priority P         realtime[:N], high, normal, low (realtime)
  --cpu N              keep the stream on one processor
  --require-realtime   fail where real time is not granted

Phases (one labelled run a load, one after the other):
  --load LABEL=SPEC    a command line, @none, @threads:N[:low|normal|high],
                       @memory:WORKERSxSIZE or @disk:DIR[:SIZE[:RECORD]]; repeatable
  --settle D           time between the start of a load and the first character (2s)

Report:
  --log FILE           write the sender's log: due, woke, wrote of every character
  --json FILE          the sender's own report as JSON; - is stdout
  --bin, --tick, --tick-phase, --late-by, --csv
                       with --loopback: as the receiver's

  --version, --help

Exit status: 0 done, 1 failed, 2 wrong usage.
`

// sendFlags are the flags of a run.
type sendFlags struct {
	port     cli.PortFlags
	line     protocol.Line
	period   time.Duration
	count    int64
	duration time.Duration
	char     string
	cycle    protocol.Cycle
	plain    bool
	timer    string
	kind     wait.Kind
	catchUp  string
	policy   pace.Policy
	force    bool
	clock    string // timer resolution
	loopback bool
	loads    []string
	settle   time.Duration
	report   cli.ReportFlags
	phases   []phase
}

// phase is one run of several: its label, and the load beside it.
type phase struct {
	label string
	load  load.Spec
}

// plan makes the phases: one without --load, else one a load, for which
// --label is a prefix.
func (f *sendFlags) plan() error {
	specs, err := load.ParseAll(f.loads)
	if err != nil {
		return cli.Misuse(`write --load "LABEL=COMMAND", or LABEL=@none, @threads:N, @memory:WORKERSxSIZE, @disk:DIR`, "%v", err)
	}
	if len(specs) == 0 {
		f.phases = []phase{{label: f.port.Label}}
	}
	for _, s := range specs {
		label := s.Label
		if f.port.Label != "" {
			label = f.port.Label + ": " + label
		}
		f.phases = append(f.phases, phase{label, s})
	}
	return nil
}

func parseSend(p *program, args []string) (f sendFlags, done bool, err error) {
	fs := pflag.NewFlagSet("sender", pflag.ContinueOnError)
	f.port.Add(fs)
	fs.Int64Var(&f.count, "count", 0, "")
	fs.DurationVar(&f.duration, "duration", 0, "")
	fs.StringVar(&f.char, "char", "cycle", "")
	fs.BoolVar(&f.plain, "plain", false, "")
	fs.StringVar(&f.timer, "timer", string(wait.Default()), "")
	fs.StringVar(&f.catchUp, "catch-up", "", "")
	fs.BoolVar(&f.force, "force", false, "")
	fs.StringVar(&f.clock, "timer-resolution", "", "")
	fs.BoolVar(&f.loopback, "loopback", false, "")
	fs.StringArrayVar(&f.loads, "load", nil, "")
	fs.DurationVar(&f.settle, "settle", 2*time.Second, "")
	f.report.Add(fs)
	if done, err = cli.Parse(fs, args, usage, p.stdout); done || err != nil {
		return f, done, err
	}
	f.period = 5 * time.Millisecond
	if fs.Changed("period") {
		f.period = f.report.Period
	}
	if len(f.loads) == 0 && !fs.Changed("settle") {
		f.settle = 0
	}
	return f, false, f.validate(fs)
}

// validate gives the first rule that the flags break, a sentence a rule.
func (f *sendFlags) validate(fs *pflag.FlagSet) error {
	if fs.NArg() > 0 {
		return cli.Misuse("the commands are probe, check and ports; everything else is a flag", "%q is not expected here", fs.Arg(0))
	}
	if err := f.port.Validate(fs); err != nil {
		return err
	}
	switch {
	case fs.Changed("count") && fs.Changed("duration"):
		return cli.Misuse("drop one of them", "--count and --duration are two ways to end the same run")
	case !fs.Changed("count") && !fs.Changed("duration"):
		return cli.Misuse("add --count 4000 or --duration 20s", "the run has no end")
	case fs.Changed("count") && f.count <= 0:
		return cli.Misuse("give a number of characters from 1", "--count %d sends nothing", f.count)
	case fs.Changed("duration") && f.duration <= 0:
		return cli.Misuse("give a duration such as 20s", "--duration %v is none", f.duration)
	case f.settle < 0:
		return cli.Misuse("give a duration such as 2s", "--settle %v is none", f.settle)
	case len(f.loads) > 1 && f.plain:
		return cli.Misuse("drop --plain, or send one load at a time", "--plain announces nothing, so the receiver could not tell the phases apart")
	case f.period < 0:
		return cli.Misuse("give a duration such as 5ms, or 0 for back to back", "--period %v is none", f.period)
	}
	if err := f.plan(); err != nil {
		return err
	}
	if err := f.validateReport(fs); err != nil {
		return err
	}
	if err := f.validateLine(); err != nil {
		return err
	}
	return f.validateTimer()
}

// validateReport keeps the receiver's report flags to runs that receive.
func (f *sendFlags) validateReport(fs *pflag.FlagSet) error {
	if err := f.report.Validate(fs); err != nil {
		return err
	}
	for _, name := range []string{"bin", "tick", "tick-phase", "late-by", "csv"} {
		if fs.Changed(name) && !f.loopback {
			return cli.Misuse("give it to the receiver, or add --loopback", "--%s is for what arrives, and this run receives nothing", name)
		}
	}
	if f.loopback && f.plain {
		return cli.Misuse("drop one of them", "--loopback announces nothing anyway, --plain adds nothing")
	}
	kind := results.TableKind{Bin: f.report.Bin, Hz: f.report.Tick, Phase: f.report.TickPhase}
	if err := kind.Validate(); err != nil {
		return cli.Misuse("give --bin 1ms, or --tick 1024", "%v", err)
	}
	return nil
}

func (f *sendFlags) validateLine() error {
	line, err := protocol.ParseLine(f.port.Line)
	if err != nil {
		return cli.Misuse("--line takes data bits, parity and stop bits, such as 8N1 or 7E1", "%v", err)
	}
	f.line = line
	if f.cycle, err = protocol.ParseChar(f.char); err != nil {
		return cli.Misuse("--char takes cycle, nul or 0xNN", "%v", err)
	}
	charTime := line.CharTime(f.port.Baud)
	switch {
	case !line.Carries(f.cycle):
		return cli.Misuse("use --line 8N1, or a smaller --char", "the character %s is wider than the %d data bits of --line %s", f.cycle, line.Data, line)
	case !f.plain && !line.Announces():
		return cli.Misuse("use 7 or 8 data bits, or --plain", "announcements need 7 data bits, --line %s has %d", line, line.Data)
	case f.period > 0 && f.period < charTime:
		return cli.Misuse("use a longer --period, a higher --baud, or --period 0 for back to back",
			"a %v period is shorter than a character takes at %d baud %s (%s)", f.period, f.port.Baud, line, charTime.Round(100*time.Nanosecond))
	}
	return nil
}

func (f *sendFlags) validateTimer() error {
	kind, err := wait.ParseKind(f.timer)
	if err != nil {
		return cli.Misuse("--timer takes absolute, periodic, sleep, hybrid or spin", "%v", err)
	}
	f.kind = kind
	f.policy = pace.DefaultPolicy(kind)
	if f.catchUp != "" {
		if f.policy, err = pace.ParsePolicy(f.catchUp); err != nil {
			return cli.Misuse("--catch-up takes skip, burst or shift", "%v", err)
		}
	}
	if err := pace.Compatible(f.kind, f.policy); err != nil {
		return cli.Misuse("drop --catch-up, or choose another --timer", "%v", err)
	}
	if err := realtime.CheckTimerResolution(f.clock); err != nil {
		return cli.Misuse("--timer-resolution takes 1ms, 0.5ms or default", "%v", err)
	}
	switch {
	case kind.Call() == "":
		return cli.Misuse("choose another --timer", "this system has no timer for %s", kind)
	case kind == wait.Spin && runtime.NumCPU() == 1 && !f.force:
		return cli.Misuse("use --timer hybrid, or add --force and be ready to lose the machine for the length of the run",
			"--timer spin on a machine with one processor hangs it")
	}
	return nil
}

func (p *program) ports(_ context.Context, args []string) (int, error) {
	fs := pflag.NewFlagSet("sender ports", pflag.ContinueOnError)
	if done, err := cli.Parse(fs, args, usage, p.stdout); done || err != nil {
		return cli.Done, err
	}
	if fs.NArg() > 0 {
		return 0, cli.Misuse("type: sender ports", "ports takes no argument, not %q", fs.Arg(0))
	}
	if err := cli.Ports(p.stdout); err != nil {
		return 0, fmt.Errorf("list the ports: %w", err)
	}
	return cli.Done, nil
}
