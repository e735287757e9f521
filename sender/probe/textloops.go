package probe

import (
	"fmt"
	"strconv"
	"strings"

	"serialtiming/results"
	"serialtiming/results/report"
)

func (p *printer) spin(r *Report) {
	title := func(c *SpinCell) string { return fmt.Sprintf("spin (%s)", results.OneLine(c.Load)) }
	groups(p, r.Spin, title, func(cells []SpinCell) {
		for i, c := range cells {
			if i > 0 {
				p.line("")
			}
			what := "a loop that reads the clock"
			if c.Form == formPeriodic {
				what = fmt.Sprintf("a thread that wakes every %s (%s) and writes to %s", report.Span(float64(spinPeriod)), or(c.Call), or(results.OneLine(c.With)))
			}
			p.line("  %s, %s priority, %s", what, c.Priority, or(c.Granted))
			if c.Figures == nil {
				p.item("", "not measured: %s", c.Why)
				continue
			}
			p.spinFigures(c.Form, c.Figures)
		}
	})
}

func (p *printer) spinFigures(form string, f *SpinFigures) {
	name, held, what := "loop", "interruptions of", f.Interruptions
	if form == formPeriodic {
		name, held, what = "interval", "ticks late by", f.Late
	}
	p.item(name, "min %s  mean %s  max %s  (%d in %s)", report.Span(float64(f.MinNS)), report.Span(f.MeanNS), report.Span(float64(f.MaxNS)), f.Passes, report.Span(float64(f.ElapsedNS)))
	if f.Missed != nil {
		p.item("missed", "%s", counted(*f.Missed, "period"))
	}
	if d := f.Write; d != nil && d.Count > 0 {
		p.item("write", "%s", distText(d))
	}
	p.counters(f.Counters)
	if form == formPeriodic {
		p.item("late", "%s by more than %s", counted(what.Count, "tick"), report.Span(float64(f.ThresholdNS)))
	} else {
		p.item("interrupted", "%s for more than %s", counted(what.Count, "time"), report.Span(float64(f.ThresholdNS)))
		p.item("", "%s of the time", percent(*f.Share))
	}
	if what.Count == 0 {
		return
	}
	p.item("", "%s", distText(what))
	rows := [][]string{{held, "count"}}
	for _, row := range f.Rows {
		rows = append(rows, []string{fmt.Sprintf("%s to %s", shortSpan(row.FromNS), shortSpan(row.ToNS)), strconv.FormatInt(row.Count, 10)})
	}
	p.table(rows)
}

// shortSpan writes a row's edge, a number of the series 1, 2, 5, without
// decimals.
func shortSpan(ns int64) string {
	for _, u := range []struct {
		ns   int64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.ns {
			return fmt.Sprintf("%d %s", ns/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%d ns", ns)
}

// distText writes a distribution; percentiles that nobody can know are left
// out.
func distText(d *results.Dist) string {
	parts := []string{"min " + spanOr(d.Min), "mean " + report.Span(*d.Mean)}
	for _, q := range []struct {
		name string
		v    *int64
	}{{"p50", d.P50}, {"p99", d.P99}, {"p99.9", d.P999}, {"p99.99", d.P9999}} {
		if q.v != nil {
			parts = append(parts, q.name+" "+spanOr(q.v))
		}
	}
	return strings.Join(append(parts, "max "+spanOr(d.Max)), "  ")
}

func (p *printer) counters(c results.Counters) {
	p.item("system", "garbage collections %s, page faults %s, involuntary switches %s", countOr(c.GC), countOr(c.PageFaults), countOr(c.InvoluntarySwitches))
}

func countOr(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}

func (p *printer) wake(r *Report) {
	title := func(c *WakeCell) string {
		return fmt.Sprintf("wake (%s, %s priority, %s)", results.OneLine(c.Load), c.Priority, or(c.Granted))
	}
	groups(p, r.Wake, title, func(cells []WakeCell) {
		rows := [][]string{{"what", "processors", "by", "count", "min", "mean", "p50", "p99", "p99.9", "max", "switched away"}}
		for _, c := range cells {
			what := "wake a sleeping thread"
			if c.Form == formSwitch {
				what = "half a round trip"
			}
			if c.Form == formSwitch && c.Processors == "one" {
				what += ": a switch"
			}
			row := []string{what, c.Processors, or(c.Call)}
			if c.Latency == nil {
				rows = append(rows, append(row, "-", "-", "-", "-", "-", "-", "-", c.Why))
				continue
			}
			d := c.Latency
			rows = append(rows, append(row, strconv.FormatInt(d.Count, 10), spanOr(d.Min), report.Span(*d.Mean),
				spanOr(d.P50), spanOr(d.P99), spanOr(d.P999), spanOr(d.Max), countOr(c.Counters.InvoluntarySwitches)))
		}
		p.table(rows)
	})
}

func (p *printer) rate(r *Report) {
	title := func(c *RateCell) string {
		return fmt.Sprintf("rate (%s, %s priority, %s)", results.OneLine(c.Load), c.Priority, or(c.Granted))
	}
	groups(p, r.Rate, title, func(cells []RateCell) {
		for i := range cells {
			if i > 0 {
				p.line("")
			}
			p.rateCell(&cells[i])
		}
	})
}

func (p *printer) rateCell(c *RateCell) {
	p.line("  %s, %s (%s)", c.What, c.Timer, or(c.Call))
	switch {
	case c.ConfirmedHZ != nil:
		p.item("highest", "%.1f Hz (a period of %s), confirmed for %s: %s", *c.ConfirmedHZ, report.Span(1e9 / *c.ConfirmedHZ), report.Span(float64(*c.ConfirmedFor)), c.Claims)
	default:
		p.item("highest", "unknown: %s", c.Why)
	}
	if c.PassedHZ != nil {
		p.item("", "%.1f Hz passed a step of the search", *c.PassedHZ)
	}
	if c.FailedHZ != nil {
		p.item("", "%.1f Hz failed", *c.FailedHZ)
	}
	if c.LimitHZ != nil {
		p.item("", "the line carries %.1f Hz", *c.LimitHZ)
	}
	if c.Counters != nil {
		p.counters(*c.Counters)
	}
	if len(c.Attempts) == 0 {
		return
	}
	rows := [][]string{{"step", "rate", "for", "sent", "missed", "lost", "result"}}
	for _, a := range c.Attempts {
		result := "failed"
		if a.OK {
			result = "passed"
		}
		if a.Failed != "" {
			result += ": " + results.OneLine(a.Failed)
		}
		rows = append(rows, []string{a.Step, fmt.Sprintf("%.1f Hz", a.RateHZ), report.Span(float64(a.TookNS)), strconv.FormatInt(a.Sent, 10),
			strconv.FormatInt(a.Missed, 10), countOr(a.Lost), result})
	}
	p.table(rows)
}
