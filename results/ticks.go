package results

import "math"

// ReadingTicks gives the tick counts, low to high, that a reading of m ms of a
// counter of hz stands for: those n with floor(n·1000/hz) = m.
func ReadingTicks(m, hz int64) (low, high int64) {
	low = (m*hz + 999) / 1000
	return low, max(low, ((m+1)*hz+999)/1000-1)
}

// ReadingSpan gives the intervals that a reading of m ms stands for, in ns: n
// ticks lie in an interval longer than n − 1 ticks and shorter than n + 1.
func ReadingSpan(m, hz int64) (from, to float64) {
	low, high := ReadingTicks(m, hz)
	return ticksNS(max(low-1, 0), hz), ticksNS(high+1, hz)
}

// OnTime gives the readings, low to high, that an interval of exactly a period
// can show, depending on where the ticks fall.
func OnTime(periodNS, hz int64) (low, high int64) {
	n := Ticks(periodNS, hz)
	return Reading(n, hz), Reading(n+1, hz)
}

func ticksNS(n, hz int64) float64 { return float64(n) * 1e9 / float64(hz) }

// quietShare is how many readings beside the two of an interval on time a
// table may hold for its mean to be called the period: of the tables of 1998
// the four quiet ones of Windows NT hold none or one in 3553.
const quietShare = 0.001

// Derived is what follows from a table of readings alone. Figures that the
// table does not allow are nil.
type Derived struct {
	MeanReading *float64 `json:"mean_reading"` // ms, as counted: below the truth, the counter rounds down
	// The mean interval on the counter's clock. The ticks of all intervals add
	// up to the whole time, so it is known to a tick divided by the intervals.
	MeanNS          *float64 `json:"mean_ns"`
	MeanPlusMinusNS *float64 `json:"mean_plus_minus_ns"`
	// The sender's period on the counter's clock: the mean interval of a quiet
	// table, in which it is told by the share of the higher reading alone.
	PeriodNS          *float64      `json:"period_ns"`
	PeriodPlusMinusNS *float64      `json:"period_plus_minus_ns"`
	OnTime            *[2]int64     `json:"on_time"` // readings that an interval on time can show
	Worst             *WorstReading `json:"worst"`
}

// WorstReading is the highest reading and the delay that it stands for.
type WorstReading struct {
	Reading int64   `json:"reading"`
	Count   int64   `json:"count"`
	FromNS  float64 `json:"from_ns"` // the interval is longer than this
	ToNS    float64 `json:"to_ns"`   // and shorter than this
	// How much longer than the period; nil without a period. Where the lower
	// bound is negative the counter saw no delay at all.
	DelayFromNS *float64 `json:"delay_from_ns"`
	DelayToNS   *float64 `json:"delay_to_ns"`
}

// Derive reads a table of readings; nil for a table of bins. periodNS is the
// sender's period as set, 0 unknown.
func Derive(t *TableData, periodNS int64) *Derived {
	if t.TickHz == nil {
		return nil
	}
	hz, n := *t.TickHz, rowCount(t)
	d := &Derived{}
	if periodNS > 0 {
		low, high := OnTime(periodNS, hz)
		d.OnTime = &[2]int64{low, high}
	}
	if n == 0 {
		return d
	}
	var readings float64
	for _, r := range t.Rows {
		readings += float64(r.Key) * float64(r.Count)
	}
	d.MeanReading = new(round3(readings / float64(n)))
	if t.Over == 0 {
		mean, pm := tickMean(t.Rows, hz)
		d.MeanNS, d.MeanPlusMinusNS = new(round3(mean)), new(round3(pm))
		if d.OnTime != nil && quiet(t, *d.OnTime, n) {
			d.PeriodNS, d.PeriodPlusMinusNS = new(round3(mean)), new(round3(pm))
		}
		d.Worst = worst(t.Rows[len(t.Rows)-1], hz, periodNS)
	}
	return d
}

func rowCount(t *TableData) (n int64) {
	for _, r := range t.Rows {
		n += r.Count
	}
	return n
}

// tickMean gives the mean interval in ns and how far it can be off: the
// counter's one tick in the whole time, and what readings that stand for two
// tick counts leave open.
func tickMean(rows []Row, hz int64) (mean, plusMinus float64) {
	var n, ticks, open float64
	for _, r := range rows {
		low, high := ReadingTicks(r.Key, hz)
		c := float64(r.Count)
		n += c
		ticks += c * float64(low+high) / 2
		open += c * float64(high-low) / 2
	}
	tick := 1e9 / float64(hz)
	return ticks / n * tick, (1 + open) / n * tick
}

func quiet(t *TableData, onTime [2]int64, n int64) bool {
	other := n
	for _, r := range t.Rows {
		if r.Key >= onTime[0] && r.Key <= onTime[1] {
			other -= r.Count
		}
	}
	return float64(other) <= quietShare*float64(n)
}

func worst(r Row, hz, periodNS int64) *WorstReading {
	w := &WorstReading{Reading: r.Key, Count: r.Count}
	w.FromNS, w.ToNS = ReadingSpan(r.Key, hz)
	w.FromNS, w.ToNS = math.Round(w.FromNS), math.Round(w.ToNS)
	if periodNS > 0 {
		w.DelayFromNS, w.DelayToNS = new(w.FromNS-float64(periodNS)), new(w.ToNS-float64(periodNS))
	}
	return w
}
