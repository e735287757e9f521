package assemble

import (
	"strconv"

	"serialtiming/results"
)

// Foreign says that the arrivals of Chunk come from another tool's log, what
// that is, and which line errors it would show; it belongs before the first.
// The log that is written of them keeps it.
func (a *Assembler) Foreign(s results.Source, marks results.Flags) {
	if a.opt.Expect == "" {
		a.opt.Expect = ExpectNone
	}
	for _, k := range []results.KeyValue{
		{Key: "source", Value: s.Kind}, {Key: "class", Value: s.Class}, {Key: "channel", Value: s.Channel},
		{Key: "marks", Value: marks.String()},
		{Key: "expect", Value: string(a.opt.Expect)},
	} {
		if k.Value != "" {
			a.Header(k)
		}
	}
}

// Quantum says what the step of the stamps has turned out to be, in ns.
func (a *Assembler) Quantum(ns int64) {
	a.Header(results.KeyValue{Key: "quantum_ns", Value: strconv.FormatInt(ns, 10)})
}

// marked says which line errors the source marks where they are: where it
// marks none of these there were none.
func (a *Assembler) marked() results.Flags { return a.head.marks }

// Chunk takes an arrival of another tool's log. Two of one instant stay two.
func (a *Assembler) Chunk(ev results.Event) {
	if a.opt.Expect == ExpectCycle {
		a.Event(ev) // our own stream, announcements and all
		return
	}
	a.lastByte = ev.At
	a.pendStale = a.pendStale || ev.Stale
	if a.cur == nil {
		a.open(nil)
	}
	a.total += int64(len(ev.Bytes))
	a.arrival(ev.At, ev.Bytes, ev.Flags)
}

// Empty gives the run of a log that holds none.
func Empty(a *Assembler) results.Run {
	r := &run{}
	r.begin(a)
	return r.finish(a)
}
