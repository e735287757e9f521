package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"serialtiming/internal/cli"
	"serialtiming/results"
	"serialtiming/results/importer"
)

// histograms reads what another tool counted, a column for each thread or CPU:
// their labels are no phases. Such tools measure how late a timer woke them: it
// stands beside the lateness of a run, not its intervals.
func (in *input) histograms(r io.Reader) ([]input, error) {
	list, err := importer.OpenHistogram(r, in.name, importer.Options{})
	if unknown := (*importer.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, cli.WithHint(fmt.Errorf("%s is no run log, no JSON report and no histogram of another tool", in.name), "%s", whatIsARun)
	}
	if errors.Is(err, importer.ErrOwnLog) {
		return nil, cli.WithHint(fmt.Errorf("%s is a compressed log: a log is read twice to compare it", in.name), "unpack it first")
	}
	if errors.Is(err, importer.ErrEmpty) {
		return nil, cli.WithHint(err, "%s", whatIsARun)
	}
	if refused := (*importer.Refusal)(nil); errors.As(err, &refused) {
		return nil, cli.WithHint(err, "a log of another tool becomes one of ours by: receiver replay %s --log run.csv", in.name)
	}
	if err != nil {
		return nil, err
	}
	var columns []input
	for i := range list {
		one := *in
		one.kind, one.data.Kind, one.data.QuantumNS = kindHistogram, list[i].Format+" histogram", list[i].Width
		if len(list) > 1 {
			one.data.Name = fmt.Sprintf("%s, %s", in.name, list[i].Label)
		}
		one.add([]results.Run{latencies(&list[i])}, nil)
		one.counted = &list[i]
		columns = append(columns, one)
	}
	return columns, nil
}

// late counts the values above a bound where the buckets allow it: the bound
// must not lie inside one that holds any. Without a bound there is no late, the
// tool knew none.
func (in *input) late(by int64) {
	h := in.counted
	if by == 0 || h.Total == 0 {
		return
	}
	in.data.Phases[0].Run.Late.ByNS = &by
	late, end := h.Over, int64(0)
	for i, b := range h.Rows {
		end = b.Value + h.Width
		if growing := h.Format == "hdrhistogram"; growing && i+1 < len(h.Rows) {
			end = h.Rows[i+1].Value // it reaches no further
		} else if growing {
			end = max(end, h.Max+1)
		}
		switch {
		case b.Value >= by:
			late += b.Count
		case end > by:
			return
		}
	}
	if h.Over > 0 && end < by {
		return
	}
	in.data.Phases[0].Run.Late.Count, in.data.Phases[0].Run.Late.Share = &late, new(float64(late)/float64(h.Total))
}

// latencies makes a run of a histogram: its lateness, and nothing else.
func latencies(h *importer.Histogram) results.Run {
	d := &results.Dist{Count: h.Total}
	if h.Min >= 0 {
		d.Min = new(h.Min)
	}
	if h.Mean >= 0 {
		d.Mean = new(h.Mean)
	}
	switch n := len(h.Rows); {
	case h.Max >= 0:
		d.Max = new(h.Max)
	case h.Over == 0 && n > 0:
		d.Max = new(h.Rows[n-1].Value)
	}
	d.MaxUndisturbed = d.Max
	for _, p := range []struct {
		q    float64
		into **int64
	}{{.5, &d.P50}, {.9, &d.P90}, {.99, &d.P99}, {.999, &d.P999}, {.9999, &d.P9999}} {
		*p.into = ranked(h, p.q)
	}
	return results.Run{Label: results.OneLine(h.Label), Lateness: d, LostIsMinimum: true}
}

// ranked gives a percentile by nearest rank, nil where fewer than five values
// lie above or it lies beyond the last bucket.
func ranked(h *importer.Histogram, q float64) *int64 {
	rank := int64(math.Ceil(q*float64(h.Total) - 1e-9*float64(h.Total)))
	if h.Total-rank < 5 {
		return nil
	}
	for _, b := range h.Rows {
		if rank -= b.Count; rank <= 0 {
			return new(b.Value)
		}
	}
	return nil
}
