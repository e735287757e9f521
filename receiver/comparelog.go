package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/protocol"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
)

// log reads a log twice: for its report, then for the order of its values.
// Both passes take constant memory.
func (in *input) log(ctx context.Context, v results.View) error {
	runs, source, err := in.replayed(ctx, v)
	if err != nil {
		return err
	}
	if source.Kind != kindLog {
		in.data.Kind = "log, source " + results.OneLine(source.Kind)
	}
	in.data.Source, in.data.Class, in.data.QuantumNS = source.Kind, source.Class, max(source.QuantumNS, 1)
	for i := range runs {
		for _, w := range runs[i].Warnings {
			if strings.Contains(w, "torn") {
				in.program.voice.Warn("%s", w)
			}
		}
	}
	sequences, err := in.sequences(ctx, v, runs)
	if err != nil {
		return err
	}
	if len(sequences) != len(runs) {
		in.program.voice.Warn("%s was written to meanwhile: its differences have no bounds", in.name)
		sequences = nil
	}
	in.add(runs, sequences)
	return nil
}

// reader opens the log; done closes it.
func (in *input) reader(ctx context.Context) (l *results.LogReader, done func() error, err error) {
	f, err := in.program.openLog(ctx, in.name)
	if err != nil {
		return nil, nil, err
	}
	l, err = results.NewLogReader(&interruptible{ctx, f})
	if newer := (*results.NewerLogError)(nil); errors.As(err, &newer) {
		err = cli.WithHint(fmt.Errorf("%s: %w", in.name, err), "update this program, or write the log with the older one")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return l, f.Close, nil
}

func (in *input) replayed(ctx context.Context, v results.View) (runs []results.Run, source results.Source, err error) {
	l, done, err := in.reader(ctx)
	if err != nil {
		return nil, source, err
	}
	defer done()
	a := assemble.New(assemble.Options{Quantum: 1, LateBy: time.Duration(v.LateByNS),
		Table: results.TableKind{Bin: time.Duration(v.BinNS), Hz: v.TickHz}})
	if err := a.Replay(l, in.name); err != nil {
		return nil, source, fmt.Errorf("%s: %w", in.name, err)
	}
	if runs = a.Finish(assemble.ReasonEnd); len(runs) == 0 {
		return nil, source, cli.WithHint(fmt.Errorf("%s: the log holds no run", in.name), "the capture ended before anything came")
	}
	return runs, a.Source(), nil
}

func (in *input) sequences(ctx context.Context, v results.View, runs []results.Run) ([]results.Sequence, error) {
	l, done, err := in.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := results.ReadSequences(l, assemble.ReasonNoise, func(i int) results.SequenceOptions {
		if i < len(runs) {
			return sequenceOptions(v, &runs[i])
		}
		return results.SequenceOptions{}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return s, nil
}

// sequenceOptions reads a run's values as its report did.
func sequenceOptions(v results.View, r *results.Run) results.SequenceOptions {
	o := results.SequenceOptions{Above: math.MaxInt64}
	if v.Readings {
		o.Hz = v.TickHz
		if p := r.Period.AnnouncedNS; p != nil && *p > 0 {
			from, _ := results.LateFrom(*p, v.LateByNS, o.Hz)
			o.Above = (from - 1) * 1e6
		}
		return o
	}
	if r.Lateness == nil || r.Lateness.Count == 0 || r.Late.ByNS == nil || r.Period.AnnouncedNS == nil {
		return o
	}
	o.Period, o.LateBy = *r.Period.AnnouncedNS, *r.Late.ByNS
	said := map[string]string{}
	for _, k := range r.Announced {
		said[k.Key] = k.Value
	}
	o.Grid = keepsGrid(said["timer"], said["catch_up"])
	cycle := protocol.Printable
	if c, err := protocol.ParseChar(said["char"]); err == nil {
		cycle = c
	}
	o.Follows = func(before, b byte) bool { return cycle.Contains(before) && cycle.Next(before) == b }
	return o
}

// keepsGrid is assemble's rule: whether a sender's timer and policy stay on
// the grid.
func keepsGrid(timer, catchUp string) bool {
	switch timer {
	case "absolute", "periodic", "hybrid", "spin":
		return catchUp != "shift"
	}
	return false
}
