package results

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The figures that differ, by their names in Cell.
const (
	FigureLate = "late_share"
	FigureMean = "mean_ns"
	FigureP50  = "p50_ns"
	FigureP99  = "p99_ns"
	FigureP999 = "p999_ns"
	FigureMax  = "max_ns"
	FigureLost = "lost"
)

// Value gives a figure of a cell by its name, nil where it is not known.
func (c *Cell) Value(figure string) *float64 {
	whole := map[string]*int64{FigureP50: c.P50NS, FigureP99: c.P99NS, FigureP999: c.P999NS, FigureMax: c.MaxNS, FigureLost: c.Lost}
	switch figure {
	case FigureLate:
		return c.Late.Share
	case FigureMean:
		return c.MeanNS
	}
	if v := whole[figure]; v != nil {
		return new(float64(*v))
	}
	return nil
}

// spread is how a figure's uncertainty is drawn.
type spread struct {
	figure string
	of     statistic // nil: it has none
	spots  func(*series) []float64
}

var spreads = []spread{
	{FigureLate, shareOf, late}, {FigureMean, meanOf, sizes},
	{FigureP50, quantileOf(.5), beyond(.5)}, {FigureP99, quantileOf(.99), beyond(.99)},
	{FigureP999, quantileOf(.999), beyond(.999)}, {FigureMax, nil, nil}, {FigureLost, nil, nil},
}

// differences holds a column against the first.
func (c *Comparison) differences(ph *Phase, column int) []Difference {
	a, b := ph.Cells[0], ph.Cells[column]
	var list []Difference
	for _, s := range spreads {
		d := Difference{Column: column, Figure: s.figure}
		x, y := a.Value(s.figure), b.Value(s.figure)
		if x == nil || y == nil {
			continue
		}
		if d.Why = c.unlike(s.figure, column, a, b); d.Why == "" {
			d.set(*y-*x, c.step(s.figure, column, a, b))
			if d.Difference != nil && s.of != nil {
				c.spread(&d, s, a, b)
			}
		}
		list = append(list, d)
	}
	return list
}

// set takes a difference, or the step that hides it.
func (d *Difference) set(v, step float64) {
	switch {
	case d.Figure == FigureLate:
		d.Difference = new(v) // a share: it must not be cut to three decimals
	case math.Abs(v) < step:
		d.BelowNS = new(math.Round(step))
	default:
		d.Difference = new(round3(v))
	}
}

// unlike says why two figures of the same name are no pair, "" if they are.
func (c *Comparison) unlike(figure string, column int, a, b *Cell) string {
	name := [2]string{c.Columns[0].Mark, c.Columns[column].Mark}
	switch {
	case figure == FigureLost && (a.LostIsMinimum || b.LostIsMinimum):
		which := name[0]
		if !a.LostIsMinimum {
			which = name[1]
		}
		return fmt.Sprintf("the loss of %s is only known to be at least that", which)
	case figure == FigureLate && a.Late.ByNS != nil && b.Late.ByNS != nil && *a.Late.ByNS != *b.Late.ByNS:
		return fmt.Sprintf("late is more than %v in %s, more than %v in %s: --late-by reads both alike", span(float64(*a.Late.ByNS)), name[0], span(float64(*b.Late.ByNS)), name[1])
	}
	return ""
}

// step is the smallest difference of a figure that both can see: the coarser
// clock's step, the higher floor, and what a percentile's cells leave open.
func (c *Comparison) step(figure string, column int, a, b *Cell) float64 {
	switch figure {
	case FigureMean:
		return tickDoubt(a) + tickDoubt(b)
	case FigureLost, FigureLate:
		return 0
	}
	if c.View.Readings {
		return ticksNS(1, c.View.TickHz)
	}
	step := float64(max(c.Columns[0].QuantumNS, c.Columns[column].QuantumNS, floorOf(a), floorOf(b)))
	if figure != FigureMax {
		step = max(step, cellError*(*a.Value(figure)+*b.Value(figure)))
	}
	return step
}

// tickDoubt is how far a mean of readings may be off.
func tickDoubt(c *Cell) float64 {
	if c.Derived == nil || c.Derived.MeanPlusMinusNS == nil {
		return 0
	}
	return *c.Derived.MeanPlusMinusNS
}

func floorOf(c *Cell) int64 {
	if c.FloorNS == nil {
		return 0
	}
	return *c.FloorNS
}

// spread adds the bounds of a difference.
func (c *Comparison) spread(d *Difference, s spread, a, b *Cell) {
	x, y := c.blocks(a, s.figure), c.blocks(b, s.figure)
	if x == nil || y == nil {
		which := c.Columns[0].Mark
		if x != nil {
			which = c.Columns[d.Column].Mark
		} else if y == nil {
			which += " and " + c.Columns[d.Column].Mark
		}
		d.Why = "the order of the values of " + which + " is not known"
		return
	}
	below, over, why, second := interval(x, y, s.of, s.spots)
	if why != "" {
		which := c.Columns[0].Mark
		if second {
			which = c.Columns[d.Column].Mark
		}
		d.Why = why + " in " + which
		return
	}
	if strings.HasPrefix(s.figure, "p") {
		if c.View.Readings {
			below, over = math.Round(below/1e6)*1e6, math.Round(over/1e6)*1e6
		} else {
			open := cellError * (*a.Value(s.figure) + *b.Value(s.figure))
			below, over = math.Hypot(below, open), math.Hypot(over, open)
		}
	}
	d.Low, d.High = new(*d.Difference-below), new(*d.Difference+over)
	if d.Figure != FigureLate {
		*d.Low, *d.High = round3(*d.Low), round3(*d.High)
	}
}

