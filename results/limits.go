package results

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The verdicts of a limit.
const (
	Pass        = "pass"
	Fail        = "fail"
	Undecidable = "undecidable" // the figure is not known, or the limit lies below what the instrument sees
)

// The limits by their names in a report.
const (
	MaxInterval  = "max-interval"
	MaxLateness  = "max-lateness"
	MaxLateShare = "max-late-share"
	MaxLost      = "max-lost"
	MaxErrors    = "max-errors"
)

// Limits are the bounds that the user set; nil is no bound. A figure equal to
// its bound passes.
type Limits struct {
	MaxInterval  *time.Duration
	MaxLateness  *time.Duration
	MaxLateShare *float64 // 0 to 1 of the characters
	MaxLost      *int64
	// MaxErrors bounds the UART's marks (framing, parity, overrun, break) and
	// the wrong characters (duplicated, corrupted, extra) together. A character
	// that is marked and wrong counts as both.
	MaxErrors *int64
	QuantumNS int64 // step of the stamps, 0 unknown
}

// Any says whether a limit is set.
func (l Limits) Any() bool {
	return l.MaxInterval != nil || l.MaxLateness != nil || l.MaxLateShare != nil || l.MaxLost != nil || l.MaxErrors != nil
}

// Judge holds a run against the limits, one line for each that is set. Set and
// measured are in the report's units: ns, a share from 0 to 1, a count.
func (l Limits) Judge(r *Run) []Limit {
	list, _ := l.judge(r)
	return list
}

// Explain gives a sentence for each limit that Judge cannot decide.
func (l Limits) Explain(r *Run) []string {
	_, why := l.judge(r)
	return why
}

// Passed says whether all limits of all runs were kept and decided.
func Passed(runs []Run) bool {
	for i := range runs {
		for _, v := range runs[i].Limits {
			if v.Verdict != Pass {
				return false
			}
		}
	}
	return true
}

// measure is what is known of a limit's figure: it lies from low to high; why
// says what keeps the two apart.
type measure struct {
	figure    *float64
	low, high float64
	why       string
}

func known(v float64) measure { return measure{figure: &v, low: v, high: v} }

func unknown(why string) measure {
	return measure{low: math.Inf(-1), high: math.Inf(1), why: why}
}

// judge is Judge and Explain in one.
func (l Limits) judge(r *Run) (list []Limit, why []string) {
	add := func(name string, set float64, m measure) {
		v := Limit{Limit: name, Set: set, Measured: m.figure, Verdict: Undecidable}
		switch {
		case m.low > set:
			v.Verdict = Fail
		case m.high <= set:
			v.Verdict = Pass
		default:
			why = append(why, fmt.Sprintf("%s cannot be decided: %s", name, m.why))
		}
		list = append(list, v)
	}
	if l.MaxInterval != nil {
		set := float64(*l.MaxInterval)
		add(MaxInterval, set, l.seen(set, r, l.interval(r)))
	}
	if l.MaxLateness != nil {
		set := float64(*l.MaxLateness)
		add(MaxLateness, set, l.seen(set, r, lateness(r)))
	}
	if l.MaxLateShare != nil {
		add(MaxLateShare, *l.MaxLateShare, l.lateShare(r))
	}
	if l.MaxLost != nil {
		add(MaxLost, float64(*l.MaxLost), lost(r))
	}
	if l.MaxErrors != nil {
		add(MaxErrors, float64(*l.MaxErrors), wrong(r))
	}
	return list, why
}

// step is the smallest difference that the run's instrument sees, 0 unknown,
// and what sets it.
func (l Limits) step(r *Run) (ns int64, name string) {
	ns, name = l.QuantumNS, "the step of the stamps"
	if r.FloorNS != nil && *r.FloorNS > ns {
		ns, name = *r.FloorNS, "this receiver's floor"
	}
	return ns, name
}

// seen withdraws the figure where the limit lies below what the run's
// instrument can see.
func (l Limits) seen(set float64, r *Run, m measure) measure {
	if ns, name := l.step(r); set < float64(ns) {
		m = m.blind(fmt.Sprintf("%v is below %s, %v", time.Duration(set), name, time.Duration(ns)))
	}
	return m
}

// blind withdraws what is known of a figure, and keeps it to be shown.
func (m measure) blind(why string) measure {
	u := unknown(why)
	u.figure = m.figure
	return u
}

func (l Limits) interval(r *Run) measure {
	d := r.Interval
	switch {
	case d != nil && d.Max != nil:
		return undisturbed(d)
	case d != nil && d.Count > 0 && r.Table.TickHz != nil:
		return reading(&r.Table)
	}
	return unknown("there is no interval")
}

// reading bounds the longest interval of a table of readings. The bounds
// themselves are no interval of that reading.
func reading(t *TableData) measure {
	if t.Over > 0 || len(t.Rows) == 0 {
		m := unknown("an interval is beyond the table")
		m.low = above(float64(Longest))
		return m
	}
	from, to := ReadingSpan(t.Rows[len(t.Rows)-1].Key, *t.TickHz)
	return measure{new((from + to) / 2), above(from), to, fmt.Sprintf(
		"a reading of %d stands for %v to %v", t.Rows[len(t.Rows)-1].Key, span(from), span(to))}
}

func above(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }

func span(ns float64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }

// undisturbed bounds a maximum by what was seen while the receiver itself was
// not held up.
func undisturbed(d *Dist) measure {
	m := known(float64(*d.Max))
	switch {
	case d.MaxUndisturbed == nil:
		m.low = 0
	case *d.MaxUndisturbed < *d.Max:
		m.low = float64(*d.MaxUndisturbed)
	}
	if m.low < m.high {
		m.why = "the receiver itself was held up when the longest came"
	}
	return m
}

func lateness(r *Run) measure {
	if r.Lateness == nil || r.Lateness.Max == nil {
		return unknown("the lateness is not known without a period and a sequence")
	}
	return undisturbed(r.Lateness)
}

func (l Limits) lateShare(r *Run) measure {
	switch {
	case r.Lateness == nil || r.Lateness.Count == 0:
		return unknown("the lateness is not known without a period and a sequence")
	case r.Late.Share == nil:
		return unknown("the run was not counted by this bound of late")
	}
	m := known(*r.Late.Share)
	if ns, name := l.step(r); r.Late.ByNS != nil && *r.Late.ByNS < ns {
		m = m.blind(fmt.Sprintf("late by %v is below %s, %v", time.Duration(*r.Late.ByNS), name, time.Duration(ns)))
	}
	return m
}

func lost(r *Run) measure {
	if r.Lost == nil {
		return unknown("no sequence tells what was lost")
	}
	m := known(float64(*r.Lost))
	if r.LostIsMinimum {
		m.high, m.why = math.Inf(1), "whole cycles could have gone unseen, the sender's count was not heard"
	}
	return m
}

// wrong adds up errors as MaxErrors documents; what is not known may be more.
func wrong(r *Run) measure {
	var n float64
	for _, v := range []*int64{r.Duplicated, r.Corrupted, r.Extra} {
		if v != nil {
			n += float64(*v)
		}
	}
	var open []string
	for _, f := range r.Errors.fields() {
		if *f.count == nil {
			open = append(open, f.key)
			continue
		}
		n += float64(**f.count)
	}
	m := known(n)
	if len(open) > 0 {
		m.high, m.why = math.Inf(1), "nothing counted the line's errors: "+strings.Join(open, ", ")
	}
	return m
}
