package assemble

import "serialtiming/results"

// sent takes a row of a sender's log: what left, not what arrived. Its
// lateness is woke minus due, known without a fit.
func (a *Assembler) sent(row *results.LogRow) {
	r := a.cur
	if r.tally == nil {
		r.sender = true
		a.senders++
		r.begin(a)
	}
	r.tally.Event(row.Wrote, 1, row.Flags)
	if row.Due != results.NoInstant && row.Woke != results.NoInstant {
		r.tally.Lateness(row.Woke-row.Due, row.Woke)
	}
	a.total++
	if a.opt.Log != nil {
		a.opt.Log.Row(*row)
	}
}

// Sent takes one character that a live sender wrote; the run was begun with
// Begin. Instants are ns since the log's zero.
func (a *Assembler) Sent(row results.LogRow) { a.sent(&row) }

// Begin opens a run with what the sender announces, and End closes it with
// what it announced behind it: for the sender's own report.
func (a *Assembler) Begin(opening []results.KeyValue) {
	if a.cur != nil {
		a.close(ReasonNext)
	}
	a.open(nil)
	a.cur.sender = true
	a.senders++
	a.describe(opening)
}

// Number gives the number of the current run, 0 when there is none.
func (a *Assembler) Number() int {
	if a.cur == nil {
		return 0
	}
	return a.cur.number
}

// End closes the current run.
func (a *Assembler) End(closing []results.KeyValue, reason string) {
	for _, k := range closing {
		a.end(k)
	}
	a.close(reason)
}

// Lateness gives the current run's lateness so far, nil without a schedule.
func (a *Assembler) Lateness() *results.Dist {
	if a.cur == nil || a.cur.tally == nil || a.cur.period <= 0 {
		return nil
	}
	return a.cur.tally.LatenessSoFar()
}
