package results

import (
	"cmp"
	"math"
	"slices"
)

const (
	robustPoints = 256 // kept at most; halved when full
	robustLeast  = 5   // points before a slope is claimed
	robustSide   = 4   // points on either side that a step is judged by

	clockStepLeast = 100_000 // ns: smaller ones are taken out of the fit and not named
)

// ClockStep is an instant at which the two clocks moved against each other.
type ClockStep struct {
	AtNS   float64 // about when, ns since the log's zero
	SizeNS float64 // how far the receiver's stamps moved ahead
}

// robustFit fits a line to points that come with growing x, in constant
// memory, unmoved by outliers and by steps of y: at most 256 points are kept,
// each the lowest of as many as one kept point stands for (a delay only ever
// adds), and the slope is the median of the slopes of all pairs (Theil 1950,
// Sen 1968) once the steps have been taken out. Its breakdown point is 29 %.
//
// The zero value is empty and ready.
type robustFit struct {
	points []robustPoint
	stride int // points that each kept one stands for
	open   robustPoint
	held   int // points in open
	n      int64
}

type robustPoint struct{ x, y float64 }

// robustStep is a step of y: the first point behind it as it was added, and
// by how much y is larger from there on.
type robustStep struct {
	robustPoint
	size float64
}

// add takes a point; x must not shrink.
func (r *robustFit) add(x, y float64) {
	r.n++
	if r.held == 0 || r.below(robustPoint{x, y}, r.open) {
		r.open = robustPoint{x, y}
	}
	if r.held++; r.held < max(r.stride, 1) {
		return
	}
	r.points = append(r.points, r.open)
	r.held = 0
	if len(r.points) == robustPoints {
		r.halve()
	}
}

// below says that a lies lower than b on a line of the slope known so far.
func (r *robustFit) below(a, b robustPoint) bool {
	n := len(r.points)
	if n < 2 {
		return a.y < b.y
	}
	p, q := r.points[max(0, n-9)], r.points[n-1]
	if q.x <= p.x {
		return a.y < b.y
	}
	return a.y-b.y < (q.y-p.y)/(q.x-p.x)*(a.x-b.x)
}

// halve keeps the lower of each two points, by the slope that most have.
func (r *robustFit) halve() {
	b := localSlope(r.points)
	for i := range len(r.points) / 2 {
		p, q := r.points[2*i], r.points[2*i+1]
		if q.y-p.y < b*(q.x-p.x) {
			p = q
		}
		r.points[i] = p
	}
	r.points = r.points[:len(r.points)/2]
	r.stride = max(r.stride, 1) * 2
}

// slope gives the slope and its standard error; ok is false below five points.
func (r *robustFit) slope() (b, se float64, ok bool) {
	b, se, _, ok = r.fit()
	return b, se, ok
}

// steps gives the steps of y that the fit took out.
func (r *robustFit) steps() []robustStep {
	_, _, s, _ := r.fit()
	return s
}

// clockSteps gives the steps that mean a clock was moved, where x is a place
// of the sequence and y the residual in ns on a grid of period ns. A step that
// soon goes back again is a spell of load, under which each character is late.
func (r *robustFit) clockSteps(period int64) []ClockStep {
	var all []ClockStep
	s := r.steps()
	for i := 0; i < len(s); i++ {
		if i+1 < len(s) && math.Abs(s[i].size+s[i+1].size) < .3*math.Abs(s[i].size) {
			i++
			continue
		}
		if math.Abs(s[i].size) >= clockStepLeast {
			all = append(all, ClockStep{s[i].x*float64(period) + s[i].y, s[i].size})
		}
	}
	return all
}

func (r *robustFit) fit() (b, se float64, steps []robustStep, ok bool) {
	p := slices.Clone(r.points)
	if len(p) < robustLeast || p[len(p)-1].x <= p[0].x {
		return 0, 0, nil, false
	}
	// Relative to the first, so that hours of nanoseconds keep their digits.
	x0, y0 := p[0].x, p[0].y
	slope := localSlope(p)
	for i := range p {
		p[i].x -= x0
		p[i].y -= y0 + slope*p[i].x // x is relative by now
	}
	steps = unstep(p)
	for i := range steps {
		s := &steps[i]
		s.x, s.y = s.x+x0, s.y+y0+slope*s.x
	}
	rest, se := theilSen(p)
	return slope + rest, se, steps, true
}

