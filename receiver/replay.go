package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"serialtiming/internal/cli"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
	"serialtiming/results/importer"
)

const replayUsage = `receiver replay builds the report of logs: our own, or another tool's.

Usage:
  receiver replay FILE... [flags]      - is standard input; .gz and .zst are read as they are

Example:
  receiver replay run.csv --tick 1024

Another tool's log (told by its content):
  --format NAME        take it as that format
  --formats            list the formats
  --channel NAME       of several analysers, directions or descriptors, this one
  --samplerate HZ      of files that count samples and do not say
  --time-column N      of a table, from 1
  --time-unit U        of a table: s, ms, us or ns
  --deltas             the stamps of a table, or of lines, are differences
  --sender FILE        the sender's own log of the same runs, read along
  --expect SEQ         cycle (this tool's stream), counter (0 to 255), none

Writing:
  --log FILE           as a run log
  --pcapng FILE        as RTAC serial packets, which Wireshark shows

Report:
  --bin D              width of a row (1ms)
  --tick HZ            read as the DOS program of 1998 did: --tick 1024
  --tick-phase D       where the ticks fall (0s: from the log's zero)
  --period D           period of the grid, in place of the announced one
  --late-by D          above it a character is late (5 % of the period)
  --json FILE          the report as JSON; - is stdout, in place of the text
  --csv FILE           the table as CSV; - is stdout, in place of the text

Limits:
  --max-interval D     longest interval
  --max-lateness D     largest lateness
  --max-late-share P   late characters, in percent
  --max-lost N         lost characters
  --max-errors N       line errors and wrong characters

Exit status: 0 done (a torn log too), 1 failed, 2 wrong usage, 3 a limit was broken
or could not be decided.
`

// replayFlags are the flags of a replay.
type replayFlags struct {
	report   cli.ReportFlags
	importer importer.Options
	expect   string
	log      string
	pcapng   string
	formats  bool
	foreign  string // a flag given that is for other tools' logs only
	sender   string
	limits   limitFlags
	set      results.Limits
}

func parseReplay(p *program, args []string) (f replayFlags, files []string, done bool, err error) {
	fs := pflag.NewFlagSet("receiver replay", pflag.ContinueOnError)
	f.report.Add(fs)
	f.limits.Add(fs)
	fs.StringVar(&f.importer.Format, "format", "", "")
	fs.BoolVar(&f.formats, "formats", false, "")
	fs.StringVar(&f.importer.Channel, "channel", "", "")
	fs.Int64Var(&f.importer.SampleRate, "samplerate", 0, "")
	fs.IntVar(&f.importer.TimeColumn, "time-column", 0, "")
	fs.StringVar(&f.importer.TimeUnit, "time-unit", "", "")
	fs.BoolVar(&f.importer.Deltas, "deltas", false, "")
	fs.StringVar(&f.expect, "expect", "", "")
	fs.StringVar(&f.sender, "sender", "", "")
	fs.StringVar(&f.log, "log", "", "")
	fs.StringVar(&f.pcapng, "pcapng", "", "")
	if done, err = cli.Parse(fs, args, replayUsage, p.stdout); done || err != nil {
		return f, nil, done, err
	}
	return f, fs.Args(), false, f.validate(fs)
}

