package probe

import (
	"fmt"
	"math"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/results"
	"serialtiming/sender/probe/system"
)

// clocks measures every clock that the system offers.
func (r *run) clocks() error {
	all := system.Clocks()
	r.cells = len(all) * len(r.o.Loads) * len(r.o.Priorities)
	q := r.o.share(r.cells)
	return r.eachLoad(func() error {
		return r.eachPriority(1, r.o.CPU, func(s *realtime.Session, _ string) error {
			for _, c := range all {
				if r.over() {
					break
				}
				r.cell("%s by %s", c.Name, c.Way)
				var study *clockStudy
				r.onThread(s, func() { study = studyClock(c.Read, clock.Now, q) }, func() {})
				r.report.Clock = append(r.report.Clock, study.cell(r.load, c))
				r.done++
			}
			return nil
		})
	})
}

// clockStudy is what the readings of one clock gave.
type clockStudy struct {
	readings, backward int64
	zero               int64 // pairs of equal readings
	steps              results.Histogram
	costSum            time.Duration // of the batches
	costLeast          time.Duration // of the best batch
	batches            int64
}

const (
	batch = 100 // readings that are timed together
	// clockLeast is the least for figures: a batch.
	clockLeast = batch
	// clockLongest bounds a cell: a count of readings may be meant for a
	// faster clock.
	clockLongest = time.Minute
)

// studyClock reads a clock over and over. now times it: reading now costs too,
// but only once a batch.
func studyClock(read func() int64, now func() clock.Instant, q quota) *clockStudy {
	s := &clockStudy{costLeast: math.MaxInt64}
	var values [batch + 1]int64
	limit := q.time
	if limit == 0 {
		limit = clockLongest
	}
	values[batch] = read()
	for end := now().Add(limit); now() < end && (q.count == 0 || s.readings < q.count); {
		values[0] = values[batch]
		began := now()
		for i := 1; i <= batch; i++ {
			values[i] = read()
		}
		took := now().Sub(began)
		s.costSum += took
		s.costLeast = min(s.costLeast, took)
		s.batches++
		s.readings += batch
		for i := 1; i <= batch; i++ {
			s.step(values[i] - values[i-1])
		}
	}
	return s
}

// step takes the difference of two readings in a row.
func (s *clockStudy) step(d int64) {
	switch {
	case d == 0:
		s.zero++
	case d < 0:
		s.backward++
	default:
		s.steps.Record(d, 0, false)
	}
}

func (s *clockStudy) cell(load string, c system.Clock) ClockCell {
	cell := ClockCell{Load: load, Name: c.Name, Way: c.Way}
	if c.Resolution > 0 {
		cell.ResolutionNS = &c.Resolution
	}
	if s.readings < clockLeast {
		cell.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(s.readings, "reading"), clockLeast)
		return cell
	}
	f := &ClockFigures{Readings: s.readings, Backward: s.backward}
	if s.steps.Count() > 0 {
		f.StepNS = new(s.steps.Min())
		f.StepIsBound = s.zero == 0
	}
	if v, ok := s.steps.Percentile(.5); ok {
		f.StepMedianNS = &v
	}
	f.CostMeanNS = new(round1(float64(s.costSum) / float64(s.batches*batch)))
	f.CostMinNS = new(round1(float64(s.costLeast) / batch))
	cell.Figures = f
	return cell
}

// round1 cuts to a tenth of a nanosecond: more would be noise.
func round1(v float64) float64 { return math.Round(v*10) / 10 }
