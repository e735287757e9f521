package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
)

// replay builds the report of logs, one after the other.
func (p *program) replay(ctx context.Context, args []string) (int, error) {
	var flags cli.ReportFlags
	fs := pflag.NewFlagSet("receiver replay", pflag.ContinueOnError)
	flags.Add(fs)
	if done, err := cli.Parse(fs, args, usage, p.stdout); done || err != nil {
		return cli.Done, err
	}
	if fs.NArg() == 0 {
		return 0, cli.Misuse("name one: receiver replay run.csv (- is standard input)", "no log was named")
	}
	if err := validateReport(&flags, fs); err != nil {
		return 0, err
	}
	status := cli.Done
	report := results.NewReport(results.Source{}, nil)
	for _, name := range fs.Args() {
		source, runs, err := p.replayFile(ctx, name, &flags)
		if err != nil {
			status = p.voice.Fail(err)
			continue
		}
		report.Source = source
		report.Runs = append(report.Runs, runs...)
	}
	if len(report.Runs) == 0 {
		return max(status, cli.Failed), nil
	}
	for i := range report.Runs {
		for _, w := range report.Runs[i].Warnings {
			if strings.Contains(w, "torn") {
				p.voice.Warn("%s", w)
			}
		}
	}
	return status, flags.Write(p.stdout, forms(report))
}

func (p *program) replayFile(ctx context.Context, name string, flags *cli.ReportFlags) (s results.Source, runs []results.Run, err error) {
	r, err := p.openLog(name)
	if err != nil {
		return s, nil, err
	}
	defer r.Close()
	l, err := results.NewLogReader(&interruptible{ctx, r})
	if newer := (*results.NewerLogError)(nil); errors.As(err, &newer) {
		return s, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "update this program, or write the log with the older one")
	}
	if err != nil {
		return s, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "give a log that --log wrote")
	}
	a := assemble.New(assemble.Options{
		Table: tableKind(flags), Period: flags.Period, LateBy: flags.LateBy, Quantum: 1,
	})
	if err := a.Replay(l, name); err != nil {
		return s, nil, fmt.Errorf("%s: %w", name, err)
	}
	runs = a.Finish(assemble.ReasonEnd)
	if len(runs) == 0 {
		return s, nil, cli.WithHint(fmt.Errorf("%s: the log holds no run", name), "the capture ended before anything came")
	}
	s = results.Source{Kind: "log", Class: "character", QuantumNS: 1}
	if a.IsSender() {
		s.Kind = "sender"
	}
	return s, runs, nil
}

func (p *program) openLog(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.WithHint(err, "check the file's name")
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, cli.WithHint(fmt.Errorf("%s is a folder", name), "name the log in it")
	}
	return f, nil
}

// interruptible ends a long replay on Ctrl-C.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (i *interruptible) Read(b []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, errors.New("interrupted")
	}
	return i.Reader.Read(b)
}
