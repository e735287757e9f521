package importer

import (
	"fmt"
	"io"

	"serialtiming/results"
)

// A record is what one row of a file says. A record without data marks the
// character before it: its flags are added to that one's.
type record struct {
	at    int64 // ns, from whatever zero the file has
	step  int64 // ns, the place value of the stamp's last digit
	ch    *channel
	data  []byte // valid until the next record
	flags results.Flags
	// Of tools that drop trailing zeros: significant digits of the stamp, and
	// the step that the row's other times show, in ns.
	digits  int
	fine    int64
	reset   bool // at belongs to a new base: a step back here is no fault of a clock
	unknown bool // some of data is placeholders; seen by itself when all of it is
}

// A reader is an importer at work. next fills in a record and gives io.EOF
// behind the last one; rows that are no events, it skips.
type reader interface {
	next(*record) error
}

// Step says what lies between an event and the one before it.
type Step uint8

const (
	First    Step = iota // nothing before it
	Interval             // an interval, for the histogram
	Zero                 // the same stamp again
	Backward             // time ran back
	Stale                // the first chunk had waited before the capture began
)

func (s Step) String() string {
	return [...]string{"first", "interval", "zero", "backward", "stale"}[s]
}

// Source gives the events of one channel of one file.
type Source struct {
	Name       string
	Format     string // a name of Formats
	Class      string // "character", "chunk" or "line"
	TimeSource string // what a stamp is the time of, for people

	in      *input
	rd      reader
	rec     record
	chosen  *channel
	quantum quantum
	flags   results.Flags // found before there was a character to carry them
	err     error         // how it ended

	spare   []byte   // the buffer that pending does not use
	pending queued   // waits for flags that belong to it
	opening []queued // the first chunks, looked at together
	opened  bool

	events   int64
	zero     int64 // stamp of the first event
	before   int64 // stamp of the event before
	lastStep Step
	stale    bool // the step to the next event is stale
}

// queued is a record with bytes of its own.
type queued struct {
	at, step, fine int64
	digits         int
	data           []byte
	flags          results.Flags
	reset          bool
	full           bool
}

func newSource(in *input, im *importer, rd reader) *Source {
	return &Source{Name: in.name, Format: im.Name, Class: im.Class, TimeSource: im.TimeSource,
		in: in, rd: rd, opened: im.Class != ClassChunk}
}

// Next gives the next event of the channel, io.EOF behind the last one. At is
// in nanoseconds from the channel's first event and may run backward: Step
// says which differences are intervals. Bytes is valid until the next call and
// never empty (see Report.BytesUnknown).
//
// Instead of io.EOF it may end in *ChannelsError or *Refusal: then the events
// before it are worth nothing.
func (s *Source) Next() (results.Event, error) {
	if !s.opened {
		s.open()
	}
	if len(s.opening) > 0 {
		q := s.opening[0]
		s.opening = s.opening[1:]
		return s.event(q)
	}
	if s.err != nil {
		return results.Event{}, s.err
	}
	q, err := s.dequeue()
	if err != nil {
		s.err = err
		return results.Event{}, err
	}
	return s.event(q)
}

// dequeue gives the pending record once nothing more can be added to it.
func (s *Source) dequeue() (queued, error) {
	for {
		err := s.fetch()
		if err != nil {
			q := s.pending
			if s.pending = (queued{}); err == io.EOF && q.full {
				return q, nil
			}
			return queued{}, err
		}
		if len(s.rec.data) == 0 {
			if s.pending.full {
				s.pending.flags |= s.rec.flags
			} else {
				s.flags |= s.rec.flags
			}
			continue
		}
		q := s.pending
		s.pend(q.data)
		if q.full {
			return q, nil
		}
	}
}

// pend copies the record. The bytes that are about to be given out must stay,
// so the two buffers take turns.
func (s *Source) pend(given []byte) {
	r := &s.rec
	s.pending = queued{at: r.at, step: r.step, fine: r.fine, digits: r.digits,
		flags: r.flags | s.flags, reset: r.reset, full: true,
		data: append(s.spare[:0], r.data...)}
	s.spare, s.flags = given, 0
}

// fetch reads to the next record of the chosen channel.
func (s *Source) fetch() error {
	for {
		s.rec = record{}
		if err := s.rd.next(&s.rec); err != nil {
			return s.finish(err)
		}
		ch := s.rec.ch
		if n := len(s.rec.data); n > 0 {
			ch.Events++
			ch.Bytes += int64(n)
		}
		if ch == s.chosen {
			s.noteUnknown()
			return nil
		}
		if !ch.taken || len(s.rec.data) == 0 {
			continue
		}
		if s.chosen != nil {
			return s.ambiguous()
		}
		s.chosen = ch
		s.noteUnknown()
		return nil
	}
}

