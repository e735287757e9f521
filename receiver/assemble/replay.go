package assemble

import (
	"errors"
	"fmt"
	"io"

	"serialtiming/results"
)

// Replay takes a whole log; name is what warnings call it. What is wrong with
// the log's lines becomes warnings of its last run; the error is the reader's.
func (a *Assembler) Replay(l *results.LogReader, name string) error {
	for {
		rows, item, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			a.endReplay(l, name)
			return nil
		case err != nil:
			a.endReplay(l, name)
			return err
		case item != nil:
			a.logItem(item)
		default:
			a.logRows(rows)
		}
		if len(a.done) > maxRuns {
			return fmt.Errorf("more than %d runs: their reports do not fit into memory, cut the log into parts", maxRuns)
		}
	}
}

// maxRuns bounds the memory that a log can take: the report of a run is about
// 5 kB.
const maxRuns = 20_000

// maxBatch is more than any read returns: rows of one instant beyond it begin
// another event.
const maxBatch = 1 << 20

func (a *Assembler) logItem(item *results.LogItem) {
	a.flushPayload()
	k := results.KeyValue{Key: item.Key, Value: item.Value}
	switch item.Section {
	case results.LogKey:
		a.Header(k)
	case results.RunKey:
		a.enter(item.Run)
		a.item(k)
	case results.EndKey:
		a.enter(item.Run)
		a.end(k)
	}
}

// enter makes the run of that number the current one.
func (a *Assembler) enter(number int) {
	if a.cur != nil && a.cur.number == number {
		return
	}
	if a.cur != nil {
		a.flushPayload()
		a.keep()
	}
	a.number = number
	a.cur = &run{number: number, marked: a.marked()}
}

// logRows takes rows in their order. An event's rows share their instant, and
// all but the first have batch 0.
func (a *Assembler) logRows(rows []results.LogRow) {
	for i := range rows {
		row := &rows[i]
		if row.Batch != 0 {
			a.flushPayload()
		}
		if r := a.cur; a.plain(rows, i) {
			a.total++
			r.tally.Event(row.Arrived, 1, 0)
			r.char(byte(row.Byte), row.Arrived, false)
			continue
		}
		if a.cur == nil || a.cur.number != int(row.Run) {
			a.enter(int(row.Run))
		}
		if a.head.loopback {
			a.loopbackRow(row)
			continue
		}
		if row.Arrived == results.NoInstant || row.Wrote != results.NoInstant {
			a.flushPayload()
			a.sent(row)
			continue
		}
		again := len(a.pend) > 0 && row.Batch == 0 && row.Arrived == a.pendAt
		if len(a.pend) > 0 && (!again || len(a.pend) == maxBatch) {
			a.flushPayload()
		}
		if row.Byte < 0 {
			a.cur.mute = true
		}
		a.pendAt = row.Arrived
		a.pendFlags |= row.Flags
		a.pend = append(a.pend, byte(row.Byte))
		a.total++
	}
}

// plain says that row i is what nearly every row is: a lone character of the
// run that is under way, so that nothing needs to be gathered.
func (a *Assembler) plain(rows []results.LogRow, i int) bool {
	row := &rows[i]
	return i+1 < len(rows) && row.Batch == 1 && rows[i+1].Batch != 0 &&
		row.Flags == 0 && row.Byte >= 0 && row.Wrote == results.NoInstant && a.opt.Log == nil && a.opt.Tap == nil &&
		a.cur != nil && a.cur.number == int(row.Run) && a.cur.tally != nil && a.cur.checker != nil
}

// endReplay closes what the log left open and says what was wrong with it.
func (a *Assembler) endReplay(l *results.LogReader, name string) {
	a.flushPayload()
	torn := l.Torn()
	if a.cur != nil {
		if !a.cur.ended && torn == "" {
			torn = fmt.Sprintf("run %d has no end: the log was cut off, or is still being written", a.cur.number)
		}
		a.keep()
	}
	if len(a.done) == 0 {
		return
	}
	last := &a.done[len(a.done)-1]
	warn := func(format string, args ...any) {
		last.Warnings = append(last.Warnings, fmt.Sprintf(format, args...))
	}
	if torn != "" {
		warn("%s is torn: %s", name, torn)
	}
	n, lines := l.Bad()
	if n > 0 {
		warn("%s: %d lines could not be read", name, n)
	}
	for _, b := range lines {
		warn("%s:%d: %s", name, b.Line, b.Why)
	}
}
