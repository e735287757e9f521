package results

import (
	"math"
	"strconv"
	"time"
)

// TallyOptions are what a run's figures depend on besides its arrivals. The
// same options on the same arrivals give the same figures, live or replayed.
type TallyOptions struct {
	Table     TableKind
	PeriodNS  int64         // of the grid: announced, or given by the user; 0 none
	Announced int64         // as announced; 0 nothing was
	Grid      bool          // the sender's timer keeps its grid, so ppm means something
	LateBy    time.Duration // above it a character is late; 0: the default
	FloorNS   int64         // the receiver's, 0 unknown
	Quantum   int64         // step of the stamps in ns
	Known     bool          // the lateness is known and given by Lateness, not fitted
	CharNS    int64         // character time of the line, 0 unknown or none
	CatchUp   string        // announced
	SenderOS  string        // announced
	USB       bool          // the port is a USB adapter
	OneClock  bool          // one clock serves both ends
	Marks     Flags         // line errors that the source marks, so that none marked means none
}

// lateBy gives the default of late: the largest of 5 % of the period, the
// floor and the quantum.
func (o TallyOptions) lateBy() int64 {
	if o.LateBy > 0 {
		return int64(o.LateBy)
	}
	return max(o.PeriodNS/20, o.FloorNS, o.Quantum)
}

// Tally turns a run's arrivals into its figures, one pass, bounded memory.
type Tally struct {
	opt      TallyOptions
	interval Histogram
	lateness Histogram
	table    *Table
	evidence *Evidence
	grid     *grid
	late     int64

	characters, events      int64
	first, last             int64
	firstPlace, lastPlace   int64
	placedFrom, placedTo    int64 // their arrivals
	steps                   Steps
	marks                   [4]int64 // of line errors, in the order of LineErrors.fields
	disturbed               int64
	path                    *[3]Histogram // due, woke, wrote, arrived: the differences
	staleFirst, placesKnown bool
	placesBroken            bool
}

// NewTally makes an empty tally.
func NewTally(o TallyOptions) *Tally {
	t := &Tally{opt: o, table: NewTable(o.Table)}
	t.evidence = NewEvidence(EvidenceOptions{PeriodNS: o.PeriodNS, CharNS: o.CharNS, Quantum: o.Quantum,
		CatchUp: o.CatchUp, SenderOS: o.SenderOS, USB: o.USB, OneClock: o.OneClock})
	if o.PeriodNS > 0 && !o.Known {
		by := o.lateBy()
		t.grid = newGrid(o.PeriodNS, o.Grid, func(v int64, p *gridPoint) {
			t.lateness.Record(v, p.at, p.disturbed)
			if v > by {
				t.late++
			}
		})
	}
	return t
}

// Event takes one arrival of n characters at an instant in ns since the log's
// zero.
func (t *Tally) Event(at int64, n int, f Flags) {
	disturbed := f&Disturbed != 0
	if f != 0 {
		t.mark(f)
		if disturbed {
			t.disturbed++
		}
	}
	if t.events == 0 {
		t.first = at
	} else {
		t.step(at, disturbed)
	}
	t.evidence.Event(at, n, f)
	t.events++
	t.characters += int64(n)
	t.last = at
}

func (t *Tally) mark(f Flags) {
	for i, e := range new(LineErrors).fields() {
		if f&e.bit != 0 {
			t.marks[i]++
		}
	}
}

// step counts the difference to the event before.
func (t *Tally) step(at int64, disturbed bool) {
	iv := at - t.last
	switch {
	case iv == 0:
		t.steps.Zero++
	case iv < 0:
		t.steps.Backward++
	case t.staleFirst && t.events == 1:
		t.steps.Stale++
	default:
		t.interval.Record(iv, at, disturbed)
		t.table.Add(t.last, at)
	}
}

// Lateness takes a lateness that is known, at an instant.
func (t *Tally) Lateness(v, at int64) {
	t.lateness.Record(v, at, false)
	if v > t.opt.lateBy() {
		t.late++
	}
}

// Path takes the instants of one character of a loopback run, all of one
// clock; those that are not known are NoInstant.
func (t *Tally) Path(row *LogRow) {
	if t.path == nil {
		t.path = new([3]Histogram)
	}
	at := [4]int64{row.Due, row.Woke, row.Wrote, row.Arrived}
	for i := range t.path {
		if at[i] != NoInstant && at[i+1] != NoInstant {
			t.path[i].Record(at[i+1]-at[i], at[i+1], false)
		}
	}
}

// LatenessSoFar gives the distribution of the lateness known so far.
func (t *Tally) LatenessSoFar() *Dist { return t.lateness.Dist() }

// Stale says that the first event had waited before the capture began: the
// interval behind it is none.
func (t *Tally) Stale() { t.staleFirst = true }

// Place says which place of the sequence a character of the last event has,
// 0 the run's first; certain is false where characters may have been lost
// before it, so that its due time is not known. What had waited before the
// capture has no arrival to be placed.
func (t *Tally) Place(at, place int64, certain, disturbed bool) {
	if t.staleFirst && t.events == 1 {
		return
	}
	if !t.placesKnown {
		t.firstPlace, t.placedFrom, t.placesKnown = place, at, true
	}
	t.lastPlace, t.placedTo = place, at
	if !certain {
		t.placesBroken = true
	}
	if t.grid != nil {
		t.grid.add(at, place, !certain, disturbed)
	}
}