func (s *Source) noteUnknown() {
	if s.rec.unknown || isPlaceholder(s.rec.data) {
		s.in.sink.report.BytesUnknown = true
	}
}

// ambiguous reads on to the end, so that the counts are those of the file.
func (s *Source) ambiguous() error {
	for {
		if err := s.rd.next(&s.rec); err == io.EOF {
			break
		} else if err != nil {
			return named(err, s.Name, s.Format)
		}
		if n := len(s.rec.data); n > 0 {
			s.rec.ch.Events++
			s.rec.ch.Bytes += int64(n)
		}
	}
	return s.channelsError()
}

func (s *Source) channelsError() error {
	return &ChannelsError{Name: s.Name, Asked: s.in.opt.Channel, Channels: s.in.ch.list()}
}

// finish judges the file as a whole.
func (s *Source) finish(err error) error {
	if err != io.EOF {
		return named(err, s.Name, s.Format)
	}
	r := &s.in.sink.report
	switch {
	case r.Bad*2 > s.in.sink.line:
		why := fmt.Sprintf("%d of %d lines are not readable", r.Bad, s.in.sink.line)
		if len(r.BadLines) > 0 {
			why += ", the first: " + r.BadLines[0].String(s.Name)
		}
		return s.refuse(why, "choose the right format with --format")
	case s.chosen == nil && len(s.in.ch.all) > 0:
		return s.channelsError()
	case s.chosen == nil:
		s.in.sink.warn("there is no event in the file")
	case s.tooCoarse():
		return s.refuseCoarse()
	}
	return io.EOF
}

func (s *Source) refuse(why, hint string) error {
	return &Refusal{Name: s.Name, Format: s.Format, Why: why, Hint: hint}
}

const second = int64(1e9)

// tooCoarse also counts the pending stamp, which the quantum has not seen.
func (s *Source) tooCoarse() bool {
	return s.quantum.text() >= second || s.events == 0 && s.pending.full && s.pending.step >= second
}

func (s *Source) refuseCoarse() error {
	return s.refuse("its stamps are whole seconds: there is no interval between characters in them",
		"let the tool write milliseconds or microseconds")
}

// event measures the step to a record and gives it out.
func (s *Source) event(q queued) (results.Event, error) {
	s.quantum.stamp(q.step, q.fine, q.digits)
	if s.events == 0 {
		s.zero = q.at
		s.lastStep = First
	} else {
		s.lastStep = s.judge(q)
	}
	s.before = q.at
	if s.events++; s.events == 1000 && s.tooCoarse() {
		s.err, s.opening = s.refuseCoarse(), nil
		return results.Event{}, s.err
	}
	// The step behind the first chunk is stale because that chunk is.
	return results.Event{At: q.at - s.zero, Bytes: q.data, Flags: q.flags, Stale: s.stale}, nil
}

func (s *Source) judge(q queued) Step {
	d, r := q.at-s.before, &s.in.sink.report
	s.quantum.difference(d)
	if s.stale {
		s.stale = false
		r.Stale++
		return Stale
	}
	switch {
	case d == 0:
		r.Zero++
		return Zero
	case d < 0:
		r.Backward++
		if q.reset {
			r.Resets++
		}
		return Backward
	}
	return Interval
}

// Step says what lies between the event last given and the one before it.
func (s *Source) Step() Step { return s.lastStep }

// Channel is the channel that the events are of, "" before the first one.
func (s *Source) Channel() string {
	if s.chosen == nil {
		return ""
	}
	return s.chosen.Name
}

// Marks says which line errors the file would mark on its characters: where it
// marks none of these, there were none. Known once there was an event.
func (s *Source) Marks() results.Flags {
	if s.chosen == nil {
		return s.in.marks
	}
	return s.in.marks | s.chosen.marks
}

// Zero is the stamp of the first event in nanoseconds from the file's own
// zero: 1970 in UTC or local time, midnight, boot, or the capture's start.
func (s *Source) Zero() int64 { return s.zero }

// Quantum is the step of the stamps in nanoseconds as inferred so far, 0 when
// unknown; final behind io.EOF.
func (s *Source) Quantum() int64 { return s.quantum.ns() }

// Report tells all that was not an event; complete behind io.EOF.
func (s *Source) Report() Report {
	r := s.in.sink.report
	r.Lines = s.in.sink.line
	r.Channels = s.in.ch.list()
	return r
}
