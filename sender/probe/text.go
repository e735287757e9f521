package probe

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"serialtiming/results"
	"serialtiming/results/report"
)

// Text writes the report for people: a table a load, then what was granted and
// what the figures do not mean.
func Text(w io.Writer, r *Report) error {
	p := &printer{}
	switch r.Probe {
	case "clock":
		p.clock(r)
	case "timer":
		p.timer(r)
	case "spin":
		p.spin(r)
	case "wake":
		p.wake(r)
	case "rate":
		p.rate(r)
	}
	p.foot(r)
	_, err := io.WriteString(w, p.String())
	return err
}

type printer struct{ strings.Builder }

func (p *printer) line(format string, a ...any) { fmt.Fprintf(p, format+"\n", a...) }

// item writes a figure under its name, as the reports of runs do.
func (p *printer) item(name, format string, a ...any) {
	p.line("  %-11s "+format, append([]any{name}, a...)...)
}

// table lines columns up; the first row is the head.
func (p *printer) table(rows [][]string) {
	t := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
	}
	t.Flush()
}

// groups calls f for each run of cells whose title is the same.
func groups[C any](p *printer, cells []C, title func(*C) string, f func([]C)) {
	for from := 0; from < len(cells); {
		to := from + 1
		for to < len(cells) && title(&cells[to]) == title(&cells[from]) {
			to++
		}
		if from > 0 {
			p.line("")
		}
		p.line(" %s", title(&cells[from]))
		f(cells[from:to])
		from = to
	}
}

func (p *printer) foot(r *Report) {
	p.line("")
	m := r.Machine
	p.item("machine", "%s, %s/%s, %d processors, %s", or(results.OneLine(m.Host)), m.OS, m.Arch, m.Processors, m.Clock)
	if i := r.Port; i != nil {
		p.item("port", "%s (%s)", results.OneLine(i.Name), or(i.Driver))
	}
	p.granted(r.Granted)
	for _, l := range r.Loads {
		if len(l.Notes) > 0 {
			p.item("load", "%s: %s", results.OneLine(l.Label), results.OneLine(strings.Join(l.Notes, "; ")))
		}
	}
	for _, f := range r.Findings {
		p.item("finding", "%s: %s", f.Code, results.OneLine(f.Text))
	}
	for _, w := range r.Warnings {
		p.item("warning", "%s", results.OneLine(w))
	}
}

// granted writes what the system did not give, then what it gave; a thread
// that moved has its processors in one place.
func (p *printer) granted(list []Granted) {
	var got, items []string
	for _, g := range list {
		item := g.Item
		if g.Thread != "" {
			item = g.Thread + " thread " + item
		}
		at := slices.Index(items, item)
		switch {
		case g.Why != "":
			p.item("not granted", "%s: asked %s, got %s: %s", item, g.Asked, g.Got, g.Why)
		case g.Thread != "" && at >= 0:
			got[at] += " or " + g.Got
		default:
			got, items = append(got, item+" "+g.Got), append(items, item)
		}
	}
	if len(got) > 0 {
		p.item("granted", "%s", strings.Join(got, ", "))
	}
}

func (p *printer) clock(r *Report) {
	groups(p, r.Clock, func(c *ClockCell) string { return fmt.Sprintf("clock (%s)", results.OneLine(c.Load)) }, func(cells []ClockCell) {
		rows := [][]string{{"name", "read by", "resolution", "step seen", "median", "cost mean", "best", "readings"}}
		for _, c := range cells {
			row := []string{c.Name, c.Way, spanOr(c.ResolutionNS)}
			if c.Figures == nil {
				rows = append(rows, append(row, "-", "-", "-", "-", c.Why))
				continue
			}
			f := c.Figures
			step := spanOr(f.StepNS)
			if f.StepIsBound {
				step = "≤ " + step
			}
			if f.StepNS == nil {
				step = "never moved"
			}
			rows = append(rows, append(row, step, spanOr(f.StepMedianNS), report.Span(*f.CostMeanNS), report.Span(*f.CostMinNS), strconv.FormatInt(f.Readings, 10)))
		}
		p.table(rows)
	})
	p.line("")
	p.line("  ≤: the clock moved at every reading, so its own step cannot be seen below the cost of one")
}

