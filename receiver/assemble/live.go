package assemble

import (
	"time"

	"serialtiming/results"
)

// Live is what a live view shows of the current run.
type Live struct {
	results.Snapshot
	Lost, Wrong int64
	Remaining   time.Duration // by what was announced, 0 unknown
}

// Live gives the state of the current run.
func (a *Assembler) Live() Live {
	r := a.cur
	if r == nil || r.tally == nil {
		return Live{}
	}
	l := Live{Snapshot: r.tally.Snapshot(a.lastIvl)}
	if r.checker != nil {
		c := r.checker.Counts()
		l.Lost, l.Wrong = c.Lost, c.Corrupted+c.Extra+r.checker.Pending()
	}
	if r.count > 0 {
		l.Remaining = time.Duration(max(r.count-l.Characters-l.Lost, 0) * r.period)
	} else if r.duration > 0 {
		l.Remaining = time.Duration(max(r.duration-(l.At-r.tally.First()), 0))
	}
	return l
}
