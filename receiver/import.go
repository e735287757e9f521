package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
	"serialtiming/results/importer"
)

// importFile builds the report of another tool's log.
func (p *program) importFile(_ context.Context, r io.Reader, name string, f *replayFlags) (results.Source, []results.Run, error) {
	src, err := importer.Open(r, name, f.importer)
	if err != nil {
		return results.Source{}, nil, importError(err)
	}
	out, err := p.openOutputs(f)
	if err != nil {
		return results.Source{}, nil, err
	}
	a := assemble.New(f.assembler(out))
	if err := pour(src, a); err != nil {
		out.discard(f)
		return results.Source{}, nil, importError(err)
	}
	rep := src.Report()
	runs := a.Finish(assemble.ReasonEnd)
	if err := out.close(); err != nil {
		return results.Source{}, nil, err
	}
	source := results.Source{Kind: src.Format, Class: src.Class, Channel: src.Channel(), QuantumNS: src.Quantum()}
	if len(runs) == 0 {
		p.voice.Warn("%s: %s: no events", name, src.Format)
		runs = []results.Run{assemble.Empty(a)}
	}
	remark(&runs[len(runs)-1], name, src, rep, f)
	return source, runs, nil
}

// pour hands the events of a source to the assembler.
func pour(src *importer.Source, a *assemble.Assembler) error {
	begin := sync.OnceFunc(func() {
		a.Foreign(results.Source{Kind: src.Format, Class: src.Class, Channel: src.Channel()}, src.Marks())
	})
	for {
		ev, err := src.Next()
		if err == nil {
			begin()
			a.Chunk(ev)
			continue
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		begin() // also of a file without events
		a.Quantum(src.Quantum())
		return nil
	}
}

// shownChannels is how many of the channels that were not taken are named.
const shownChannels = 20

// remark adds what the file has to say besides its events.
func remark(r *results.Run, name string, src *importer.Source, rep importer.Report, f *replayFlags) {
	warn := func(format string, args ...any) {
		r.Warnings = append(r.Warnings, results.OneLine(fmt.Sprintf(format, args...))) // names are the file's
	}
	var others []string
	for _, c := range rep.Channels {
		if c.Name != src.Channel() {
			others = append(others, fmt.Sprintf("%s (%d events, %d bytes)", c.Name, c.Events, c.Bytes))
		}
	}
	if n := len(others); n > shownChannels {
		others = append(others[:shownChannels], fmt.Sprintf("and %d more", n-shownChannels))
	}
	if len(others) > 0 {
		warn("%s: other channels: %s", name, strings.Join(others, ", "))
	}
	if rep.Bad > 0 {
		warn("%s: %d of %d lines could not be read", name, rep.Bad, rep.Lines)
	}
	for _, b := range rep.BadLines {
		warn("%s", b.String(name))
	}
	if rep.Torn {
		warn("%s is torn: the last line is cut", name)
	}
	if rep.Wraps > 0 {
		warn("%s: the stamps wrapped %d times: put right", name, rep.Wraps)
	}
	if rep.Resets > 0 {
		warn("%s: %d of the steps back are a new base of the stamps", name, rep.Resets)
	}
	if rep.BytesUnknown {
		r.Lost, r.Duplicated, r.Corrupted, r.Extra, r.BeforeStart = nil, nil, nil, nil, nil
		warn("%s does not tell all characters, only how many there were", name)
	}
	for _, w := range rep.Warnings {
		warn("%s: %s", name, w)
	}
	coarse(r, src.Quantum(), f, warn)
}

// coarse speaks up when the stamps are too coarse for the stream.
func coarse(r *results.Run, quantum int64, f *replayFlags, warn func(string, ...any)) {
	period := int64(f.report.Period)
	if period == 0 && r.Interval != nil && r.Interval.P50 != nil {
		period = *r.Interval.P50
	}
	if quantum > 0 && period > 0 && period < 10*quantum {
		warn("the stamps step by %v: a period of %v is under ten of them, its jitter cannot be seen",
			time.Duration(quantum), time.Duration(period))
	}
	if by := r.Late.ByNS; by != nil && *by < quantum {
		r.Late.Count, r.Late.Share = nil, nil
	}
}

// importError gives an importer's refusal its hint.
func importError(err error) error {
	var refusal *importer.Refusal
	var channels *importer.ChannelsError
	var unknown *importer.UnknownError
	var option *importer.OptionError
	switch {
	case errors.As(err, &option):
		return cli.Misuse("drop it, or name another format with --format", "%s", err)
	case errors.Is(err, importer.ErrOwnLog):
		return cli.WithHint(err, "drop --format")
	case errors.Is(err, importer.ErrEmpty):
		return cli.WithHint(err, "the tool that should have written it has not, or not yet")
	case errors.As(err, &refusal) && importer.IsHistogram(err):
		return cli.WithHint(err, "read it with receiver compare")
	case errors.As(err, &refusal):
		return cli.WithHint(err, "%s", or(refusal.Hint, "see receiver replay --formats for what can be read"))
	case errors.As(err, &channels):
		return cli.WithHint(err, "choose one with --channel")
	case errors.As(err, &unknown):
		return cli.WithHint(err, "name the format with --format, or the time column of a table with --time-column")
	}
	return err
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// formats lists what replay reads.
func (p *program) formats() error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tCLASS\tSTAMPS\tQUANTUM")
	fmt.Fprintln(w, "log\tcharacter\tthe read returned\t1 ns")
	for _, f := range importer.Formats() {
		class, stamps := or(f.Class, "none"), f.TimeSource
		switch {
		case f.Class == importer.ClassHistogram:
			stamps = "none, refused: " + f.Refused + " (receiver compare reads it)"
		case f.Refused != "":
			stamps = "refused: " + f.Refused
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Name, class, stamps, or(f.Quantum, "-"))
	}
	return w.Flush()
}

// outputs are what a replay writes besides its report.
type outputs struct {
	log    *assemble.LogFile
	pcapng *importer.PcapngWriter
	file   *os.File
	err    error
}

func (p *program) openOutputs(f *replayFlags) (*outputs, error) {
	o := &outputs{}
	var err error
	if o.log, err = assemble.CreateLog(f.log, results.ReceiverColumns, p.voice); err != nil {
		return nil, err
	}
	if f.pcapng != "" {
		if o.file, err = os.Create(f.pcapng); err != nil {
			return nil, cli.WithHint(err, "give --pcapng a file in a folder that you may write to")
		}
		o.pcapng = importer.NewPcapngWriter(o.file)
	}
	return o, nil
}

// tap gives what sees every arrival, nil when nothing needs to.
func (o *outputs) tap() func(results.Event) {
	if o.pcapng == nil {
		return nil
	}
	return func(ev results.Event) {
		if o.err == nil {
			o.err = o.pcapng.Write(ev.At, ev.Bytes, ev.Flags)
		}
	}
}

// discard takes back what was written of a file that turned out to be refused.
func (o *outputs) discard(f *replayFlags) {
	o.close()
	for _, name := range []string{f.log, f.pcapng} {
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
			os.Remove(name)
		}
	}
}

func (o *outputs) close() error {
	err := errors.Join(o.err, o.log.Close())
	if o.pcapng != nil {
		err = errors.Join(err, o.pcapng.Close(), o.file.Close())
	}
	return err
}
