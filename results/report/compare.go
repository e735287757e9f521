package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"serialtiming/results"
)

// CompareText writes a comparison for people: for one column its tables in the
// form of 1998 and what follows from them; for several, phase by phase, the
// tables and the figures side by side with the differences from the first.
func CompareText(w io.Writer, c *results.Comparison) error {
	p := &comparePrinter{c: c}
	if len(c.Columns) > 1 {
		p.legend()
	}
	for i := range c.Phases {
		if i > 0 || len(c.Columns) > 1 {
			p.line("")
		}
		if len(c.Columns) == 1 {
			p.alone(c.Phases[i].Cells[0])
			continue
		}
		p.phase(&c.Phases[i])
	}
	if len(c.Warnings) > 0 {
		p.line("")
	}
	for _, warning := range c.Warnings {
		p.item("warning", "%s", warning)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// CompareJSON writes a comparison for programs, in the form that
// results.Comparison documents.
func CompareJSON(w io.Writer, c *results.Comparison) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(c)
}

type comparePrinter struct {
	printer
	c *results.Comparison
}

// legend says what the columns are and how they are read.
func (p *comparePrinter) legend() {
	for _, k := range p.c.Columns {
		p.line(" %-2s %s (%s)", k.Mark, results.OneLine(k.Name), results.OneLine(k.Kind))
	}
	v := p.c.View
	switch {
	case v.Readings:
		late := "no interval on time shows"
		if v.LateByNS > 0 {
			late = "only an interval longer than the period by more than " + Span(float64(v.LateByNS)) + " shows"
		}
		p.line(" all read with a counter of %d Hz: whole milliseconds; late is a reading that %s", v.TickHz, late)
	case v.Quantity == results.OfLateness:
		p.line(" figures are of the lateness: a histogram of another tool holds no intervals")
	}
	p.line(" differences are from %s, in brackets where the truth lies at %g %% (block bootstrap)", p.c.Columns[0].Mark, results.Level*100)
}

// alone writes one table and its figures.
func (p *comparePrinter) alone(c *results.Cell) {
	if c == nil {
		return
	}
	name := "intervals"
	if p.c.View.Quantity == results.OfLateness {
		name = "lateness"
		p.line(" %s (%s)", results.OneLine(p.c.Columns[0].Name), label(&results.Run{Label: c.Label}))
	} else {
		p.table(&results.Run{Label: c.Label, Table: c.Table})
	}
	p.line("")
	p.item(name, "%d", c.Count)
	if c.Derived != nil {
		p.derived(c.Derived)
	} else if c.MeanNS != nil {
		p.item("", "mean %s%s", exact(*c.MeanNS), percentiles(c, p.c.View))
	}
	p.lateCell(c)
	if c.Derived != nil && c.Derived.Worst != nil {
		p.worst(c.Derived.Worst)
	}
	if c.Lost != nil {
		p.item("lost", "%s", lostText(c))
	}
	for _, l := range c.Limits {
		p.item("limit", "%s", Limit(l))
	}
}

func (p *comparePrinter) derived(d *results.Derived) {
	if d.MeanReading != nil {
		p.item("reading", "mean %.3f ms", *d.MeanReading)
	}
	if d.MeanNS != nil {
		p.item("interval", "mean %s ± %s on the counter's clock", exact(*d.MeanNS), Span(*d.MeanPlusMinusNS))
	}
	if d.PeriodNS != nil {
		p.item("period", "%s ± %s on the counter's clock: the table is quiet", exact(*d.PeriodNS), Span(*d.PeriodPlusMinusNS))
	} else if d.OnTime != nil {
		p.item("period", "unknown: too many readings are not %d or %d", d.OnTime[0], d.OnTime[1])
	}
}

func (p *comparePrinter) lateCell(c *results.Cell) {
	if c.Undecided > 0 {
		p.item("late", "unknown by more than %s: %d readings may be of such an interval or not", Span(float64(*c.Late.ByNS)), c.Undecided)
	}
	if c.Late.Share == nil || c.Late.ByNS == nil {
		return
	}
	how := ""
	if c.Derived != nil && c.Derived.OnTime != nil {
		how = fmt.Sprintf(": an interval on time reads %d or %d", c.Derived.OnTime[0], c.Derived.OnTime[1])
	}
	count := ""
	if c.Late.Count != nil {
		count = fmt.Sprintf(" (%d)", *c.Late.Count)
	}
	p.item("late", "%.3f %%%s by more than %s%s", *c.Late.Share*100, count, Span(float64(*c.Late.ByNS)), how)
}

func (p *comparePrinter) worst(w *results.WorstReading) {
	delay := ""
	switch {
	case w.DelayFromNS == nil:
	case *w.DelayFromNS <= 0:
		delay = ": no delay that this counter could see"
	default:
		delay = fmt.Sprintf(": %s to %s longer than the period", Span(*w.DelayFromNS), Span(*w.DelayToNS))
	}
	p.item("worst", "reads %d ms, an interval of %s to %s%s", w.Reading, Span(w.FromNS), Span(w.ToNS), delay)
}

// delay is the delay that the worst reading stands for.
func delay(d *results.Derived) string {
	switch {
	case d == nil || d.Worst == nil || d.Worst.DelayFromNS == nil:
		return "unknown"
	case *d.Worst.DelayFromNS <= 0:
		return "none seen"
	}
	return Span(*d.Worst.DelayFromNS) + " to " + Span(*d.Worst.DelayToNS)
}

// rowName names a figure's row; late says by how much where all agree.
func rowName(figure string, ph *results.Phase) string {
	var by *int64
	for _, c := range ph.Cells {
		switch {
		case figure != results.FigureLate || c == nil || c.Late.ByNS == nil:
		case by != nil && *by != *c.Late.ByNS:
			return rowNames[figure]
		default:
			by = c.Late.ByNS
		}
	}
	if by == nil {
		return rowNames[figure]
	}
	return rowNames[figure] + " by " + Span(float64(*by))
}

func percentiles(c *results.Cell, v results.View) string {
	text := ""
	for _, name := range []string{results.FigureP50, results.FigureP99, results.FigureP999, results.FigureMax} {
		if x := c.Value(name); x != nil {
			text += fmt.Sprintf("  %s %s", rowNames[name], valueText(name, *x, v))
		}
	}
	return text
}

func lostText(c *results.Cell) string {
	if c.LostIsMinimum {
		return fmt.Sprintf("at least %d", *c.Lost)
	}
	return fmt.Sprintf("%d", *c.Lost)
}

// rowNames are the figures' names in the text.
var rowNames = map[string]string{
	results.FigureLate: "late", results.FigureMean: "mean", results.FigureP50: "p50", results.FigureP99: "p99",
	results.FigureP999: "p99.9", results.FigureMax: "max", results.FigureLost: "lost",
}

var rowOrder = []string{results.FigureLate, results.FigureMean, results.FigureP50, results.FigureP99,
	results.FigureP999, results.FigureMax, results.FigureLost}

// exact writes a mean, which is known finer than its values.
func exact(ns float64) string {
	if math.Abs(ns) < 1e6 {
		return Span(ns)
	}
	return fmt.Sprintf("%.6f ms", ns/1e6)
}

func valueText(figure string, v float64, view results.View) string {
	switch {
	case figure == results.FigureLate:
		return fmt.Sprintf("%.3f %%", v*100)
	case figure == results.FigureLost:
		return fmt.Sprintf("%.0f", v)
	case figure == results.FigureMean:
		return exact(v)
	case view.Readings:
		return fmt.Sprintf("%.0f ms", v/1e6)
	}
	return Span(v)
}

// only gives the column that alone has a phase, -1 if several have it.
func only(ph *results.Phase) int {
	column := -1
	for i, cell := range ph.Cells {
		switch {
		case cell == nil:
		case column >= 0:
			return -1
		default:
			column = i
		}
	}
	return column
}

// phase writes one phase of several columns.
func (p *comparePrinter) phase(ph *results.Phase) {
	if i := only(ph); i >= 0 {
		p.alone(ph.Cells[i])
		p.item("only", "%s has this phase", p.c.Columns[i].Mark)
		return
	}
	p.sideBySide(ph)
	p.line("")
	head := []string{""}
	for i, k := range p.c.Columns {
		head = append(head, k.Mark)
		if i > 0 {
			head = append(head, k.Mark+" - "+p.c.Columns[0].Mark)
		}
	}
	rows := [][]string{head, p.row(ph, "intervals", func(c *results.Cell) string { return fmt.Sprintf("%d", c.Count) }, "")}
	if p.c.View.Quantity == results.OfLateness {
		rows[1][0] = "values"
	}
	for _, name := range rowOrder {
		rows = append(rows, p.row(ph, rowName(name, ph), func(c *results.Cell) string {
			switch v := c.Value(name); {
			case v == nil:
				return "unknown"
			case name == results.FigureLost:
				return lostText(c)
			case name == results.FigureMean && c.Derived != nil && c.Derived.MeanPlusMinusNS != nil:
				return exact(*v) + " ± " + Span(*c.Derived.MeanPlusMinusNS)
			default:
				return valueText(name, *v, p.c.View)
			}
		}, name))
		if name == results.FigureMax && p.c.View.Readings {
			rows = append(rows, p.row(ph, "delay", func(c *results.Cell) string { return delay(c.Derived) }, ""))
		}
	}
	p.aligned(rows)
	p.notes(ph)
}

// row gives a figure's cells: a value a column, and its difference.
func (p *comparePrinter) row(ph *results.Phase, name string, value func(*results.Cell) string, figure string) []string {
	row := []string{name}
	for i, cell := range ph.Cells {
		text := "-"
		if cell != nil {
			text = value(cell)
		}
		row = append(row, text)
		if i > 0 {
			row = append(row, p.difference(ph, i, figure))
		}
	}
	return row
}

func (p *comparePrinter) difference(ph *results.Phase, column int, figure string) string {
	i := slices.IndexFunc(ph.Differences, func(d results.Difference) bool { return d.Column == column && d.Figure == figure })
	if i < 0 {
		return ""
	}
	d := ph.Differences[i]
	switch {
	case d.BelowNS != nil:
		return "under " + Span(*d.BelowNS)
	case d.Difference == nil:
		return ""
	}
	text := p.signed(figure, *d.Difference)
	if d.Low != nil && d.High != nil {
		text += fmt.Sprintf(" [%s, %s]", p.signed(figure, *d.Low), p.signed(figure, *d.High))
	}
	return text
}

func (p *comparePrinter) signed(figure string, v float64) string {
	sign := "+"
	if v < 0 {
		sign, v = "-", -v
	}
	if figure == results.FigureMean {
		return sign + Span(v)
	}
	return sign + valueText(figure, v, p.c.View)
}

// notes says what stands behind the figures: other labels, missing bounds,
// limits, warnings.
func (p *comparePrinter) notes(ph *results.Phase) {
	for i, cell := range ph.Cells {
		if cell != nil && !strings.EqualFold(strings.TrimSpace(cell.Label), strings.TrimSpace(ph.Label)) {
			p.item("label", "%s is %q", p.c.Columns[i].Mark, results.OneLine(cell.Label))
		}
	}
	var order []string
	which := map[string][]string{}
	for _, d := range ph.Differences {
		if d.Why == "" {
			continue
		}
		key := p.c.Columns[d.Column].Mark + " - " + p.c.Columns[0].Mark + ": " + d.Why
		if which[key] == nil {
			order = append(order, key)
		}
		which[key] = append(which[key], rowNames[d.Figure])
	}
	for _, key := range order {
		p.item("no bounds", "%s (%s)", key, strings.Join(which[key], ", "))
	}
	for i, cell := range ph.Cells {
		for k := 0; cell != nil && k < len(cell.Limits); k++ {
			p.item("limit", "%s %s", p.c.Columns[i].Mark, Limit(cell.Limits[k]))
		}
	}
	for _, warning := range ph.Warnings {
		p.item("warning", "%s", results.OneLine(warning))
	}
}
