package results

import (
	"math"
	"slices"
)

const (
	gridBlock = 1024 // characters of one fit
	gridAhead = 64   // characters looked at to tell a shift from a late spell
	gridShort = 32   // below so many characters a line's slope is taken from before
	gridCell  = 16   // the lowest of so many characters stands for them in a fit
	gridKnot  = 64   // the lowest of so many characters goes into the measured period
)

// gridPoint is one arrival: its place in the sequence and how far it lies
// behind place·period. late is filled in by the fit.
type gridPoint struct {
	at, place, residual int64
	fresh               bool // the place is a guess: start a new grid here
	disturbed           bool
	hurried             bool // the next one followed within half a period
}

// grid fits the sender's schedule to arrivals, since the receiver does not
// know its phase and its clock runs at another rate: a line under the
// residuals, block by block, so that one pass in constant memory gives it.
//
// An arrival is never early on the fitted grid: the fit is the edge of the
// lower convex hull above the middle of the block, the line that lies under
// all points and closest to them. Where the residuals step and do not come
// back (a sender that skipped a period or moved its grid, a long stall) a new
// grid starts behind the step; the character that brought the step is judged
// by the old one, on which it was due.
type grid struct {
	period int64 // nominal, ns
	whole  bool  // steps are whole periods: the timer keeps its grid
	late   func(lateness int64, p *gridPoint)

	points []gridPoint // the block being gathered
	lows   []gridPoint // the lowest of each cell of the segment being fitted
	hull   []gridPoint // of lows

	slope    float64 // of the last long fit, ns a place
	line     fitLine // of the segment before
	haveLine bool
	offset   int64 // ns of whole-period steps taken out of the knots so far

	knots robustFit
}

type fitLine struct {
	x0    int64
	y0, b float64
}

func (l fitLine) at(x int64) float64 { return l.y0 + l.b*float64(x-l.x0) }

// newGrid makes a grid of a nominal period in ns; late is called once for
// every character, in order, some time after it was added.
func newGrid(period int64, whole bool, late func(int64, *gridPoint)) *grid {
	return &grid{period: period, whole: whole, late: late, points: make([]gridPoint, 0, gridBlock)}
}

// add takes the arrival of the character at that place of the sequence. fresh
// says that the place is not certain (characters were lost before it), so
// that nothing can be said of its lateness.
func (g *grid) add(at, place int64, fresh, disturbed bool) {
	if n := len(g.points); n > 0 {
		// What follows at once catches up: the one before was late, and tells
		// nothing of where the grid is.
		p := &g.points[n-1]
		p.hurried = at-p.at < g.period/2 && !fresh
	}
	g.points = append(g.points, gridPoint{at, place, at - place*g.period, fresh, disturbed, false})
	if len(g.points) == gridBlock {
		g.fit(false)
	}
}

// finish fits what is left.
func (g *grid) finish() { g.fit(true) }

// fit judges the block but for its last points, which are kept to be looked
// at from both sides.
func (g *grid) fit(last bool) {
	if !g.whole {
		g.unslope()
	}
	end := len(g.points)
	if !last {
		end -= gridAhead
	}
	start := 0
	for start < end {
		next, step := g.segment(start, end)
		g.judge(g.points[start:next], step)
		start = next
	}
	g.points = append(g.points[:0], g.points[end:]...)
}

// segment gives the end of the points that share a grid, from start, and
// whether its last one brought the step that ends it.
func (g *grid) segment(start, end int) (next int, step bool) {
	limit := uint64(max(g.period/2, 1))
	before := start // the last point that tells of the grid
	for i := start + 1; i < end; i++ {
		p := &g.points[i]
		if p.fresh {
			return i, false
		}
		if p.hurried {
			continue
		}
		// Within the limit on either side, in one comparison.
		jump := uint64(p.residual-g.points[before].residual) + limit
		if jump > 2*limit && g.steps(start, before, i) {
			if i > before+1 { // the late ones between brought it
				return i, false
			}
			return i + 1, true
		}
		before = i
	}
	return end, false
}

// steps says whether the residuals, which jump from one point to the next that
// tells of the grid, stay away from their level.
func (g *grid) steps(start, before, i int) bool {
	limit := max(g.period/2, 1)
	up := g.points[i].residual > g.points[before].residual
	after, n := g.level(i+1, len(g.points), !up)
	if n < 3 {
		return false
	}
	was, _ := g.level(max(start, i-gridAhead), i, false)
	if up {
		return after-was > limit
	}
	return after-was < -limit
}

// level gives the lowest, or highest, residual of up to gridAhead points that
// tell of the grid, and how many there were.
func (g *grid) level(from, to int, highest bool) (v int64, n int) {
	for _, p := range g.points[from:to] {
		if p.fresh && n > 0 || n == gridAhead {
			break
		}
		if p.hurried {
			continue
		}
		if n == 0 || highest && p.residual > v || !highest && p.residual < v {
			v = p.residual
		}
		n++
	}
	return v, n
}