// localSlope is the median of the slopes between points a sixteenth of the
// whole apart: a step changes only the few that straddle it.
func localSlope(p []robustPoint) float64 {
	lag := max(1, len(p)/16)
	s := make([]float64, 0, len(p))
	for i := lag; i < len(p); i++ {
		if dx := p[i].x - p[i-lag].x; dx > 0 {
			s = append(s, (p[i].y-p[i-lag].y)/dx)
		}
	}
	return medianOf(s)
}

// unstep finds steps of y in points without a slope, takes them out and gives
// them. A step is where the medians of four points on either side differ by
// far more than they do elsewhere; the largest goes first.
func unstep(p []robustPoint) (steps []robustStep) {
	const w = robustSide
	if len(p) < 4*w {
		return nil
	}
	d := make([]float64, len(p))
	for range 16 {
		at, limit := largestStep(p, d)
		if at < 0 || math.Abs(d[at]) < limit {
			break
		}
		size := medianY(p[at:min(at+2*w, len(p))]) - medianY(p[max(at-2*w, 0):at])
		steps = append(steps, robustStep{p[at], size})
		for i := at; i < len(p); i++ {
			p[i].y -= size
		}
	}
	slices.SortFunc(steps, func(a, b robustStep) int { return cmp.Compare(a.x, b.x) })
	total := 0.
	for i := range steps { // y as it was, with the steps before it
		steps[i].y += total
		total += steps[i].size
	}
	return steps
}

// largestStep fills d with the difference of the medians on both sides of each
// point and gives the place of the largest and what counts as a step.
func largestStep(p []robustPoint, d []float64) (at int, limit float64) {
	const w = robustSide
	at = -1
	abs := make([]float64, 0, len(p))
	for i := w; i+w <= len(p); i++ {
		d[i] = medianY(p[i:i+w]) - medianY(p[i-w:i])
		abs = append(abs, math.Abs(d[i]))
	}
	for i := w; i+w <= len(p); i++ {
		// Among neighbours that see the step alike, the one where it is.
		if at < 0 || math.Abs(d[i]) > math.Abs(d[at])*1.0001 ||
			math.Abs(d[i]) > math.Abs(d[at])*.9999 && jump(p, i) > jump(p, at) {
			at = i
		}
	}
	return at, max(12*medianOf(abs), 20_000)
}

func jump(p []robustPoint, i int) float64 { return math.Abs(p[i].y - p[i-1].y) }

func medianY(p []robustPoint) float64 {
	var y [2 * robustSide]float64
	for i, q := range p {
		y[i] = q.y
	}
	return medianOf(y[:len(p)])
}

// theilSen gives the median of the slopes of all pairs and its standard error:
// Sen's interval by Kendall's rank statistic, widened where residuals in a row
// resemble each other (a crystal that warms up), since then they count for
// fewer.
func theilSen(p []robustPoint) (b, se float64) {
	s := make([]float64, 0, len(p)*(len(p)-1)/2)
	for i := range p {
		for j := i + 1; j < len(p); j++ {
			if dx := p[j].x - p[i].x; dx > 0 {
				s = append(s, (p[j].y-p[i].y)/dx)
			}
		}
	}
	if len(s) == 0 {
		return 0, math.Inf(1)
	}
	slices.Sort(s)
	b = s[len(s)/2]
	n := float64(len(p))
	c := 1.96 * math.Sqrt(n*(n-1)*(2*n+5)/18)
	low := s[max(int((float64(len(s))-c)/2), 0)]
	high := s[min(int((float64(len(s))+c)/2), len(s)-1)]
	return b, (high - low) / (2 * 1.96) * correlated(p, b)
}

// correlated gives the factor by which the correlation of neighbouring
// residuals widens an error: √((1+ρ)/(1−ρ)), at least 1. Signs are used in
// place of values, so that an outlier counts once.
func correlated(p []robustPoint, b float64) float64 {
	res := make([]float64, len(p))
	for i, q := range p {
		res[i] = q.y - b*q.x
	}
	m := medianOf(slices.Clone(res))
	same := 0.
	for i := 1; i < len(res); i++ {
		if (res[i] > m) == (res[i-1] > m) {
			same++
		}
	}
	// For Gaussian values the signs agree with probability ½ + asin(ρ)/π.
	rho := math.Sin(math.Pi * (same/float64(len(res)-1) - .5))
	rho = min(max(rho, 0), .98)
	return math.Sqrt((1 + rho) / (1 - rho))
}

// medianOf sorts v and gives its middle, 0 when empty.
func medianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}