func (p *printer) timer(r *Report) {
	title := func(c *TimerCell) string {
		granted := ""
		if c.Granted != "" {
			granted = ", " + c.Granted
		}
		return fmt.Sprintf("timer (%s, %s priority%s)", results.OneLine(c.Load), c.Priority, granted)
	}
	groups(p, r.Timer, title, func(cells []TimerCell) {
		rows := [][]string{{"timer", "interval", "ticks", "mean", "min", "p99", "max", "later than it", "by 0.1 ms", "by 1 ms", "missed"}}
		for _, c := range cells {
			row := []string{c.Timer, report.Span(float64(c.PeriodNS))}
			if c.Figures == nil {
				rows = append(rows, append(row, "-", "-", "-", "-", "-", "-", "-", "-", c.Why))
				continue
			}
			d := c.Figures.Interval
			row = append(row, strconv.FormatInt(d.Count, 10), report.Span(*d.Mean), spanOr(d.Min), spanOr(d.P99), spanOr(d.Max))
			for _, s := range c.Figures.Erroneous {
				row = append(row, percent(s.Share))
			}
			rows = append(rows, append(row, strconv.FormatInt(c.Figures.Missed, 10)))
		}
		p.table(rows)
	})
	p.growth(r)
	p.slack(r.Slack)
	p.resolution(r.Resolution)
}

// growthCells picks what the two figures of seed 003 show: one timer at one
// interval, a line a load and priority. The others are in JSON and CSV.
func growthCells(cells []TimerCell) (picked []TimerCell) {
	best := func(want int64) bool {
		for _, c := range cells {
			if c.Figures != nil && c.PeriodNS == want {
				return true
			}
		}
		return false
	}
	period := int64(1e6)
	if !best(period) && len(cells) > 0 {
		period = cells[0].PeriodNS
	}
	timer := ""
	for _, c := range cells {
		if c.PeriodNS != period || c.Figures == nil || timer != "" && c.Timer != timer {
			continue
		}
		timer = c.Timer
		picked = append(picked, c)
	}
	return picked
}

func (p *printer) growth(r *Report) {
	cells := growthCells(r.Timer)
	if len(cells) == 0 {
		return
	}
	p.line("")
	p.line(" erroneous ticks and mean interval by the number of ticks (%s, %s)", cells[0].Timer, report.Span(float64(cells[0].PeriodNS)))
	rows := [][]string{{"load", "priority", "ticks", "later than the interval", "share", "mean"}}
	for _, c := range cells {
		for _, g := range c.Figures.Growth {
			e := g.Erroneous[0]
			rows = append(rows, []string{results.OneLine(c.Load), c.Priority, strconv.FormatInt(g.Ticks, 10),
				strconv.FormatInt(e.Count, 10), percent(e.Share), report.Span(g.MeanNS)})
		}
	}
	p.table(rows)
}

func (p *printer) slack(rows []SlackRow) {
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.line(" timer slack (a sleep of 1 ms in a thread of %s)", or(rows[0].Priority))
	table := [][]string{{"slack", "read back", "sleeps", "mean", "min", "p99", "max"}}
	for _, r := range rows {
		row := []string{report.Span(float64(r.SlackNS)), spanOr(r.GotNS)}
		if r.Sleep == nil {
			table = append(table, append(row, "-", "-", "-", "-", r.Why))
			continue
		}
		table = append(table, append(row, strconv.FormatInt(r.Sleep.Count, 10), report.Span(*r.Sleep.Mean), spanOr(r.Sleep.Min), spanOr(r.Sleep.P99), spanOr(r.Sleep.Max)))
	}
	p.table(table)
}

func (p *printer) resolution(t *ResolutionTable) {
	if t == nil {
		return
	}
	p.line("")
	p.line(" timer resolution (another process asks, this one looks)")
	table := [][]string{{"asked there", "interrupt every", "timeGetTime steps by", "Sleep(1) takes", "sleeps"}}
	for _, r := range t.Rows {
		asked := "nothing"
		if r.AskedMS > 0 {
			asked = fmt.Sprintf("%d ms", r.AskedMS)
		}
		sleep := "-"
		if r.SleepNS != nil {
			sleep = report.Span(*r.SleepNS)
		}
		row := []string{asked, spanOr(r.CurrentNS), spanOr(r.StepNS), sleep, strconv.FormatInt(r.Sleeps, 10)}
		if r.Why != "" {
			row = append(row, r.Why)
		}
		table = append(table, row)
	}
	p.table(table)
	p.item("2004", "%s: %s", t.Change2004, t.Why)
}

// spanOr writes a figure that may be unknown.
func spanOr(ns *int64) string {
	if ns == nil {
		return "-"
	}
	return report.Span(float64(*ns))
}

// counted writes a number of things: 1 tick, 2 ticks, 2 passes.
func counted(n int64, one string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(one, "s"):
		one += "es"
	default:
		one += "s"
	}
	return strconv.FormatInt(n, 10) + " " + one
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 2, 64) + " %" }

func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
