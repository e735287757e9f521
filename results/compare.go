package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The JSON comparison's name and version. Added keys do not raise the version.
const (
	ComparisonFormat  = "serialtiming-comparison"
	ComparisonVersion = 1
)

// Column is what is compared: a log, a report, a system of 1998, another
// tool's histogram.
type Column struct {
	Mark      string   `json:"mark"` // A, B, … as warnings call it
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`       // log, report, published, or another tool's name
	Source    string   `json:"source"`     // as in a report's source; "" unknown
	Class     string   `json:"class"`      // the same: character, chunk, line
	QuantumNS int64    `json:"quantum_ns"` // step of the stamps, 0 unknown
	Phases    []Sample `json:"-"`
}

// Sample is one run of a column. Its sequence is nil where the order of its
// values is not known.
type Sample struct {
	Run      Run
	Sequence *Sequence
}

// View is how all columns are read: by the coarsest clock among them.
type View struct {
	// Quantity is interval, or lateness where another tool measured no intervals.
	Quantity string `json:"quantity"`
	// Readings says that figures are readings of a counter, in whole
	// milliseconds, since one column knows no more.
	Readings bool  `json:"readings"`
	TickHz   int64 `json:"tick_hz,omitempty"` // of the tables' counter; 0: they have bins
	BinNS    int64 `json:"bin_ns"`            // of the tables' rows
	// LateByNS is the bound of late that the user set; 0: each run's own.
	LateByNS int64 `json:"late_by_ns,omitempty"`
}

// Shows says whether a table is of the view's kind.
func (v View) Shows(t *TableData) bool {
	if v.TickHz > 0 || t.TickHz != nil {
		return t.TickHz != nil && *t.TickHz == v.TickHz
	}
	return t.BinNS == v.BinNS
}

// The quantities.
const (
	OfInterval = "interval"
	OfLateness = "lateness"
)

// Comparison sets runs beside each other, phase by phase.
type Comparison struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	View     View     `json:"view"`
	Columns  []Column `json:"columns"`
	Phases   []Phase  `json:"phases"`
	Warnings []string `json:"warnings"`

	series map[*Blocks]*series
}

// mark names a column: A to Z, then AA.
func mark(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return mark(i/26-1) + mark(i%26)
}

// Phase is what ran under one label: a cell for each column, nil where the
// column has no such run.
type Phase struct {
	Label       string       `json:"label"`
	Cells       []*Cell      `json:"cells"`
	Differences []Difference `json:"differences"`
	Warnings    []string     `json:"warnings"`
}

// Cell is one run in figures that all columns of the view have; what cannot be
// known is nil. Figures named _ns are of the view's quantity.
type Cell struct {
	Label         string    `json:"label"`
	Count         int64     `json:"count"` // intervals, or values of the lateness
	Late          Late      `json:"late"`
	MeanNS        *float64  `json:"mean_ns"`
	P50NS         *int64    `json:"p50_ns"`
	P99NS         *int64    `json:"p99_ns"`
	P999NS        *int64    `json:"p999_ns"`
	MaxNS         *int64    `json:"max_ns"`
	Lost          *int64    `json:"lost"`
	LostIsMinimum bool      `json:"lost_is_minimum"`
	PeriodNS      *int64    `json:"period_ns"` // announced
	Timer         string    `json:"timer"`     // announced, "" unknown
	FloorNS       *int64    `json:"floor_ns"`
	Sequence      bool      `json:"sequence"` // the order of the values is known
	Table         TableData `json:"table"`
	Derived       *Derived  `json:"derived"` // of readings only
	Limits        []Limit   `json:"limits"`

	// Undecided readings may be late or not, so the late share is not known.
	Undecided int64 `json:"late_undecided,omitempty"`

	sequence *Sequence
}

// Difference is how far a figure of a column lies from the first column's.
type Difference struct {
	Column     int      `json:"column"` // from 0
	Figure     string   `json:"figure"` // as in Cell
	Difference *float64 `json:"difference"`
	// Low and High hold the true difference at Level; nil where the order of
	// either column's values is not known, and Why then says so.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	// BelowNS stands in place of a difference that the coarser of the two
	// cannot see.
	BelowNS *float64 `json:"below_ns,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Compare sets columns beside each other. Their runs must have been read as
// the view says. Phases pair by label, without regard to case; a run alone in
// its column, under a label that no other column has, stands beside every
// phase.
func Compare(columns []Column, v View) *Comparison {
	c := &Comparison{Format: ComparisonFormat, Version: ComparisonVersion, View: v, Columns: columns,
		Phases: []Phase{}, Warnings: []string{}, series: map[*Blocks]*series{}}
	for i := range columns {
		columns[i].Mark = mark(i)
	}
	for _, p := range pair(columns) {
		c.Phases = append(c.Phases, c.phase(p))
	}
	c.quanta()
	c.sources()
	return c
}

// Common says whether at least two columns stand beside each other somewhere.
func (c *Comparison) Common() bool {
	for _, p := range c.Phases {
		n := 0
		for _, cell := range p.Cells {
			if cell != nil {
				n++
			}
		}
		if n > 1 {
			return true
		}
	}
	return false
}

// pairing is a phase as indices into each column's runs, -1 for none.
type pairing []int

// pair finds the phases.
func pair(columns []Column) []pairing {
	places := make([]map[string]int, len(columns))
	keys := make([][]string, len(columns))
	in := map[string]int{} // columns that have a key
	for i := range columns {
		keys[i] = keysOf(columns[i].Phases)
		places[i] = map[string]int{}
		for k, key := range keys[i] {
			places[i][key] = k
			in[key]++
		}
	}
	var list []pairing
	met := map[string]bool{}
	alone := func(i int) bool { return len(columns) > 1 && len(keys[i]) == 1 && in[keys[i][0]] == 1 }
	for i := range columns {
		for _, key := range keys[i] {
			if alone(i) || met[key] {
				continue
			}
			met[key] = true
			p := make(pairing, len(columns))
			for c := range p {
				if k, ok := places[c][key]; ok {
					p[c] = k
				} else if !alone(c) {
					p[c] = -1
				}
			}
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		list = []pairing{make(pairing, len(columns))} // all are alone: with each other
	}
	return list
}

// keysOf gives what runs pair by: the label, and how often it came before.
func keysOf(runs []Sample) []string {
	var keys []string
	seen := map[string]int{}
	for i := range runs {
		label := strings.ToLower(strings.TrimSpace(runs[i].Run.Label))
		seen[label]++
		keys = append(keys, fmt.Sprintf("%s\x00%d", label, seen[label]))
	}
	return keys
}

func (c *Comparison) phase(p pairing) Phase {
	ph := Phase{Cells: make([]*Cell, len(p)), Differences: []Difference{}, Warnings: []string{}}
	for i, k := range p {
		if k < 0 || k >= len(c.Columns[i].Phases) {
			continue
		}
		ph.Cells[i] = c.View.cell(&c.Columns[i].Phases[k])
	}
	ph.Label = labelOf(ph.Cells)
	c.measuring(&ph)
	if ph.Cells[0] != nil {
		for i := 1; i < len(p); i++ {
			if ph.Cells[i] != nil {
				ph.Differences = append(ph.Differences, c.differences(&ph, i)...)
			}
		}
	}
	return ph
}

// labelOf gives the label that most cells share, else the first's.
func labelOf(cells []*Cell) string {
	best, most := "", 0
	for i, a := range cells {
		n := 0
		for _, b := range cells[i:] {
			if a != nil && b != nil && strings.EqualFold(a.Label, b.Label) {
				n++
			}
		}
		if n > most {
			best, most = a.Label, n
		}
	}
	return best
}

// cell takes a run's figures as the view reads them.
func (v View) cell(s *Sample) *Cell {
	r := &s.Run
	c := &Cell{Label: r.Label, Lost: r.Lost, LostIsMinimum: r.LostIsMinimum && r.Lost != nil, PeriodNS: r.Period.AnnouncedNS, FloorNS: r.FloorNS,
		Table: r.Table, Limits: slices.Clone(r.Limits), sequence: s.Sequence, Sequence: s.Sequence != nil}
	if c.Limits == nil {
		c.Limits = []Limit{}
	}
	for _, k := range r.Announced {
		if k.Key == "timer" {
			c.Timer = k.Value
		}
	}
	if v.Readings {
		c.readings(r, v.LateByNS)
		return c
	}
	d := r.Interval
	if v.Quantity == OfLateness {
		d = r.Lateness
	}
	if d != nil {
		c.Count, c.MeanNS = d.Count, d.Mean
		c.P50NS, c.P99NS, c.P999NS, c.MaxNS = d.P50, d.P99, d.P999, d.Max
	}
	if r.Lateness != nil && r.Lateness.Count > 0 {
		c.Late = r.Late
	}
	return c
}

// readings takes the figures from a table of readings alone, as in 1998. Late
// is a reading that only a late interval can show: see LateFrom.
func (c *Cell) readings(r *Run, by int64) {
	period := int64(0)
	if c.PeriodNS != nil {
		period = *c.PeriodNS
	}
	t := &r.Table
	c.Count = rowCount(t) + t.Over
	c.Derived = Derive(t, period)
	c.wholeTicks(*t.TickHz)
	c.MeanNS = c.Derived.MeanNS
	c.P50NS, c.P99NS, c.P999NS = rank(t, c.Count, .5), rank(t, c.Count, .99), rank(t, c.Count, .999)
	if w := c.Derived.Worst; w != nil {
		c.MaxNS = new(w.Reading * 1e6)
	}
	if c.Derived.OnTime == nil || c.Count == 0 {
		return
	}
	from, doubt := LateFrom(period, by, *t.TickHz)
	if by == 0 {
		by = lateReading(from, period, *t.TickHz)
	}
	c.Late.ByNS = &by
	late := t.Over
	for _, row := range t.Rows {
		switch {
		case row.Key >= from:
			late += row.Count
		case row.Key >= doubt:
			c.Undecided += row.Count
		}
	}
	if c.Undecided == 0 {
		c.Late.Count, c.Late.Share = new(late), new(float64(late)/float64(c.Count))
	}
}

// wholeTicks takes the mean from the ticks themselves where they are known, as
// of a log: their sum from the first arrival to the last is off by less than
// one, however many ticks a reading may stand for.
func (c *Cell) wholeTicks(hz int64) {
	if c.sequence == nil || c.Derived.MeanNS == nil {
		return
	}
	sum, n := 0.0, int64(0)
	for i := range c.sequence.Interval.list {
		sum, n = sum+c.sequence.Interval.list[i].sum, n+c.sequence.Interval.list[i].n
	}
	if n == 0 || n != c.Count {
		return
	}
	mean, pm := new(round3(sum/float64(n))), new(round3(ticksNS(1, hz)/float64(n)))
	c.Derived.MeanNS, c.Derived.MeanPlusMinusNS = mean, pm
	if c.Derived.PeriodNS != nil {
		c.Derived.PeriodNS, c.Derived.PeriodPlusMinusNS = mean, pm
	}
}

// LateFrom gives the lowest reading that only an interval longer than the
// period by more than by can show, and the lowest that such an interval shows
// at all: those between may be either. With by 0 late is every reading that an
// interval on time cannot show, and nothing is in doubt.
func LateFrom(periodNS, by, hz int64) (from, doubt int64) {
	if _, high := OnTime(periodNS, hz); by == 0 {
		return high + 1, high + 1
	}
	limit := float64(periodNS + by)
	doubt = max(Reading(Ticks(periodNS+by, hz), hz)-1, 0)
	for _, to := ReadingSpan(doubt, hz); to <= limit; _, to = ReadingSpan(doubt, hz) {
		doubt++
	}
	from = doubt
	for low, _ := ReadingSpan(from, hz); low < limit; low, _ = ReadingSpan(from, hz) {
		from++
	}
	return from, doubt
}

// lateReading gives the lateness that the lowest late reading proves.
func lateReading(from, period, hz int64) int64 {
	low, _ := ReadingTicks(from, hz)
	return int64(math.Round(ticksNS(low-1, hz))) - period
}

// rank gives a percentile of a table in ns, nil where fewer than five lie above.
func rank(t *TableData, n int64, q float64) *int64 {
	k := nearestRank(q, n)
	if n-k < 5 {
		return nil
	}
	for _, row := range t.Rows {
		if k -= row.Count; k <= 0 {
			return new(row.Key * 1e6)
		}
	}
	return nil // over
}
