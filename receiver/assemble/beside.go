package assemble

import (
	"fmt"
	"slices"
	"strconv"

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

	said  map[[2]string]string // what a run of the log announced, by its number and the key
	about int                  // that run
	wrong string               // how the logs do not belong together, "" if they do
}

// NewBeside reads a sender's log along.
func NewBeside(l *results.LogReader) *Beside { return &Beside{log: l, said: map[[2]string]string{}} }

// Wrong says in what the two logs are not of the same runs, "" if in nothing.
func (b *Beside) Wrong() string { return b.wrong }

// check compares what both logs say of a run.
func (b *Beside) check(r *run) {
	for _, k := range r.data.Announced {
		switch k.Key {
		case "label", "period_ns", "count", "duration_ns", "timer":
			if said := b.said[[2]string{strconv.Itoa(b.runs), k.Key}]; said != k.Value && b.wrong == "" {
				b.wrong = fmt.Sprintf("run %d: %s is %q in the sender's log and %q here", b.runs, k.Key, said, k.Value)
			}
		}
	}
}

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
			switch {
			case item == nil:
				b.rows, b.next = rows, 0
			case item.Section == results.RunKey:
				if item.Run != b.about {
					b.about = item.Run
					clear(b.said)
				}
				b.said[[2]string{strconv.Itoa(item.Run), item.Key}] = item.Value
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
	if row == nil || row.Wrote == results.NoInstant {
		r.alone++
		return
	}
	if !r.checked {
		r.checked = true
		r.side.check(r)
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
