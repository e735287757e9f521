package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/results"
	"serialtiming/results/importer"
	"serialtiming/results/published"
)

// The kinds of input.
const (
	kindLog       = "log"
	kindReport    = "report"
	kindPublished = "published"
	kindHistogram = "histogram"
)

// input is one RUN of the command line. Logs are read once it is known how;
// everything else is read at once.
type input struct {
	name, kind string
	file       os.FileInfo // nil: none
	data       results.Column
	counted    *importer.Histogram // of a histogram
	program    *program
}

// same tells whether two inputs are the same columns of the same file.
func (in *input) same(other *input) bool {
	if in.file == nil || other.file == nil {
		return in.name == other.name
	}
	return os.SameFile(in.file, other.file) && (in.kind != kindHistogram || in.data.Phases[0].Run.Label == other.data.Phases[0].Run.Label)
}

const publishedPrefix = "published:"

// openAll finds out what each name is. Each name that is none is told as an
// error of its own, so that all are known at once; the status says so.
func (p *program) openAll(ctx context.Context, names []string) (list []input, status int, err error) {
	for _, name := range names {
		found, err := p.openRun(ctx, name)
		if u := (*published.UnknownError)(nil); errors.As(err, &u) {
			return nil, 0, cli.Misuse(u.Hint(), "%v", err)
		}
		if err != nil {
			status = p.voice.Fail(err)
			continue
		}
		list = append(list, found...)
	}
	return list, status, nil
}

// openRun gives the columns that a name stands for: one, but of another tool's
// file one for each of its histograms.
func (p *program) openRun(ctx context.Context, name string) ([]input, error) {
	in := input{name: name, program: p, data: results.Column{Name: name, QuantumNS: 1}}
	if system, ok := strings.CutPrefix(name, publishedPrefix); ok {
		err := in.published(system)
		return []input{in}, err
	}
	st, err := os.Stat(name)
	if name == "-" || err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil, cli.WithHint(fmt.Errorf("%s cannot be compared: a log is read twice for it, and a pipe or device only once", name),
			"write it to a file first, and give that")
	}
	in.file = st
	f, err := p.openLog(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	head, err := r.Peek(1 << 12)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(head) == 0:
		return nil, cli.WithHint(fmt.Errorf("%s is empty", name), "%s", whatIsARun)
	case results.IsLog(head):
		in.kind, in.data.Kind = kindLog, kindLog
	case bytes.Contains(head, []byte(`"`+results.ComparisonFormat+`"`)):
		return nil, cli.WithHint(fmt.Errorf("%s is a comparison, not a run", name), "give the logs or reports that it was made from")
	case bytes.Contains(head, []byte(`"serialtiming-probe"`)):
		return nil, cli.WithHint(fmt.Errorf("%s is the report of a probe, not a run", name), "%s", whatIsARun)
	case bytes.HasPrefix(head, []byte(" M-Sec ")):
		return nil, cli.WithHint(fmt.Errorf("%s is the text of a report, whose figures are rounded", name), "%s", whatIsARun)
	case results.IsReport(head):
		err = in.report(r)
		return []input{in}, err
	default:
		return in.histograms(r)
	}
	return []input{in}, nil
}

const whatIsARun = "give what --log or --json wrote, published:windows95 or published:windowsnt4"

func (in *input) published(system string) error {
	s, err := published.Find(system)
	if err != nil {
		return err
	}
	runs, err := published.Runs(system)
	if err != nil {
		return err
	}
	in.kind, in.data.Kind, in.data.QuantumNS = kindPublished, s.Title+", 1998", 0
	in.add(runs, nil)
	return nil
}

// add takes runs; sequences may be nil.
func (in *input) add(runs []results.Run, sequences []results.Sequence) {
	for i := range runs {
		s := results.Sample{Run: runs[i]}
		if i < len(sequences) {
			s.Sequence = &sequences[i]
		}
		in.data.Phases = append(in.data.Phases, s)
	}
}

func (in *input) report(r io.Reader) error {
	rep, err := results.ReadReport(r)
	if newer := (*results.NewerReportError)(nil); errors.As(err, &newer) {
		return cli.WithHint(fmt.Errorf("%s: %w", in.name, err), "update this program, or write the report with the older one")
	}
	if err != nil {
		return cli.WithHint(fmt.Errorf("%s: %w", in.name, err), "give a report that --json wrote")
	}
	if len(rep.Runs) == 0 {
		return cli.WithHint(fmt.Errorf("%s: the report holds no run", in.name), "give another")
	}
	in.kind, in.data.Kind = kindReport, "report, source "+results.OneLine(rep.Source.Kind)
	in.data.Source, in.data.Class, in.data.QuantumNS = rep.Source.Kind, rep.Source.Class, max(rep.Source.QuantumNS, 0)
	in.add(rep.Runs, nil)
	return nil
}

// column gives the input as the view reads it; logs are read here.
func (in *input) column(ctx context.Context, v results.View) (results.Column, error) {
	switch in.kind {
	case kindLog:
		err := in.log(ctx, v)
		return in.data, err
	case kindReport:
		return in.data, in.reread(v)
	case kindHistogram:
		in.late(v.LateByNS)
	}
	return in.data, nil
}

// reread makes a report's tables the view's, where they allow it.
func (in *input) reread(v results.View) error {
	for i := range in.data.Phases {
		r := &in.data.Phases[i].Run
		if by := r.Late.ByNS; v.LateByNS > 0 && !v.Readings && by != nil && *by != v.LateByNS {
			in.program.voice.Warn("%s: late is unknown of %q: its report counted by more than %v, and holds no more than that count", in.name, r.Label, time.Duration(*by))
			in.program.voice.Hint(fmt.Sprintf("give its log, or write the report with --late-by %v", time.Duration(v.LateByNS)))
			r.Late = results.Late{}
		}
		t := &r.Table
		switch {
		case v.Readings && !v.Shows(t):
			return cli.WithHint(fmt.Errorf("%s holds a table that was not counted at %d Hz: a report cannot be read again with a coarser clock", in.name, v.TickHz),
				"give its log, or write the report with --tick %d", v.TickHz)
		case v.TickHz > 0 || t.BinNS == v.BinNS:
		default:
			if c, ok := t.Coarser(v.BinNS); ok {
				*t = c
			}
		}
	}
	return nil
}

// adopt gives the tables' kind of the reports among the inputs, where they
// agree: logs can be read in any way, a report in one.
func adopt(v results.View, inputs []input) results.View {
	var t *results.TableData
	for i := range inputs {
		if inputs[i].kind != kindReport {
			continue
		}
		for k := range inputs[i].data.Phases {
			next := &inputs[i].data.Phases[k].Run.Table
			if t != nil && !v.Shows(next) {
				return results.View{Quantity: v.Quantity, BinNS: int64(time.Millisecond)}
			}
			t, v.BinNS, v.TickHz = next, next.BinNS, 0
			if t.TickHz != nil {
				v.TickHz = *t.TickHz
			}
		}
	}
	return v
}