func (f *replayFlags) validate(fs *pflag.FlagSet) error {
	o := &f.importer
	switch {
	case f.formats:
		return nil
	case fs.NArg() == 0:
		return cli.Misuse("name one: receiver replay run.csv (- is standard input)", "no log was named")
	case fs.NArg() > 1 && f.sender != "":
		return cli.Misuse("replay one at a time", "--sender goes with one log, and %d were named", fs.NArg())
	case fs.NArg() > 1 && (f.log != "" || f.pcapng != ""):
		return cli.Misuse("replay one at a time", "--log and --pcapng write one file, and %d logs were named", fs.NArg())
	case fs.Changed("samplerate") && o.SampleRate <= 0:
		return cli.Misuse("give the rate in Hz, such as 1000000", "a sample rate of %d Hz is none", o.SampleRate)
	case fs.Changed("time-column") && o.TimeColumn <= 0:
		return cli.Misuse("count columns from 1", "there is no column %d", o.TimeColumn)
	}
	for _, name := range []string{"samplerate", "time-column", "time-unit", "deltas"} {
		if fs.Changed(name) {
			f.foreign = name
		}
	}
	switch o.TimeUnit {
	case "", "s", "ms", "us", "ns":
	default:
		return cli.Misuse("--time-unit takes s, ms, us or ns", "unknown unit %q", o.TimeUnit)
	}
	known := func(f importer.Format) bool { return f.Name == o.Format }
	if o.Format != "" && !slices.ContainsFunc(importer.Formats(), known) {
		return cli.Misuse("see receiver replay --formats", "there is no format %q", o.Format)
	}
	switch assemble.Expect(f.expect) {
	case "", assemble.ExpectCycle, assemble.ExpectCounter, assemble.ExpectNone:
	default:
		return cli.Misuse("--expect takes cycle, counter or none", "unknown sequence %q", f.expect)
	}
	if err := f.limits.Validate(fs); err != nil {
		return err
	}
	f.set = f.limits.Limits(fs, 1)
	return validateReport(&f.report, fs)
}

func (f *replayFlags) assembler(out *outputs) assemble.Options {
	return assemble.Options{
		Table: tableKind(&f.report), Period: f.report.Period, LateBy: f.report.LateBy,
		Expect: assemble.Expect(f.expect), Quantum: 1, Log: out.log.Writer(), Tap: out.tap(),
	}
}

// replay builds the report of logs, one after the other.
func (p *program) replay(ctx context.Context, args []string) (int, error) {
	f, files, done, err := parseReplay(p, args)
	switch {
	case done || err != nil:
		return cli.Done, err
	case f.formats:
		return cli.Done, p.formats()
	}
	if err := cli.Distinct([]string{f.report.JSON, f.report.CSV, f.log, f.pcapng}, append(files, f.sender)...); err != nil {
		return 0, err
	}
	status := cli.Done
	report := results.NewReport(results.Source{}, nil)
	for _, name := range files {
		source, runs, err := p.replayFile(ctx, name, &f)
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
	f.set.QuantumNS = max(report.Source.QuantumNS, 1)
	if broken := p.judge(f.set, report.Runs); status == cli.Done {
		status = broken
	}
	for i := range report.Runs {
		for _, w := range report.Runs[i].Warnings {
			if strings.Contains(w, "torn") {
				p.voice.Warn("%s", w)
			}
		}
	}
	return status, f.report.Write(p.stdout, forms(report))
}

// replayFile replays a log of ours or of another tool.
func (p *program) replayFile(ctx context.Context, name string, f *replayFlags) (results.Source, []results.Run, error) {
	file, err := p.openLog(ctx, name)
	if err != nil {
		return results.Source{}, nil, err
	}
	defer file.Close()
	var torn []string
	input := &untilInterrupted{Reader: &interruptible{ctx, file}}
	defer func() {
		if input.seen {
			p.voice.Warn("%s: interrupted: the report is of what was read until then", name)
		}
	}()
	r, err := importer.Decompress(input, func(format string, a ...any) {
		torn = append(torn, name+": "+fmt.Sprintf(format, a...))
	})
	if err != nil {
		return results.Source{}, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "check that the file is whole")
	}
	head, _ := r.Peek(64)
	how := p.replayLog
	switch foreign := !results.IsLog(head) || f.importer.Format != ""; {
	case !foreign && f.foreign != "":
		return results.Source{}, nil, cli.Misuse("drop it", "%s: --%s does not apply to a run log", name, f.foreign)
	case foreign:
		if seekable, ok := file.(io.ReadSeeker); ok && name != "-" {
			if _, err := seekable.Seek(0, io.SeekStart); err == nil {
				return p.importFile(ctx, seekableInput{input, seekable}, name, f)
			}
		}
		how = p.importFile
	}
	source, runs, err := how(ctx, r, name, f)
	if n := len(runs); n > 0 {
		runs[n-1].Warnings = append(runs[n-1].Warnings, torn...)
		return source, runs, err
	}
	for _, text := range torn {
		p.voice.Warn("%s", text)
	}
	return source, runs, err
}

