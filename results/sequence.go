package results

import (
	"errors"
	"io"
)

// SequenceOptions say how one run of a log is read into blocks; they must be
// those of its report, so that both tell of the same values.
type SequenceOptions struct {
	Hz     int64 // above 0: intervals are readings of this counter
	Above  int64 // in readings, a reading above it (ns) is late
	Period int64 // of the grid in ns; 0: no lateness
	Grid   bool  // the sender's timer keeps its grid
	LateBy int64 // ns; above it a lateness is late
	// Follows says whether a character is the one behind another in the run's
	// sequence; nil: any is.
	Follows func(before, b byte) bool
}

// Sequence is a run as blocks: what a report cannot hold, the order of its
// values.
type Sequence struct {
	Interval *Blocks
	Lateness *Blocks // empty where it is not known
}

// ReadSequences reads a log's runs in their order, in one pass and bounded
// memory. options is asked at each run's first character for the i-th run;
// runs that the log closes as noise are none and are read again as the next.
func ReadSequences(l *LogReader, noise string, options func(i int) SequenceOptions) ([]Sequence, error) {
	s := &sequencer{noise: noise, options: options}
	for {
		rows, item, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			s.close()
			return s.done, nil
		case err != nil:
			return nil, err
		case item != nil:
			s.item(item)
		default:
			for i := range rows {
				s.row(&rows[i])
			}
		}
	}
}

type sequencer struct {
	noise   string
	options func(i int) SequenceOptions
	done    []Sequence

	loopback             bool // the log holds what was sent beside what came back
	open, isNoise, stale bool
	number               int
	opt                  SequenceOptions
	seq                  Sequence
	grid                 *grid
	events, at, place    int64
	before               int16 // the character before, -1 none
	joined               bool  // rows with batch 0 belong to the event before
}

func (s *sequencer) item(it *LogItem) {
	s.joined = false
	if it.Section != RunKey && it.Section != EndKey {
		s.loopback = s.loopback || it.Section == LogKey && it.Key == "loopback"
		return
	}
	s.enter(it.Run)
	switch {
	case it.Section == RunKey && it.Key == "stale":
		s.stale = true
	case it.Section == EndKey && it.Key == "reason" && it.Value == s.noise:
		s.isNoise = true
	}
}

func (s *sequencer) enter(number int) {
	if s.open && s.number == number {
		return
	}
	s.close()
	s.open, s.number = true, number
}

// close ends the run.
func (s *sequencer) close() {
	if s.open && !s.isNoise {
		if s.grid != nil {
			s.grid.finish()
		}
		if s.seq.Interval == nil {
			s.begin()
		}
		s.done = append(s.done, s.seq)
	}
	*s = sequencer{noise: s.noise, options: s.options, loopback: s.loopback, done: s.done}
}

// begin asks how the run is to be read.
func (s *sequencer) begin() {
	s.opt = s.options(len(s.done))
	s.seq = Sequence{NewBlocks(s.opt.Above), NewBlocks(s.opt.LateBy)}
	s.before = -1
	if s.opt.Period > 0 {
		s.grid = newGrid(s.opt.Period, s.opt.Grid, func(v int64, _ *gridPoint) { s.lateness(v) })
	}
}

func (s *sequencer) lateness(v int64) { s.seq.Lateness.Add(v, float64(v)) }

// row takes a character, by the rules of the report: rows of one read share
// an instant, a step that is not forward is no interval, and the first behind
// stale characters is none.
func (s *sequencer) row(r *LogRow) {
	s.enter(int(r.Run))
	if s.seq.Interval == nil {
		s.begin()
	}
	switch {
	case s.loopback && r.Arrived == NoInstant: // it never came back
	case s.loopback, r.Arrived != NoInstant && r.Wrote == NoInstant:
		s.arrival(r)
	default:
		s.sent(r)
	}
}

// arrival takes a character that came.
func (s *sequencer) arrival(r *LogRow) {
	if s.loopback && r.Batch > 0 || !s.loopback && (!s.joined || r.Batch != 0 || r.Arrived != s.at) {
		s.event(r.Arrived)
	}
	s.joined = true
	if s.grid != nil {
		s.character(r)
	}
}

// sent takes a character of a sender's log, whose lateness needs no fit.
func (s *sequencer) sent(r *LogRow) {
	s.event(r.Wrote)
	s.grid, s.joined = nil, false
	if s.opt.Period > 0 && r.Due != NoInstant && r.Woke != NoInstant {
		s.lateness(r.Woke - r.Due)
	}
}

func (s *sequencer) event(at int64) {
	iv := at - s.at
	first := s.events == 0
	s.at = at
	s.events++
	if first || iv <= 0 || s.stale && s.events == 2 {
		return
	}
	if s.opt.Hz == 0 {
		s.seq.Interval.Add(iv, float64(iv))
		return
	}
	n := Ticks(at, s.opt.Hz) - Ticks(at-iv, s.opt.Hz)
	s.seq.Interval.Add(Reading(n, s.opt.Hz)*1e6, ticksNS(n, s.opt.Hz))
}

// character gives the grid one arrival. A character that does not follow the
// one before leaves open how many were lost.
func (s *sequencer) character(r *LogRow) {
	certain := s.before < 0 || s.opt.Follows == nil || r.Byte >= 0 && s.opt.Follows(byte(s.before), byte(r.Byte))
	s.grid.add(r.Arrived, s.place, !certain, r.Flags&Disturbed != 0)
	s.place++
	s.before = r.Byte
}
