package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/protocol"
	"serialtiming/sender/load"
	"serialtiming/sender/probe"
)

const probeUsage = `sender probe measures what this machine can do, alone and under load.

Usage:
  sender probe clock|timer|spin|wake|rate [flags]

Examples:
  sender probe clock
  sender probe timer --duration 10m --csv timer.csv
  sender probe spin --load "no load=@none" --load "disk=@disk:/tmp:1G"
  sender probe rate --port /dev/ttyUSB0 --loopback

Probes:
  clock                every clock: resolution, step, cost of a reading
  timer                each way of waiting at 0.1 to 20 ms: mean, min, p99, max,
                       share of ticks later than the interval, by priority and
                       load, and how they grow with the number of ticks
  spin                 what interrupts a spin loop, and a 1 ms thread that writes,
                       at the top priority
  wake                 waking another thread, and switching to it
  rate                 the highest rate without a missed period or lost character

What to measure:
  --count N            ticks, for the whole probe, shared out over its cells
  --duration D         or how long to measure; loads start and settle on top
                       (for each load and priority: clock 2s, timer 20s, spin
                       10s, wake 20s, rate 6m, 12m with a port)
  --priority P         realtime[:N], high, normal, low; repeatable
                       (realtime; timer: low, normal and high)
  --timer T            timer: only this way of waiting, repeatable; spin, rate: by it
  --load LABEL=SPEC    measure under this load, repeatable: a command line, @none,
                       @threads:N[:low|normal|high], @memory:WORKERSxSIZE,
                       @disk:DIR[:SIZE[:RECORD]]
                       (none; timer: 0, 100 and 400 threads)
  --settle D           from the start of a load to the first figure (2s)
  --cpu N              keep the measuring thread on one processor
  --force              allow what can hang a machine with one processor

Port, for spin and rate:
  --port PORT          write to it; without one spin takes a pipe, rate the timer alone
  --loopback           rate: what is written comes back (plug 2-3), so losses are seen
  --baud N             speed (115200)
  --line 8N1           data bits, parity, stop bits
  --low-latency        ask driver and adapter for their lowest latency

Report:
  --json FILE          all figures as JSON; - is stdout
  --csv FILE           the tables as CSV; - is stdout

  --version, --help

Exit status: 0 done, 1 failed, 2 wrong usage.
`

// probeFlags are the flags of a probe.
type probeFlags struct {
	port       cli.PortFlags
	loopback   bool
	count      int64
	duration   time.Duration
	settle     time.Duration
	priorities []string
	timers     []string
	kinds      []wait.Kind
	loads      []string
	specs      []load.Spec
	line       protocol.Line
	force      bool
	report     cli.ReportFlags
}

func (f *probeFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.port.Port, "port", "", "")
	fs.IntVar(&f.port.Baud, "baud", 115200, "")
	fs.StringVar(&f.port.Line, "line", "8N1", "")
	fs.BoolVar(&f.port.LowLatency, "low-latency", false, "")
	fs.IntVar(&f.port.CPU, "cpu", -1, "")
	fs.BoolVar(&f.loopback, "loopback", false, "")
	fs.Int64Var(&f.count, "count", 0, "")
	fs.DurationVar(&f.duration, "duration", 0, "")
	fs.DurationVar(&f.settle, "settle", 2*time.Second, "")
	fs.StringArrayVar(&f.priorities, "priority", nil, "")
	fs.StringArrayVar(&f.timers, "timer", nil, "")
	fs.StringArrayVar(&f.loads, "load", nil, "")
	fs.BoolVar(&f.force, "force", false, "")
	f.report.AddOutputs(fs)
}

// probe measures the machine.
func (p *program) probe(ctx context.Context, args []string) (int, error) {
	fs := pflag.NewFlagSet("sender probe", pflag.ContinueOnError)
	var f probeFlags
	f.add(fs)
	if done, err := cli.Parse(fs, args, probeUsage, p.stdout); done || err != nil {
		return cli.Done, err
	}
	if err := f.validate(fs); err != nil {
		return 0, err
	}
	if err := f.report.CheckOutputs(); err != nil {
		return 0, err
	}
	live := cli.NewLive(p.voice, p.stderr)
	r, err := probe.Run(ctx, f.options(p, fs.Arg(0), live))
	live.Done()
	switch {
	case errors.Is(err, probe.ErrOneProcessor):
		return 0, cli.Misuse("add --force and be ready to lose the machine for the length of the probe", "%v", err)
	case err != nil:
		return 0, err
	}
	if ctx.Err() != nil && !r.Measured() {
		return 0, errors.New("interrupted before the first figure")
	}
	return cli.Done, f.report.Write(p.stdout, cli.Forms{
		Text: func(w io.Writer) error { return probe.Text(w, r) },
		JSON: func(w io.Writer) error { return probe.JSON(w, r) },
		CSV:  func(w io.Writer) error { return probe.CSV(w, r) },
	})
}

