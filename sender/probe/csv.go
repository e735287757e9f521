package probe

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"serialtiming/results"
	"serialtiming/results/report"
)

// JSON writes the report for programs, with a line end behind it.
func JSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// CSV writes the probe's figures, a header and then a row each; a field is
// empty where a figure is not known. Durations are in the unit that the
// column's name ends with, shares are fractions.
//
//   - clock: a row a clock.
//   - timer: a row for each point of the growth; the row whose `whole` is 1
//     stands for the cell: the two figures of seed 003 and the table in one.
//   - spin: a row for each row of the histograms of interruptions.
//   - wake: a row a form. rate: a row an attempt.
func CSV(w io.Writer, r *Report) error {
	t := &sheet{csv.NewWriter(w)}
	switch r.Probe {
	case "clock":
		t.clock(r.Clock)
	case "timer":
		t.timer(r)
	case "spin":
		t.spin(r.Spin)
	case "wake":
		t.wake(r.Wake)
	case "rate":
		t.rate(r.Rate)
	}
	t.Flush()
	return t.Error()
}

type sheet struct{ *csv.Writer }

func (t *sheet) clock(cells []ClockCell) {
	t.Write([]string{"load", "clock", "read_by", "resolution_ns", "step_ns", "step_is_bound", "step_median_ns", "cost_mean_ns", "cost_min_ns", "readings"})
	for _, c := range cells {
		row := []string{c.Load, c.Name, c.Way, number(c.ResolutionNS)}
		if f := c.Figures; f != nil {
			row = append(row, number(f.StepNS), flag(f.StepIsBound), number(f.StepMedianNS), decimal(f.CostMeanNS), decimal(f.CostMinNS), number(&f.Readings))
		}
		t.row(row, 10)
	}
}

func (t *sheet) timer(r *Report) {
	t.Write([]string{"load", "priority", "granted", "timer", "interval_ms", "whole", "ticks", "mean_ms", "min_ms", "p99_ms", "max_ms",
		"later", "later_share", "later_0.1ms", "later_0.1ms_share", "later_1ms", "later_1ms_share", "missed"})
	for _, c := range r.Timer {
		head := []string{c.Load, c.Priority, c.Granted, c.Timer, ms(float64(c.PeriodNS))}
		if c.Figures == nil {
			t.row(append(head, "1"), 18)
			continue
		}
		for i, g := range c.Figures.Growth {
			whole := i == len(c.Figures.Growth)-1
			row := append(head[:5:5], flag(whole), number(&g.Ticks), ms(g.MeanNS), ms(float64(g.MinNS)), msOr(g.P99NS), ms(float64(g.MaxNS)))
			for _, s := range g.Erroneous {
				row = append(row, number(&s.Count), strconv.FormatFloat(s.Share, 'f', 6, 64))
			}
			if whole {
				row = append(row, number(&c.Figures.Missed))
			}
			t.row(row, 18)
		}
	}
	t.experiments(r)
}

// experiments are rows of the same columns: the load names the experiment,
// the timer what was turned.
func (t *sheet) experiments(r *Report) {
	for _, s := range r.Slack {
		head := []string{"timer slack", "normal", s.Priority, "slack " + report.Span(float64(s.SlackNS)), ms(1e6), "1"}
		if d := s.Sleep; d != nil {
			head = append(head, number(&d.Count), ms(*d.Mean), msOr(d.Min), msOr(d.P99), msOr(d.Max))
		}
		t.row(head, 18)
	}
	if r.Resolution == nil {
		return
	}
	for _, s := range r.Resolution.Rows {
		head := []string{"timer resolution", "normal", "", "another process asks for " + strconv.FormatInt(s.AskedMS, 10) + " ms", ms(1e6), "1", number(&s.Sleeps)}
		if s.SleepNS != nil {
			head = append(head, ms(*s.SleepNS))
		}
		t.row(head, 18)
	}
}

func (t *sheet) spin(cells []SpinCell) {
	t.Write([]string{"load", "form", "priority", "granted", "from_ns", "to_ns", "count"})
	for _, c := range cells {
		if c.Figures == nil {
			t.row([]string{c.Load, c.Form, c.Priority, c.Granted}, 7)
			continue
		}
		for _, row := range c.Figures.Rows {
			t.Write([]string{c.Load, c.Form, c.Priority, c.Granted, number(&row.FromNS), number(&row.ToNS), number(&row.Count)})
		}
	}
}

func (t *sheet) wake(cells []WakeCell) {
	t.Write([]string{"load", "form", "processors", "priority", "granted", "count", "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns"})
	for _, c := range cells {
		row := []string{c.Load, c.Form, c.Processors, c.Priority, c.Granted}
		if d := c.Latency; d != nil {
			row = append(row, distFields(d)...)
		}
		t.row(row, 12)
	}
}

func distFields(d *results.Dist) []string {
	return []string{number(&d.Count), number(d.Min), decimal(d.Mean), number(d.P50), number(d.P99), number(d.P999), number(d.Max)}
}

func (t *sheet) rate(cells []RateCell) {
	t.Write([]string{"load", "what", "priority", "granted", "timer", "step", "rate_hz", "seconds", "sent", "missed", "lost", "wrong", "ok"})
	for _, c := range cells {
		for _, a := range c.Attempts {
			t.Write([]string{c.Load, c.What, c.Priority, c.Granted, c.Timer, a.Step, decimal(&a.RateHZ),
				strconv.FormatFloat(float64(a.TookNS)/1e9, 'f', 3, 64), number(&a.Sent), number(&a.Missed), number(a.Lost), number(a.Wrong), flag(a.OK)})
		}
	}
}

// row fills a row up with empty fields: what is not known.
func (t *sheet) row(fields []string, columns int) {
	for len(fields) < columns {
		fields = append(fields, "")
	}
	t.Write(fields)
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func ms(ns float64) string { return strconv.FormatFloat(ns/1e6, 'f', 6, 64) }

func msOr(ns *int64) string {
	if ns == nil {
		return ""
	}
	return ms(float64(*ns))
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
