package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/protocol"
	"serialtiming/results"
)

const usage = `receiver times the characters that arrive on a serial port.

Usage:
  receiver --port PORT [flags]      capture until the sender says it is done
  receiver replay FILE... [flags]   the same report from a log, ours or another tool's
  receiver compare RUN... [flags]   runs beside each other, phase by phase
  receiver check [--port PORT]      what on this machine will show in the timing
  receiver ports                    list the ports of this machine

Example:
  receiver --port /dev/ttyS1 --log run.csv

Port:
  --port PORT          COM3, /dev/ttyUSB0, …; cable or cable:NAME: a virtual cable
  --baud N             speed, as the sender's (115200)
  --line 8N1           data bits, parity, stop bits, as the sender's
  --low-latency        ask driver and adapter for their lowest latency

Capture:
  --label TEXT         title of a run that announces none
  --count N            stop after N characters
  --duration D         stop after D (10s, 1m30s)
  --idle D             stop after so much silence behind the last character (5s)
  --warmup D           measure the receiver's own floor for so long first (2s)
  --log FILE           write the run log
  --priority P         realtime[:N], high, normal, low (realtime)
  --cpu N              keep the capture on one processor
  --require-realtime   fail where real time is not granted

Report:
  --bin D              width of a row (1ms)
  --tick HZ            read as the DOS program of 1998 did: --tick 1024
  --tick-phase D       where the ticks fall (0s: from the log's zero)
  --period D           period of the grid, where none was announced
  --late-by D          above it a character is late (5 % of the period)
  --json FILE          the report as JSON; - is stdout, in place of the text
  --csv FILE           the table as CSV; - is stdout, in place of the text

Limits:
  --max-interval D     longest interval
  --max-lateness D     largest lateness
  --max-late-share P   late characters, in percent
  --max-lost N         lost characters
  --max-errors N       line errors and wrong characters

  --version, --help

Exit status: 0 done, 1 failed or nothing received, 2 wrong usage, 3 a limit was
broken or could not be decided.
`

// captureFlags are the flags of a capture.
type captureFlags struct {
	port     cli.PortFlags
	line     protocol.Line
	count    int64
	duration time.Duration
	idle     time.Duration
	warmup   time.Duration
	report   cli.ReportFlags
	limits   limitFlags
	set      results.Limits
}

func parseCapture(p *program, args []string) (f captureFlags, done bool, err error) {
	fs := pflag.NewFlagSet("receiver", pflag.ContinueOnError)
	f.port.Add(fs)
	fs.Int64Var(&f.count, "count", 0, "")
	fs.DurationVar(&f.duration, "duration", 0, "")
	fs.DurationVar(&f.idle, "idle", 5*time.Second, "")
	fs.DurationVar(&f.warmup, "warmup", 2*time.Second, "")
	f.report.Add(fs)
	f.limits.Add(fs)
	if done, err = cli.Parse(fs, args, usage, p.stdout); done || err != nil {
		return f, done, err
	}
	return f, false, f.validate(fs)
}

func (f *captureFlags) validate(fs *pflag.FlagSet) error {
	if fs.NArg() > 0 {
		return cli.Misuse("the commands are replay, compare, check and ports; everything else is a flag", "%q is not expected here", fs.Arg(0))
	}
	if err := f.port.Validate(fs); err != nil {
		return err
	}
	line, err := protocol.ParseLine(f.port.Line)
	if err != nil {
		return cli.Misuse("--line takes data bits, parity and stop bits, such as 8N1 or 7E1", "%v", err)
	}
	f.line = line
	switch {
	case fs.Changed("count") && f.count <= 0:
		return cli.Misuse("give a number of characters from 1", "--count %d counts nothing", f.count)
	case fs.Changed("duration") && f.duration <= 0:
		return cli.Misuse("give a duration such as 30s", "--duration %v is none", f.duration)
	case f.warmup < 0 || f.warmup > time.Minute:
		return cli.Misuse("give a duration from 0 to 1m; 0 leaves the floor unknown", "--warmup %v makes no sense", f.warmup)
	case f.idle <= 0:
		return cli.Misuse("give a duration such as 5s", "--idle %v is none", f.idle)
	}
	if err := f.limits.Validate(fs); err != nil {
		return err
	}
	f.set = f.limits.Limits(fs, 1)
	return validateReport(&f.report, fs)
}

func validateReport(r *cli.ReportFlags, fs *pflag.FlagSet) error {
	if err := r.Validate(fs); err != nil {
		return err
	}
	if err := tableKind(r).Validate(); err != nil {
		return cli.Misuse("give --bin 1ms, or --tick 1024", "%v", err)
	}
	return nil
}

func tableKind(r *cli.ReportFlags) results.TableKind {
	return results.TableKind{Bin: r.Bin, Hz: r.Tick, Phase: r.TickPhase}
}

func (p *program) ports(_ context.Context, args []string) (int, error) {
	fs := pflag.NewFlagSet("receiver ports", pflag.ContinueOnError)
	if done, err := cli.Parse(fs, args, usage, p.stdout); done || err != nil {
		return cli.Done, err
	}
	if fs.NArg() > 0 {
		return 0, cli.Misuse("type: receiver ports", "ports takes no argument, not %q", fs.Arg(0))
	}
	if err := cli.Ports(p.stdout); err != nil {
		return 0, fmt.Errorf("list the ports: %w", err)
	}
	return cli.Done, nil
}
