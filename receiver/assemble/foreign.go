package assemble

import (
	"strconv"
	"strings"

	"serialtiming/results"
)

// Foreign says that the arrivals of Chunk come from another tool's log, and
// what that is; it belongs before the first. The log that is written of them
// keeps it.
func (a *Assembler) Foreign(s results.Source) {
	if a.opt.Expect == "" {
		a.opt.Expect = ExpectNone
	}
	for _, k := range []results.KeyValue{
		{Key: "source", Value: s.Kind}, {Key: "class", Value: s.Class}, {Key: "channel", Value: s.Channel},
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

// marked says which line errors the source marks where they are: decoders of
// the wire mark some, and where they mark none there were none.
func (a *Assembler) marked() results.Flags {
	kind := a.head.source.Kind
	switch {
	case strings.HasPrefix(kind, "pcap"):
		return results.Framing | results.Parity | results.Overrun | results.Break
	case strings.HasPrefix(kind, "sigrok"), kind == "pulseview":
		return results.Framing | results.Parity | results.Break
	case strings.HasPrefix(kind, "saleae"), strings.HasPrefix(kind, "dsview"):
		return results.Framing | results.Parity
	}
	return 0
}

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
		a.cur.marked = a.marked()
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
