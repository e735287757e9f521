package assemble

import (
	"bytes"
	"strconv"

	"serialtiming/internal/serialport"
	"serialtiming/results"
)

// LineErrors follows the driver's counters of line errors while a capture runs.
//
// The system says how many there were, not which character had one. So they
// are placed by when the counters moved: on the first arrival since the look
// before, for an overrun or a break on the one with the zero that the driver
// hands on in its place. Having the errors marked in the stream (PARMRK) would
// place them exactly, but the kernel then takes each character by itself, and
// what is timed here is that very path.
type LineErrors struct {
	read     func() (serialport.Counters, error)
	counting bool
	looked   serialport.Counters // at the last look
	closed   serialport.Counters // when the last run was closed
	pending  results.Flags       // noticed, and no arrival yet to carry them
}

// FollowLineErrors begins now; where port or system count nothing all methods
// do nothing.
func FollowLineErrors(port serialport.Port) *LineErrors {
	l := &LineErrors{read: func() (serialport.Counters, error) { return serialport.ReadCounters(port) }}
	c, err := l.read()
	l.counting, l.looked, l.closed = err == nil, c, c
	return l
}

// zeroed are those for which the driver hands on a zero.
const zeroed = results.Overrun | results.Break

// Look reads the counters and flags what moved on one of the n arrivals since
// the last look, in their order; without any, on the first that comes.
func (l *LineErrors) Look(n int, arrival func(i int) *results.Event) {
	due := l.pending
	l.pending |= l.moved()
	if l.pending == 0 || n == 0 {
		return
	}
	for i := 0; i < n && l.pending&zeroed != 0; i++ {
		if e := arrival(i); bytes.IndexByte(e.Bytes, 0) >= 0 {
			e.Flags |= l.pending & zeroed
			l.pending &^= zeroed
		}
	}
	// A zero may still be on its way: one more look.
	now := l.pending & (due | ^zeroed)
	arrival(0).Flags |= now
	l.pending &^= now
}

// moved gives the kinds that were counted since the last look.
func (l *LineErrors) moved() (f results.Flags) {
	if !l.counting {
		return 0
	}
	now, err := l.read()
	if err != nil {
		return 0 // the port is gone, which others say
	}
	d := now.Sub(l.looked)
	l.looked = now
	for _, k := range []struct {
		count uint32
		flag  results.Flags
	}{
		{d.Framing, results.Framing}, {d.Parity, results.Parity},
		{d.Overrun | d.BufferOverrun, results.Overrun}, {d.Break, results.Break},
	} {
		if k.count > 0 {
			f |= k.flag
		}
	}
	return f
}

// Closing gives the items of "# end N": the counts since the run before.
func (l *LineErrors) Closing() []results.KeyValue {
	if !l.counting {
		return nil
	}
	now, err := l.read()
	if err != nil {
		return nil
	}
	d := now.Sub(l.closed)
	l.closed = now
	var items []results.KeyValue
	for _, k := range []struct {
		key string
		n   int64
	}{
		{"framing", int64(d.Framing)}, {"parity", int64(d.Parity)},
		{"overrun", int64(d.Overrun) + int64(d.BufferOverrun)}, {"break", int64(d.Break)},
	} {
		items = append(items, results.KeyValue{Key: k.key, Value: strconv.FormatInt(k.n, 10)})
	}
	return items
}
