// Package probe measures what this machine can do before any character is
// sent, and while it is loaded: its clocks, its ways of waiting, what
// interrupts a thread at the top priority, how long one thread takes to wake
// another, and the highest rate that it keeps.
//
// It promises: a duration or count is for the whole probe and shared out over
// its cells (a cell is one figure's place: a clock, a timer at an interval, a
// form; each priority and load has its own); a cell with too few ticks, or one
// that this system cannot measure, is null and says why; what was granted, the
// collections, page faults and involuntary switches stand beside the figures;
// and where a right was refused the report says what the figures then mean.
// Every probe ends by itself.
//
// Seeds: spin is seed 000's, the timer study seed 003's with its two figures
// and the experiment on timer resolution, wake and rate are seed 004's
// questions.
package probe

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/sender/load"
)

// Names are the probes, in the order of the manual.
func Names() []string { return []string{"clock", "timer", "spin", "wake", "rate"} }

// Options are one probe.
type Options struct {
	Probe string

	// One of them, for the whole probe; both 0: DefaultDuration. A load's
	// start and settling come on top.
	Duration time.Duration
	Count    int64

	Priorities []string    // each is measured; none: DefaultPriorities
	CPU        int         // for the measuring threads; -1: any. wake chooses its own
	Timers     []wait.Kind // each is measured; none: those of the probe
	Loads      []load.Spec // each is measured; none: DefaultLoads
	Settle     time.Duration
	Force      bool // allow what can hang a machine with one processor

	Port     string // spin and rate; "": none
	Line     serialport.Config
	LimitHZ  float64 // characters a second that the line carries; 0: unknown
	Loopback bool    // rate: what is written comes back

	// Granted is told what a priority was granted, once each.
	Granted func([]realtime.Grant)
	Say     func(format string, a ...any) // announces what comes
	Warn    func(format string, a ...any) // what went wrong with a load
	Live    func(text func() string)      // the progress, drawn again and again
}

// ErrOneProcessor refuses to spin at the top priority on the only processor.
var ErrOneProcessor = errors.New("a spin loop on a machine with one processor hangs it")

// DefaultDuration is how long a probe measures when nothing is said.
func DefaultDuration(probe string, cells int) time.Duration {
	switch probe {
	case "clock":
		return time.Duration(cells) * 200 * time.Millisecond
	case "timer":
		return time.Duration(cells) * 500 * time.Millisecond
	case "rate":
		return time.Duration(cells*rateUnits) * rateStep
	}
	return time.Duration(cells) * 5 * time.Second
}

// DefaultPriorities are those of seed 003 for timers, the top elsewhere.
func DefaultPriorities(probe string) []string {
	if probe == "timer" {
		return []string{"low", "normal", "high"}
	}
	return []string{"realtime"}
}

// DefaultLoads are those of seed 003 for timers, none elsewhere.
func DefaultLoads(probe string) []load.Spec {
	values := []string{"no load=@none"}
	if probe == "timer" {
		values = []string{"0 threads=@none", "100 threads=@threads:100", "400 threads=@threads:400"}
	}
	specs, err := load.ParseAll(values)
	if err != nil {
		panic(err) // they are constants, and a test reads them
	}
	return specs
}

// defaults fills in what was left open.
func (o *Options) defaults() error {
	if len(o.Priorities) == 0 {
		o.Priorities = DefaultPriorities(o.Probe)
	}
	if len(o.Loads) == 0 {
		o.Loads = DefaultLoads(o.Probe)
	}
	for _, p := range o.Priorities {
		if _, err := realtime.ParsePriority(p); err != nil {
			return err
		}
	}
	if o.Granted == nil {
		o.Granted = func([]realtime.Grant) {}
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	if o.Warn == nil {
		o.Warn = o.Say
	}
	if o.Live == nil {
		o.Live = func(func() string) {}
	}
	switch {
	case o.Duration < 0 || o.Count < 0 || o.Duration > 0 && o.Count > 0:
		return fmt.Errorf("a probe takes a duration or a count, not %v and %d", o.Duration, o.Count)
	case o.Probe == "spin" && runtime.NumCPU() == 1 && !o.Force:
		return ErrOneProcessor
	}
	return nil
}

// Run measures. When ctx ends, the report holds what there is, and says that
// it was interrupted. The error is for a probe that could not be
// done: a port that does not open, a load that does not start.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	r := newRun(ctx, o)
	probes := map[string]func() error{
		"clock": r.clocks, "timer": r.timers, "spin": r.spins, "wake": r.wakes, "rate": r.rates,
	}
	work := probes[o.Probe]
	if work == nil {
		return nil, fmt.Errorf("there is no probe %q", o.Probe)
	}
	err := work()
	r.finish()
	return r.report, err
}
