package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/results"
	"serialtiming/results/published"
	"serialtiming/results/report"
)

const compareUsage = `receiver compare sets runs beside each other, phase by phase.

Usage:
  receiver compare RUN... [flags]   one column a run; phases pair by label

Example:
  receiver compare published:windowsnt4 run.csv

A RUN is
  FILE                    a run log, a JSON report of this tool, or another tool's
                          histogram (cyclictest, rtla, jitterdebugger, HdrHistogram)
  published:windows95     the tables of 1998: one alone is printed as it was
  published:windowsnt4

Figures: intervals, late, mean, p50, p99, p99.9, max, lost, and how far each lies
from the first column's. Of logs the order of the intervals is known: they have
bounds beside the difference, that hold the truth in 95 of 100 cases (block
bootstrap). All columns are read with the coarsest clock among them: beside the
tables of 1998 a log is counted with a 1024 Hz clock.

Flags:
  --bin D              width of a table's row (1ms)
  --tick HZ            read all with a counter, as in 1998: --tick 1024
  --late-by D          above it a character is late, in every run (each run's own)
  --json FILE          the comparison as JSON; - is stdout, in place of the text
  --csv FILE           the figures as CSV; - is stdout, in place of the text

Limits, held against every run:
  --max-interval D     longest interval
  --max-lateness D     largest lateness
  --max-late-share P   late characters, in percent
  --max-lost N         lost characters
  --max-errors N       line errors and wrong characters

  --version, --help

Exit status: 0 done, 1 failed or nothing to compare, 2 wrong usage, 3 a limit was
broken or could not be decided.
`

// compareFlags are the flags of a comparison.
type compareFlags struct {
	report cli.ReportFlags
	limits limitFlags
	set    *pflag.FlagSet
}

// compare sets runs beside each other.
func (p *program) compare(ctx context.Context, args []string) (int, error) {
	f, done, err := p.parseCompare(args)
	if done || err != nil {
		return cli.Done, err
	}
	if err := cli.Distinct([]string{f.report.JSON, f.report.CSV}, f.set.Args()...); err != nil {
		return 0, err
	}
	if err := f.report.CheckOutputs(); err != nil {
		return 0, err
	}
	inputs, status, err := p.openAll(ctx, f.set.Args())
	if err != nil || status != cli.Done {
		return status, err
	}
	view, err := chooseView(inputs, f)
	if err != nil {
		return 0, err
	}
	// Nothing is written before all inputs are read: a comparison without a
	// column that was asked for is none.
	var columns []results.Column
	for i := range inputs {
		c, err := inputs[i].column(ctx, view)
		if err != nil {
			status = p.voice.Fail(err)
		}
		columns = append(columns, c)
	}
	if status != cli.Done {
		return status, nil
	}
	c, broken, err := p.compared(columns, view, f)
	if err != nil {
		return 0, err
	}
	twice(c, inputs)
	if err := f.report.Write(p.stdout, comparisonForms(c)); err != nil {
		return 0, err
	}
	return broken, nil
}

// twice warns of inputs that are one.
func twice(c *results.Comparison, read []input) {
	for i := range read {
		for k := range read[:i] {
			if read[k].same(&read[i]) {
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s and %s are the same: no difference says nothing", c.Columns[k].Mark, c.Columns[i].Mark))
			}
		}
	}
}

// compared judges and compares; broken is the exit status of the limits.
func (p *program) compared(columns []results.Column, view results.View, f *compareFlags) (c *results.Comparison, broken int, err error) {
	broken = cli.Done
	for i := range columns {
		runs := make([]results.Run, len(columns[i].Phases))
		for k := range runs {
			runs[k] = columns[i].Phases[k].Run
			runs[k].Limits = nil // those of another command
		}
		broken = max(broken, p.judge(f.limits.Limits(f.set, columns[i].QuantumNS), runs))
		for k := range runs {
			columns[i].Phases[k].Run = runs[k]
		}
	}
	c = results.Compare(columns, view)
	if len(columns) > 1 && !c.Common() {
		return nil, 0, nothingInCommon(columns)
	}
	return c, broken, nil
}

func comparisonForms(c *results.Comparison) cli.Forms {
	return cli.Forms{
		Text: func(w io.Writer) error { return report.CompareText(w, c) },
		JSON: func(w io.Writer) error { return report.CompareJSON(w, c) },
		CSV:  func(w io.Writer) error { return report.CompareCSV(w, c) },
	}
}

func (p *program) parseCompare(args []string) (f *compareFlags, done bool, err error) {
	fs := pflag.NewFlagSet("receiver compare", pflag.ContinueOnError)
	f = &compareFlags{set: fs}
	fs.DurationVar(&f.report.Bin, "bin", time.Millisecond, "")
	fs.Int64Var(&f.report.Tick, "tick", 0, "")
	fs.DurationVar(&f.report.LateBy, "late-by", 0, "")
	f.report.AddOutputs(fs)
	f.limits.Add(fs)
	if done, err = cli.Parse(fs, args, compareUsage, p.stdout); done || err != nil {
		return f, done, err
	}
	if fs.NArg() == 0 {
		return f, false, cli.Misuse("name some: receiver compare published:windowsnt4 run.csv", "no run was named")
	}
	if err := validateReport(&f.report, fs); err != nil {
		return f, false, err
	}
	return f, false, f.limits.Validate(fs)
}

// chooseView finds the coarsest clock among the inputs, or takes the one that
// the user asked for.
func chooseView(inputs []input, f *compareFlags) (v results.View, err error) {
	v = results.View{Quantity: results.OfInterval, BinNS: int64(f.report.Bin), TickHz: f.report.Tick, Readings: f.report.Tick > 0, LateByNS: int64(f.report.LateBy)}
	counted, histogram := "", ""
	for i := range inputs {
		switch inputs[i].kind {
		case kindPublished:
			counted = inputs[i].name
		case kindHistogram:
			histogram, v.Quantity = inputs[i].name, results.OfLateness
		}
	}
	switch {
	case counted != "" && histogram != "":
		return v, cli.WithHint(fmt.Errorf("%s holds intervals, %s the lateness of a timer: they cannot be compared", counted, histogram), "compare each with a log of your own")
	case counted != "" && f.set.Changed("bin"):
		return v, cli.Misuse("drop --bin", "%s was counted with a clock of %d Hz, it cannot be read with bins", counted, published.TickHz)
	case counted != "" && f.set.Changed("tick") && v.TickHz != published.TickHz:
		return v, cli.Misuse("drop --tick", "%s was counted with a clock of %d Hz, it cannot be read with another", counted, published.TickHz)
	case histogram != "" && v.Readings:
		return v, cli.Misuse("drop --tick", "%s holds no intervals that a counter could read", histogram)
	case counted != "":
		v.TickHz, v.Readings = published.TickHz, true
	case !f.set.Changed("bin") && !f.set.Changed("tick"):
		v = adopt(v, inputs)
	}
	return v, nil
}

// nothingInCommon says which labels there are.
func nothingInCommon(columns []results.Column) error {
	var labels string
	for i := range columns {
		labels += fmt.Sprintf("; %s has", columns[i].Name)
		for k := range columns[i].Phases {
			labels += fmt.Sprintf(" %q", columns[i].Phases[k].Run.Label)
		}
	}
	return cli.WithHint(errors.New("no two columns have a label in common: nothing stands beside each other"),
		"phases pair by their labels%s", labels)
}