// blocks gives the sequence that a figure is drawn from, nil where it is not
// known.
func (c *Comparison) blocks(cell *Cell, figure string) *series {
	if cell.sequence == nil {
		return nil
	}
	b := cell.sequence.Interval
	if c.View.Quantity == OfLateness || figure == FigureLate && !c.View.Readings {
		b = cell.sequence.Lateness
	}
	if b == nil || b.Count() == 0 {
		return nil
	}
	if c.series[b] == nil {
		c.series[b] = b.series()
	}
	return c.series[b]
}

// measuring warns where a phase's runs are short or were not measured alike.
func (c *Comparison) measuring(ph *Phase) {
	if len(ph.Cells) < 2 {
		return
	}
	warn := func(format string, a ...any) { ph.Warnings = append(ph.Warnings, fmt.Sprintf(format, a...)) }
	for i, cell := range ph.Cells {
		if cell == nil {
			continue
		}
		switch mark := c.Columns[i].Mark; {
		case cell.Count < 500:
			warn("%s has %d values, too few: p99 needs 500, p99.9 needs 5000", mark, cell.Count)
		case cell.Count < 5000:
			warn("%s has %d values, too few for p99.9, which needs 5000", mark, cell.Count)
		}
		if cell.Undecided > 0 {
			warn("late is unknown in %s: %d readings may be of intervals longer by more than %s or not", c.Columns[i].Mark, cell.Undecided, spanOf(cell.Late.ByNS))
		}
	}
	c.alike(ph, warn)
}

// ways are what two runs should have alike to be compared.
var ways = []struct {
	what string
	of   func(*Cell) string
}{
	{"period", func(c *Cell) string { return spanOf(c.PeriodNS) }},
	{"timer", func(c *Cell) string { return c.Timer }},
	{"floor", func(c *Cell) string { return spanOf(c.FloorNS) }},
	{"bound of late", func(c *Cell) string { return spanOf(c.Late.ByNS) }},
	{"table", func(c *Cell) string { return tableOf(&c.Table) }},
}

// alike says what differs, and of which columns it is not known.
func (c *Comparison) alike(ph *Phase, warn func(string, ...any)) {
	unknown := make([][]string, len(ph.Cells))
	for _, w := range ways {
		if w.what == "table" && c.View.Quantity == OfLateness {
			continue
		}
		var parts []string
		first, differ, lacking := "", false, []int(nil)
		for i, cell := range ph.Cells {
			if cell == nil {
				continue
			}
			v := w.of(cell)
			if v == "" {
				lacking = append(lacking, i)
				continue
			}
			if len(parts) == 0 {
				first = v
			}
			differ = differ || v != first
			parts = append(parts, c.Columns[i].Mark+" "+v)
		}
		if differ {
			warn("the measuring differs, %s: %s", w.what, strings.Join(parts, ", "))
		}
		for _, i := range lacking {
			if len(parts) > 0 {
				unknown[i] = append(unknown[i], w.what)
			}
		}
	}
	for i, what := range unknown {
		if len(what) > 0 {
			warn("the measuring of %s may differ, not known of it: %s", c.Columns[i].Mark, strings.Join(what, ", "))
		}
	}
}

func spanOf(ns *int64) string {
	if ns == nil {
		return ""
	}
	return time.Duration(*ns).String()
}

func tableOf(t *TableData) string {
	switch {
	case t.TickHz != nil:
		return fmt.Sprintf("readings of a %d Hz counter", *t.TickHz)
	case t.BinNS > 0:
		return fmt.Sprintf("rows of %v", time.Duration(t.BinNS))
	}
	return ""
}

// quanta warns where one column's stamps are coarser than another's.
func (c *Comparison) quanta() {
	var least, most *Column
	for i := range c.Columns {
		k := &c.Columns[i]
		if k.QuantumNS <= 0 {
			continue
		}
		if least == nil || k.QuantumNS < least.QuantumNS {
			least = k
		}
		if most == nil || k.QuantumNS > most.QuantumNS {
			most = k
		}
	}
	if c.View.Readings || least == nil || least.QuantumNS == most.QuantumNS {
		return
	}
	c.Warnings = append(c.Warnings, fmt.Sprintf("the values of %s step by %v, those of %s by %v: no difference below %v is shown",
		most.Mark, time.Duration(most.QuantumNS), least.Mark, time.Duration(least.QuantumNS), time.Duration(most.QuantumNS)))
}

// sources warns where the columns are not stamps of the same thing.
func (c *Comparison) sources() {
	var own, arrived, coarse []string
	for i := range c.Columns {
		k := &c.Columns[i]
		switch {
		case k.Source == "sender":
			own = append(own, k.Mark)
		case k.Source != "":
			arrived = append(arrived, k.Mark)
		}
		if k.Class != "" && k.Class != "character" {
			coarse = append(coarse, fmt.Sprintf("those of %s are of a %s", k.Mark, map[string]string{"chunk": "read", "line": "line"}[k.Class]))
		}
	}
	if len(own) > 0 && len(arrived) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is what a sender saw of itself, %s is what arrived: the way between is in the difference",
			strings.Join(own, ", "), strings.Join(arrived, ", ")))
	}
	if len(coarse) > 0 {
		c.Warnings = append(c.Warnings, "not every stamp is a character's: "+strings.Join(coarse, ", "))
	}
}