func (f *probeFlags) options(p *program, name string, live *cli.Live) probe.Options {
	o := probe.Options{
		Probe: name, Duration: f.duration, Count: f.count, Priorities: f.priorities, CPU: f.port.CPU,
		Timers: f.kinds, Loads: f.specs, Settle: f.settle, Force: f.force,
		Port: f.port.Port, Loopback: f.loopback,
		// Refusals do not end a probe: its report says what it then means.
		Granted: func(grants []realtime.Grant) { f.port.Grants(p.voice, grants) },
		Say:     p.voice.Say, Warn: p.voice.Warn, Live: live.Draw,
	}
	if f.port.Port != "" {
		o.Line = f.port.Config(p.voice, f.line.Data, f.line.Parity, f.line.Stop)
		o.LimitHZ = float64(time.Second) / float64(f.line.CharTime(f.port.Baud))
	}
	return o
}

// validate gives the first rule that the flags break, a sentence a rule.
func (f *probeFlags) validate(fs *pflag.FlagSet) error {
	names := strings.Join(probe.Names(), ", ")
	switch {
	case fs.NArg() == 0:
		return cli.Misuse("name one: "+names, "no probe was named")
	case fs.NArg() > 1:
		return cli.Misuse("give one probe and flags", "%q is not expected here", fs.Arg(1))
	case !slices.Contains(probe.Names(), fs.Arg(0)):
		return cli.Misuse("there are "+names, "there is no probe %q", fs.Arg(0))
	case fs.Changed("count") && fs.Changed("duration"):
		return cli.Misuse("drop one of them", "--count and --duration are two ways to say how much to measure")
	case fs.Changed("count") && f.count <= 0:
		return cli.Misuse("give a number of ticks from 1", "--count %d measures nothing", f.count)
	case fs.Changed("duration") && f.duration < time.Millisecond:
		return cli.Misuse("give a duration such as 20s", "--duration %v is none", f.duration)
	case f.settle < 0:
		return cli.Misuse("give a duration such as 2s", "--settle %v is none", f.settle)
	case fs.Changed("cpu") && f.port.CPU < 0:
		return cli.Misuse("count processors from 0", "there is no CPU %d", f.port.CPU)
	}
	if err := f.validatePort(fs); err != nil {
		return err
	}
	if err := f.validateLists(fs.Arg(0)); err != nil {
		return err
	}
	return f.report.Validate(fs)
}

func (f *probeFlags) validatePort(fs *pflag.FlagSet) error {
	name := fs.Arg(0)
	switch {
	case f.port.Port == "" && f.loopback:
		return cli.Misuse("add --port, or --port cable for the virtual one", "--loopback needs a port")
	case f.port.Port != "" && name != "spin" && name != "rate":
		return cli.Misuse("drop --port", "probe %s takes no port", name)
	case f.loopback && name != "rate":
		return cli.Misuse("drop --loopback", "probe %s reads nothing back", name)
	case f.port.Baud <= 0:
		return cli.Misuse("give a speed such as 9600 or 115200", "%d baud is no speed", f.port.Baud)
	}
	line, err := protocol.ParseLine(f.port.Line)
	if err != nil {
		return cli.Misuse("--line takes data bits, parity and stop bits, such as 8N1 or 7E1", "%v", err)
	}
	f.line = line
	if f.port.Port != "" && !line.Carries(protocol.Printable) {
		return cli.Misuse("use 7 or 8 data bits", "the characters of a probe are wider than the %d data bits of --line %s", line.Data, line)
	}
	return nil
}

func (f *probeFlags) validateLists(name string) error {
	for _, p := range f.priorities {
		if _, err := realtime.ParsePriority(p); err != nil {
			return cli.Misuse("--priority takes realtime, realtime:N, high, normal or low", "%v", err)
		}
	}
	for _, t := range f.timers {
		k, err := wait.ParseKind(t)
		if err != nil {
			return cli.Misuse("--timer takes absolute, periodic, sleep, hybrid or spin", "%v", err)
		}
		if name == "rate" && !k.KeepsGrid() {
			return cli.Misuse("choose a timer that keeps a grid, such as absolute", "timer %s keeps no grid, so it has no highest rate", k)
		}
		f.kinds = append(f.kinds, k)
	}
	if len(f.kinds) > 0 && (name == "clock" || name == "wake") {
		return cli.Misuse("drop --timer", "probe %s waits with no timer", name)
	}
	if len(f.kinds) > 1 && name != "timer" {
		return cli.Misuse("give one --timer", "probe %s takes one timer", name)
	}
	specs, err := load.ParseAll(f.loads)
	if err != nil {
		return cli.Misuse(`--load takes LABEL=SPEC, such as --load "100 threads=@threads:100"`, "%v", err)
	}
	f.specs = specs
	return nil
}