// Snapshot is what a live view shows.
type Snapshot struct {
	Characters           int64
	LastNS, MinNS, MaxNS int64 // of the intervals; 0 none yet
	At                   int64 // the last arrival
}

// Snapshot gives the figures so far.
func (t *Tally) Snapshot(lastInterval int64) Snapshot {
	high, _ := t.interval.Max()
	return Snapshot{t.characters, lastInterval, t.interval.Min(), high, t.last}
}

// Characters gives the count so far.
func (t *Tally) Characters() int64 { return t.characters }

// First gives the instant of the first arrival.
func (t *Tally) First() int64 { return t.first }

// Last gives the instant of the last arrival.
func (t *Tally) Last() int64 { return t.last }

// Fill writes the figures into a run. The tally takes nothing more after it.
func (t *Tally) Fill(r *Run) {
	if t.grid != nil {
		t.grid.finish()
	}
	r.Characters, r.Events, r.Batched = t.characters, t.events, t.characters-t.events
	r.FirstNS, r.LastNS = t.first, t.last
	r.Steps, r.Disturbed = t.steps, t.disturbed
	for i, e := range r.Errors.fields() {
		// The driver's own count, where it is known, has seen more than the marks.
		if n := t.marks[i]; n > 0 && (*e.count == nil || **e.count < n) || t.opt.Marks&e.bit != 0 && *e.count == nil {
			*e.count = new(n)
		}
	}
	r.Interval = t.interval.Dist()
	if t.path != nil {
		r.Path = &Path{*t.path[0].Dist(), *t.path[1].Dist(), *t.path[2].Dist()}
	}
	r.Table = t.table.data()
	t.fillPeriod(&r.Period)
	if !t.opt.Known {
		if t.grid != nil && t.opt.Grid {
			t.evidence.Steps(t.grid.knots.clockSteps(t.opt.PeriodNS))
		}
		r.Findings = append(r.Findings, Findings(r, t.evidence)...)
	}
	if t.opt.PeriodNS <= 0 {
		return
	}
	r.Lateness = t.lateness.Dist()
	if t.lateness.Count() == 0 {
		return // no character had a place on the grid
	}
	by := t.opt.lateBy()
	r.Late = Late{ByNS: &by, Count: new(t.late)}
	if t.characters > 0 {
		r.Late.Share = new(float64(t.late) / float64(t.characters))
	}
}

func (t *Tally) fillPeriod(p *Period) {
	p.OneClock = t.opt.OneClock
	if t.grid != nil && t.opt.Grid && t.opt.Announced == t.opt.PeriodNS {
		// Beyond what two clocks can differ by it is no measurement of theirs.
		most := float64(t.opt.PeriodNS) * clockMost
		if b, se, ok := t.grid.knots.slope(); ok && (math.Abs(b) > most || se > most) {
			return
		} else if ok {
			n := float64(t.opt.PeriodNS)
			p.MeasuredNS = new(round3(n + b))
			p.PPM = new(round3(b / n * 1e6))
			p.PPMUncertainty = new(twoDigits(1.96 * se / n * 1e6))
			return
		}
	}
	if t.opt.Known { // by its own clock the sender's period is what it asked for
		return
	}
	// Without a grid only an even stream has a period: the mean of one with a
	// stall is that of no character.
	high, _ := t.interval.Max()
	even := t.interval.Count() > 0 && float64(high) < 1.5*t.interval.Mean()
	if n := t.lastPlace - t.firstPlace; n > 0 && t.placedTo > t.placedFrom && !t.placesBroken && even {
		p.MeasuredNS = new(round3(float64(t.placedTo-t.placedFrom) / float64(n)))
	}
}

// twoDigits keeps two significant digits: an uncertainty has no more.
func twoDigits(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return r
}

// round3 cuts a float to three decimals: more would be noise in a report.
func round3(v float64) float64 { return math.Round(v*1e3) / 1e3 }

func (t *Table) data() TableData {
	d := TableData{BinNS: int64(t.kind.Bin), Over: t.over, Rows: t.Rows()}
	if t.kind.Hz > 0 {
		d.BinNS = int64(time.Millisecond)
		d.TickHz, d.TickPhaseNS = new(t.kind.Hz), new(int64(t.kind.Phase))
	}
	return d
}

// Dist gives the distribution's figures; empty, all are nil.
func (h *Histogram) Dist() *Dist {
	d := &Dist{Count: h.count}
	if h.count == 0 {
		return d
	}
	d.Min, d.Max, d.MaxAtNS = new(h.min), new(h.max), new(h.maxAt)
	d.Mean = new(round3(h.Mean()))
	if h.count > 1 {
		d.Stddev = new(round3(h.Stddev()))
	}
	if v, ok := h.MaxUndisturbed(); ok {
		d.MaxUndisturbed = new(v)
	}
	for _, p := range []struct {
		q    float64
		into **int64
	}{{.5, &d.P50}, {.9, &d.P90}, {.99, &d.P99}, {.999, &d.P999}, {.9999, &d.P9999}} {
		if v, ok := h.Percentile(p.q); ok {
			*p.into = new(v)
		}
	}
	return d
}
