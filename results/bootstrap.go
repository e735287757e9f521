package results

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	replicates = 999
	// Level is the confidence of a difference's bounds.
	Level = 0.95

	// What a figure needs before its uncertainty is told: a spread taken from
	// fewer is an anecdote itself.
	leastAbove = 40 // values from a percentile up, or late
	leastSpots = 8  // blocks with such a value
)

// statistic is a figure of a draw of blocks: take[i] says how often block i
// was drawn.
type statistic func(s *series, take []int64) float64

func meanOf(s *series, take []int64) float64 {
	var sum float64
	var n int64
	for i, w := range take {
		sum += float64(w) * s.sum[i]
		n += w * s.n[i]
	}
	return sum / float64(n)
}

func shareOf(s *series, take []int64) float64 {
	var k, n int64
	for i, w := range take {
		k += w * s.above[i]
		n += w * s.n[i]
	}
	return float64(k) / float64(n)
}

// quantileOf gives the nearest-rank percentile of a draw, taken in a straight
// line through its cell: a spread must not jump by whole cells.
func quantileOf(q float64) statistic {
	return func(s *series, take []int64) float64 {
		var n int64
		for i, w := range take {
			n += w * s.n[i]
		}
		rank := nearestRank(q, n)
		low, high := 0, len(s.values)-1
		for low < high {
			mid := (low + high) / 2
			if s.upTo(mid, take) >= rank {
				high = mid
			} else {
				low = mid + 1
			}
		}
		return s.inside(low, take, rank)
	}
}

// inside places a rank between the edges of its cell.
func (s *series) inside(v int, take []int64, rank int64) float64 {
	width := cellWidth(s.values[v])
	if width <= 1 {
		return float64(s.values[v])
	}
	var before int64
	if v > 0 {
		before = s.upTo(v-1, take)
	}
	in := (float64(rank-before) - 0.5) / float64(s.upTo(v, take)-before)
	return float64(s.values[v]) + (in-0.5)*width
}

// cellWidth gives the width of the cell that a value lies in, in ns.
func cellWidth(v int64) float64 {
	e, _ := bucket(magnitude(v))
	return float64(uint64(1) << max(e-1, 0))
}

// upTo counts the drawn values up to values[v].
func (s *series) upTo(v int, take []int64) (n int64) {
	for i, c := range s.counts[v*len(take) : (v+1)*len(take)] {
		n += take[i] * int64(c)
	}
	return n
}

// Why there is no uncertainty; "" is that there is one.
const (
	whyShort = "too few intervals"
	whyRare  = "too few values beyond it"
	whyDrift = "it drifts in spells as long as the blocks"
)

// interval gives how far below and above the difference b − a of a statistic
// the truth may lie, at Level, by drawing whole blocks of each sequence: what
// is correlated stays together. Non-overlapping blocks (Carlstein, "The use of
// subseries values for estimating the variance of a general statistic from a
// stationary sequence", Annals of Statistics 14, 1986), so long that
// neighbours are no longer alike; the few blocks are paid for by Student's
// factor. The draws are the same each time. second says that it is b that why
// tells of.
func interval(a, b *series, of statistic, spots func(*series) []float64) (below, over float64, why string, second bool) {
	if a, why = a.independent(spots); why != "" {
		return 0, 0, why, false
	}
	if b, why = b.independent(spots); why != "" {
		return 0, 0, why, true
	}
	all := func(s *series) []int64 {
		return slices.Repeat([]int64{1}, len(s.n))
	}
	d := of(b, all(b)) - of(a, all(a))
	random := rand.New(rand.NewPCG(1998, 1024))
	draws := make([]float64, replicates)
	takeA, takeB := make([]int64, len(a.n)), make([]int64, len(b.n))
	for i := range draws {
		draw(random, takeA)
		draw(random, takeB)
		draws[i] = of(b, takeB) - of(a, takeA)
	}
	slices.Sort(draws)
	blocks := float64(min(len(a.n), len(b.n)))
	wider := student(blocks-1) / 1.96 * math.Sqrt(blocks/(blocks-1))
	tail := int(math.Round((1 - Level) / 2 * (replicates + 1)))
	below = max(d-draws[tail-1], 0) * wider
	over = max(draws[replicates-tail]-d, 0) * wider
	return below, over, "", false
}

func draw(r *rand.Rand, take []int64) {
	clear(take)
	for range take {
		take[r.IntN(len(take))]++
	}
}

// student gives the 97.5 % quantile of Student's distribution, to 0.2 % from
// 10 degrees of freedom up (Cornish-Fisher expansion).
func student(df float64) float64 {
	const z = 1.959964
	return z + (z*z*z+z)/(4*df) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*df*df)
}

// independent joins blocks until neighbours are no longer alike, in the mean
// and in what the statistic looks at.
func (s *series) independent(spots func(*series) []float64) (*series, string) {
	for {
		if len(s.n) < leastBlocks {
			return nil, whyShort
		}
		look := spots(s)
		if rare(look) {
			return nil, whyRare
		}
		r := max(lag1(s.means()), lag1(look))
		switch {
		case r < 1.3/math.Sqrt(float64(len(s.n))):
			return s, ""
		case len(s.n) >= 2*leastBlocks:
			s = s.halve()
		case r > 0.5:
			return nil, whyDrift
		default:
			return s, ""
		}
	}
}

func (s *series) means() []float64 {
	m := make([]float64, len(s.n))
	for i := range m {
		m[i] = s.sum[i] / float64(s.n[i])
	}
	return m
}

// beyond gives the values from a percentile's cell up, block by block.
func beyond(q float64) func(*series) []float64 {
	return func(s *series) []float64 {
		take := slices.Repeat([]int64{1}, len(s.n))
		v := quantileOf(q)(s, take)
		at, found := slices.BinarySearch(s.values, int64(v))
		if !found && at > 0 {
			at--
		}
		m := make([]float64, len(s.n))
		for i := range m {
			m[i] = float64(s.n[i])
			if at > 0 {
				m[i] -= float64(s.counts[(at-1)*len(s.n)+i])
			}
		}
		return m
	}
}

// late gives the values above the bound, block by block.
func late(s *series) []float64 {
	m := make([]float64, len(s.n))
	for i := range m {
		m[i] = float64(s.above[i])
	}
	return m
}

// rare says that so few values lie in so few blocks that their spread says
// nothing.
func rare(m []float64) bool {
	var n, spots float64
	for _, v := range m {
		n += v
		if v > 0 {
			spots++
		}
	}
	return n < leastAbove || spots < leastSpots
}

// lag1 is the correlation of neighbours; 0 where nothing varies.
func lag1(m []float64) float64 {
	var mean, top, bottom float64
	for _, v := range m {
		mean += v / float64(len(m))
	}
	for i, v := range m {
		bottom += (v - mean) * (v - mean)
		if i > 0 {
			top += (v - mean) * (m[i-1] - mean)
		}
	}
	if bottom <= 1e-12*mean*mean*float64(len(m)) {
		return 0
	}
	return top / bottom
}

// sizes gives the blocks' sizes: nothing is rare in a mean.
func sizes(s *series) []float64 {
	m := make([]float64, len(s.n))
	for i := range m {
		m[i] = float64(s.n[i])
	}
	return m
}

// cellError is how far a percentile can lie from its cell's middle.
const cellError = 1. / (2 * subCount)
