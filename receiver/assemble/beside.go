package assemble

import (
	"slices"

	"serialtiming/results"
)

// Beside is the sender's own log, read along with the receiver's: the same
// place in the sequence is the same character. The two clocks are never
// subtracted from each other: what the sender did is told beside the interval
// that it caused, and no one-way time is claimed.
type Beside struct {
	log  *results.LogReader
	rows []results.LogRow
	next int
	run  int32 // of the row before
	runs int   // begun so far
}

// NewBeside reads a sender's log along.
func NewBeside(l *results.LogReader) *Beside { return &Beside{log: l} }

// worstKept is how many intervals are shown with what the sender did.
const worstKept = 10

// row gives the sender's row of a character, by the order of its run and its
// place in it; nil when the log has none. Both only ever grow.
func (b *Beside) row(run int, place int64) *results.LogRow {
	for {
		for b.next == len(b.rows) {
			rows, item, err := b.log.Next()
			if err != nil {
				return nil
			}
			if item == nil {
				b.rows, b.next = rows, 0
			}
		}
		r := &b.rows[b.next]
		if r.Run != b.run {
			b.run = r.Run
			b.runs++
		}
		switch {
		case b.runs > run || b.runs == run && r.Seq > place:
			return nil
		case b.runs == run && r.Seq == place:
			return r
		}
		b.next++
	}
}

// beside sets what the sender did beside an arrival.
func (r *run) withSender(place, at, interval int64) {
	row := r.side.row(r.order, place)
	if row == nil {
		return
	}
	path := *row
	path.Arrived = results.NoInstant
	if r.period == 0 {
		path.Due = results.NoInstant
	}
	r.tally.Path(&path)
	if interval <= 0 || len(r.worst) == worstKept && interval <= r.worst[worstKept-1].IntervalNS {
		return
	}
	w := results.WorstInterval{IntervalNS: interval, AtNS: at, Place: place}
	if path.Due != results.NoInstant {
		w.DueWokeNS = new(path.Woke - path.Due)
	}
	w.WokeWroteNS = new(path.Wrote - path.Woke)
	i, _ := slices.BinarySearchFunc(r.worst, interval, func(w results.WorstInterval, v int64) int {
		return int(min(max(v-w.IntervalNS, -1), 1))
	})
	r.worst = slices.Insert(r.worst, i, w)
	r.worst = r.worst[:min(len(r.worst), worstKept)]
}
