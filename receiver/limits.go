package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/results"
)

// limitFlags are the bounds that a user sets, as plain values; capture, replay
// and compare share them.
type limitFlags struct {
	maxInterval, maxLateness time.Duration
	maxLateShare             float64 // percent
	maxLost, maxErrors       int64
}

// Add declares the flags.
func (l *limitFlags) Add(fs *pflag.FlagSet) {
	fs.DurationVar(&l.maxInterval, "max-interval", 0, "")
	fs.DurationVar(&l.maxLateness, "max-lateness", 0, "")
	fs.Float64Var(&l.maxLateShare, "max-late-share", 0, "")
	fs.Int64Var(&l.maxLost, "max-lost", 0, "")
	fs.Int64Var(&l.maxErrors, "max-errors", 0, "")
}

// Validate gives the first rule that the flags break.
func (l *limitFlags) Validate(fs *pflag.FlagSet) error {
	switch {
	case fs.Changed("max-interval") && l.maxInterval <= 0:
		return cli.Misuse("give a duration such as 20ms", "--max-interval %v is kept by nothing", l.maxInterval)
	case fs.Changed("max-lateness") && l.maxLateness <= 0:
		return cli.Misuse("give a duration such as 1ms", "--max-lateness %v is kept by nothing", l.maxLateness)
	case !(l.maxLateShare >= 0 && l.maxLateShare <= 100):
		return cli.Misuse("give a percentage such as 0.1", "--max-late-share %v is no percentage", l.maxLateShare)
	case l.maxLost < 0:
		return cli.Misuse("give a number from 0", "--max-lost %d is no count", l.maxLost)
	case l.maxErrors < 0:
		return cli.Misuse("give a number from 0", "--max-errors %d is no count", l.maxErrors)
	}
	return nil
}

// Limits gives what was set, for stamps of a quantum in ns.
func (l *limitFlags) Limits(fs *pflag.FlagSet, quantumNS int64) results.Limits {
	r := results.Limits{QuantumNS: quantumNS}
	if fs.Changed("max-interval") {
		r.MaxInterval = &l.maxInterval
	}
	if fs.Changed("max-lateness") {
		r.MaxLateness = &l.maxLateness
	}
	if fs.Changed("max-late-share") {
		r.MaxLateShare = new(l.maxLateShare / 100)
	}
	if fs.Changed("max-lost") {
		r.MaxLost = &l.maxLost
	}
	if fs.Changed("max-errors") {
		r.MaxErrors = &l.maxErrors
	}
	return r
}

// judge writes the verdicts into the runs, says why one could not be decided,
// and gives the exit status: Done, or LimitBroken. Without a limit the runs
// stay as they are.
func (p *program) judge(l results.Limits, runs []results.Run) int {
	if !l.Any() {
		return cli.Done
	}
	var reasons []string
	labels := map[string][]string{}
	for i := range runs {
		r := &runs[i]
		r.Limits = l.Judge(r)
		for _, why := range l.Explain(r) {
			if labels[why] == nil {
				reasons = append(reasons, why)
			}
			labels[why] = append(labels[why], r.Label)
		}
	}
	for _, why := range reasons {
		of := fmt.Sprintf("run %q", labels[why][0])
		if n := len(labels[why]); n > 1 {
			of += fmt.Sprintf(" and %d more", n-1)
		}
		p.voice.Warn("%s: %s", of, why)
	}
	if results.Passed(runs) {
		return cli.Done
	}
	return cli.LimitBroken
}
