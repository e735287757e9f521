package assemble

import (
	"strconv"
	"strings"

	"serialtiming/protocol"
	"serialtiming/results"
)

// Before and After give an announcement as the log's items, so that a live
// run and its replay are built from the very same text.

// Opening gives the items of "# run N": what was announced before the run.
func Opening(a protocol.Announcement) []results.KeyValue {
	var k items
	k.text("label", results.OneLine(a.Label))
	k.always("period_ns", a.PeriodNS)
	k.number("count", a.Count)
	k.number("duration_ns", a.DurationNS)
	k.number("baud", int64(a.Baud))
	k.text("line", a.Line)
	k.text("char", a.Char)
	k.text("timer", a.Timer)
	k.text("catch_up", a.CatchUp)
	for _, g := range a.Granted {
		k.text("granted", FormatGrant(results.Granted{Item: g.Item, Asked: g.Asked, Got: g.Got, Why: g.Why}))
	}
	for _, p := range a.Extra {
		k.text(p.Key, results.OneLine(p.Value))
	}
	return k
}

// Closing gives the items of "# end N": what was announced after the run.
func Closing(a protocol.Announcement) []results.KeyValue {
	var k items
	k.always("sent", a.Sent)
	k.always("missed", a.Missed)
	if l := a.Lateness; l != nil {
		k.always("sender_late_p50_ns", l.P50)
		k.always("sender_late_p99_ns", l.P99)
		k.always("sender_late_max_ns", l.Max)
	}
	for _, p := range a.Extra {
		k.text(p.Key, results.OneLine(p.Value))
	}
	return k
}

type items []results.KeyValue

func (k *items) text(key, value string) {
	// As a log gives it back.
	if value = strings.TrimSpace(results.OneLine(value)); value != "" {
		*k = append(*k, results.KeyValue{Key: key, Value: value})
	}
}

func (k *items) always(key string, v int64) { k.text(key, strconv.FormatInt(v, 10)) }

func (k *items) number(key string, v int64) {
	if v != 0 {
		k.always(key, v)
	}
}

// FormatGrant writes a grant as one item of a log.
func FormatGrant(g results.Granted) string { return joined(g.Item, g.Asked, g.Got, g.Why) }

func parseGrant(side, s string) results.Granted {
	p := parted(s, 4)
	return results.Granted{Side: side, Item: p[0], Asked: p[1], Got: p[2], Why: p[3]}
}