// judge fits one segment and reports its characters. When a step ended it,
// its last character is the one that brought the step.
func (g *grid) judge(p []gridPoint, step bool) {
	body := p
	if step && len(p) > 1 {
		body = p[:len(p)-1]
	}
	line := g.support(body)
	for i := range p {
		q := &p[i]
		// The line lies below: what rounding puts above it is on time.
		g.late(max(int64(float64(q.residual)-line.at(q.place)+0.5), 0), q)
	}
	g.knot(body, line)
	g.line, g.haveLine = line, true
}

// support gives the edge of the lower convex hull over the middle of p. Only
// the lowest of each gridCell characters, by the slope known so far, can lie
// on it as long as that slope is about right; if it was not, once more.
func (g *grid) support(p []gridPoint) fitLine {
	if len(p) < gridShort {
		g.lows = append(g.lows[:0], p...)
		return g.under(p)
	}
	for range 3 {
		g.lowest(p)
		s, ok := g.edge(p[len(p)/2].place)
		if !ok {
			break
		}
		s = g.sane(s)
		off := s - g.slope
		g.slope = s
		if math.Abs(off)*gridCell < 100 {
			break
		}
	}
	return g.under(g.lows)
}

// clockMost is the most that two clocks' rates can differ by, 1000 ppm: ten
// times what bad crystals do, twice what NTP slews. A steeper line is no clock.
const clockMost = 1e-3

// sane bounds a slope where it can only be the two clocks' difference.
func (g *grid) sane(s float64) float64 {
	if !g.whole {
		return s
	}
	most := float64(g.period) * clockMost
	return max(-most, min(s, most))
}

// lowest gathers the lowest point of each cell, by the slope known so far.
func (g *grid) lowest(p []gridPoint) {
	g.lows = g.lows[:0]
	for len(p) > 0 {
		cell := p[:min(gridCell, len(p))]
		p = p[len(cell):]
		low, least := 0, math.Inf(1)
		x0, y0 := cell[0].place, cell[0].residual
		for i := range cell {
			if d := float64(cell[i].residual-y0) - g.slope*float64(cell[i].place-x0); d < least {
				low, least = i, d
			}
		}
		g.lows = append(g.lows, cell[low])
	}
}

// edge gives the slope of the hull's edge over a place; ok is false when the
// hull is a point.
func (g *grid) edge(middle int64) (slope float64, ok bool) {
	hull := g.hull[:0]
	for _, q := range g.lows {
		for len(hull) >= 2 && !turnsUp(&hull[len(hull)-2], &hull[len(hull)-1], &q) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, q)
	}
	g.hull = hull
	for i := 1; i < len(hull); i++ {
		a, b := &hull[i-1], &hull[i]
		if b.place > a.place && (b.place >= middle || i == len(hull)-1) {
			return float64(b.residual-a.residual) / float64(b.place-a.place), true
		}
	}
	return 0, false
}

// under gives the line of the known slope that touches p from below.
func (g *grid) under(p []gridPoint) fitLine {
	line := fitLine{p[0].place, float64(p[0].residual), g.slope}
	low := 0.0
	for _, q := range p {
		low = min(low, float64(q.residual)-line.at(q.place))
	}
	line.y0 += low
	return line
}

func turnsUp(a, b, c *gridPoint) bool {
	// In floating point, where the products cannot overflow.
	return float64(b.residual-a.residual)*float64(c.place-b.place) <
		float64(c.residual-b.residual)*float64(b.place-a.place)
}

// knot feeds the measured period: of every gridKnot characters the one that
// lies lowest, since a delay only ever adds. Whole periods that a grid-keeping
// timer skipped are taken out.
func (g *grid) knot(p []gridPoint, line fitLine) {
	if !g.whole || len(p) == 0 {
		return
	}
	if g.haveLine {
		step := line.at(p[0].place) - g.line.at(p[0].place)
		g.offset += int64(math.Round(step/float64(g.period))) * g.period
	}
	if len(p) < gridShort {
		return
	}
	for cells := range slices.Chunk(g.lows, gridKnot/gridCell) {
		low, rest := cells[0], math.Inf(1)
		for _, q := range cells {
			if r := float64(q.residual) - line.at(q.place); r < rest {
				low, rest = q, r
			}
		}
		// On the schedule's own grid the character stands later by the skipped places.
		g.knots.add(float64(low.place+g.offset/g.period), float64(low.residual-g.offset))
	}
}

// unslope takes the mean drift out of the block when the timer does not keep
// its grid: each of its periods is longer than asked, and the drift must not
// look like a step. The median of the differences is that drift.
func (g *grid) unslope() {
	if len(g.points) < gridShort {
		return
	}
	d := make([]int64, 0, gridBlock)
	for i := 1; i < len(g.points); i++ {
		if n := g.points[i].place - g.points[i-1].place; n == 1 {
			d = append(d, g.points[i].at-g.points[i-1].at)
		}
	}
	if len(d) == 0 {
		return
	}
	slices.Sort(d)
	g.period = d[len(d)/2]
	for i := range g.points {
		g.points[i].residual = g.points[i].at - g.points[i].place*g.period
	}
	g.slope = 0
}
