package assemble

import "serialtiming/results"

// BeginLoopback opens a run that one process sends and receives. Nothing is
// announced on the wire: what comes back is payload.
func (a *Assembler) BeginLoopback(opening []results.KeyValue) {
	a.open(nil)
	a.item(results.KeyValue{Key: "announced", Value: "before"})
	a.describe(opening)
	a.cur.begin(a)
}

// Wrote takes a character that was sent, before its arrival is given to Event.
func (a *Assembler) Wrote(row results.LogRow) { a.wrote = append(a.wrote, row) }

// EndLoopback closes the run; what did not come back is lost.
func (a *Assembler) EndLoopback(closing []results.KeyValue, reason string) {
	a.items(a.scanner.Flush(), 0)
	a.believe()
	a.flushPayload()
	for i := range a.wrote[a.paired:] {
		a.unpaired(&a.wrote[a.paired+i])
	}
	a.wrote, a.paired = a.wrote[:0], 0
	a.End(closing, reason)
}

// loopbackArrival pairs the characters of an event with what was sent.
func (a *Assembler) loopbackArrival(at int64, b []byte, f results.Flags) {
	r := a.cur
	r.tally.Event(at, len(b), f)
	batch := int32(len(b))
	for _, c := range b {
		row := results.LogRow{Seq: results.NoInstant, Due: results.NoInstant, Woke: results.NoInstant, Wrote: results.NoInstant}
		if place := r.char(c, at, f&results.Disturbed != 0); place >= 0 {
			a.pair(place, &row)
		}
		row.Run, row.Arrived, row.Byte, row.Batch, row.Flags = int32(r.number), at, int16(c), batch, f
		batch, f = 0, 0
		a.path(&row)
	}
}

// pair finds what was sent at a place; what was sent before it and did not
// arrive goes into the log without an arrival.
func (a *Assembler) pair(place int64, row *results.LogRow) {
	for ; a.paired < len(a.wrote) && a.wrote[a.paired].Seq <= place; a.paired++ {
		if w := &a.wrote[a.paired]; w.Seq == place {
			*row = *w
		} else {
			a.unpaired(w)
		}
	}
	if a.paired == len(a.wrote) {
		a.wrote, a.paired = a.wrote[:0], 0
	}
}

// unpaired logs a character that was sent and has no arrival.
func (a *Assembler) unpaired(row *results.LogRow) {
	row.Run, row.Arrived, row.Batch = int32(a.cur.number), results.NoInstant, 0
	a.path(row)
}

func (a *Assembler) path(row *results.LogRow) {
	if a.cur.period == 0 {
		row.Due = results.NoInstant // back to back nothing is due
	}
	a.cur.tally.Path(row)
	if a.opt.Log != nil {
		a.opt.Log.Row(*row)
	}
}

// loopbackRow takes a row of a loopback run's log.
func (a *Assembler) loopbackRow(row *results.LogRow) {
	r := a.cur
	r.begin(a)
	if row.Arrived != results.NoInstant {
		if row.Batch > 0 {
			r.tally.Event(row.Arrived, int(row.Batch), row.Flags)
		}
		a.total++
		if r.checker != nil {
			r.char(byte(row.Byte), row.Arrived, row.Flags&results.Disturbed != 0)
		}
	}
	a.path(row)
}