// replayLog replays a log of ours.
func (p *program) replayLog(ctx context.Context, r io.Reader, name string, f *replayFlags) (s results.Source, runs []results.Run, err error) {
	l, err := results.NewLogReader(r)
	if newer := (*results.NewerLogError)(nil); errors.As(err, &newer) {
		return s, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "update this program, or write the log with the older one")
	}
	if err != nil {
		return s, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "give a log that --log wrote")
	}
	out, err := p.openOutputs(f)
	if err != nil {
		return s, nil, err
	}
	options := f.assembler(out)
	if f.sender != "" {
		along, done, err := p.openSender(ctx, f.sender)
		if err != nil {
			return s, nil, err
		}
		defer done()
		options.Side = along
	}
	a := assemble.New(options)
	if err := a.Replay(l, name); err != nil {
		out.close()
		return s, nil, fmt.Errorf("%s: %w", name, err)
	}
	runs = a.Finish(assemble.ReasonEnd)
	if err := out.close(); err != nil {
		return s, nil, err
	}
	if options.Side != nil && options.Side.Wrong() != "" {
		return s, nil, cli.WithHint(fmt.Errorf("%s and %s are not of the same runs: %s", name, f.sender, options.Side.Wrong()),
			"give the log that the sender wrote of these very runs")
	}
	if len(runs) == 0 && a.Source().Kind != "log" {
		runs = []results.Run{assemble.Empty(a)}
	}
	if len(runs) == 0 {
		return s, nil, cli.WithHint(fmt.Errorf("%s: the log holds no run", name), "the capture ended before anything came")
	}
	return a.Source(), runs, nil
}

// openSender opens the sender's own log, to be read along.
func (p *program) openSender(ctx context.Context, name string) (*assemble.Beside, func() error, error) {
	file, err := p.openLog(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	l, err := results.NewLogReader(file)
	if err != nil {
		file.Close()
		return nil, nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "give the log that the sender's --log wrote")
	}
	return assemble.NewBeside(l), file.Close, nil
}

// openLog opens a file or standard input. Ctrl-C ends the wait for the other
// end of a pipe, be it to come or to write.
func (p *program) openLog(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(piped(ctx, p.stdin)), nil
	}
	st, err := os.Stat(name)
	if err != nil {
		return nil, cli.WithHint(err, "check the file's name")
	}
	if st.IsDir() {
		return nil, cli.WithHint(fmt.Errorf("%s is a folder", name), "name the log in it")
	}
	if st.Mode().IsRegular() {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.WithHint(err, "see who may read the file")
		}
		return f, nil
	}
	opened, failed := make(chan *os.File, 1), make(chan error, 1)
	go func() {
		f, err := os.Open(name)
		if err != nil {
			failed <- err
			return
		}
		opened <- f
	}()
	select {
	case <-ctx.Done():
		return nil, errInterrupted
	case err := <-failed:
		return nil, cli.WithHint(err, "see who may read it")
	case f := <-opened:
		return readCloser{piped(ctx, f), f}, nil
	}
}

type readCloser struct {
	io.Reader
	io.Closer
}

// piped reads by a goroutine, so that a read that waits can be given up; a
// regular file needs none.
func piped(ctx context.Context, from io.Reader) io.Reader {
	if f, ok := from.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return from
		}
	}
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(errInterrupted) })
	go func() {
		_, err := io.Copy(w, from)
		w.CloseWithError(err)
	}()
	return r
}

var errInterrupted = errors.New("interrupted")

// interruptible ends a long replay on Ctrl-C.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (i *interruptible) Read(b []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return i.Reader.Read(b)
}

// seekableInput is a file's.
type seekableInput struct {
	*untilInterrupted
	io.Seeker
}

// untilInterrupted takes Ctrl-C for the end of the input: the report of what
// was read until then is given, as of a capture.
type untilInterrupted struct {
	io.Reader
	seen bool
}

func (u *untilInterrupted) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if errors.Is(err, errInterrupted) {
		u.seen, err = true, io.EOF
	}
	return n, err
}
