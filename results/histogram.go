package results

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

const (
	subBits  = 10 // buckets per power of two: 2^10, so the relative error of a bucket's middle is at most 1/2048
	subCount = 1 << subBits
	octaves  = 64 - subBits
)

type octave [subCount]uint64

// Histogram counts int64 nanoseconds of either sign and loses nothing: exact
// count, sum, minimum and maximum; ranks are answered from log-linear buckets
// with an error of at most 0.05 %. Memory is bounded (8 KiB for each power of
// two that occurs, under 1 MiB in all) however long the run is.
//
// The zero value is empty and ready.
type Histogram struct {
	count          int64
	min, max       int64
	maxAt          int64
	origin         int64 // the first value: sums are kept relative to it
	sum            int128
	squares        uint128
	small          smallSums
	positive       [octaves]*octave
	negative       *[octaves]*octave
	undisturbedMax int64
	undisturbed    int64
}

// Record adds one value, seen at the instant at; disturbed values are left
// out of MaxUndisturbed only.
func (h *Histogram) Record(v, at int64, disturbed bool) {
	if h.count == 0 {
		h.origin, h.min, h.max, h.maxAt = v, v, v, at
	}
	h.count++
	if v < h.min {
		h.min = v
	}
	if v > h.max {
		h.max, h.maxAt = v, at
	}
	if !disturbed {
		if h.undisturbed == 0 || v > h.undisturbedMax {
			h.undisturbedMax = v
		}
		h.undisturbed++
	}
	if d := v - h.origin; !h.small.add(d) {
		h.fold()
		h.sum.add(d)
		h.squares.addSquare(d)
	}
	if v >= 0 {
		e, sub := bucket(uint64(v))
		p := h.positive[e]
		if p == nil {
			p = new(octave)
			h.positive[e] = p
		}
		p[sub]++
		return
	}
	h.recordNegative(v)
}

func (h *Histogram) recordNegative(v int64) {
	if h.negative == nil {
		h.negative = new([octaves]*octave)
	}
	e, sub := bucket(magnitude(v))
	p := h.negative[e]
	if p == nil {
		p = new(octave)
		h.negative[e] = p
	}
	p[sub]++
}

// bucket says in which octave and which of its cells a magnitude lies.
// Octave 0 holds 0 to 1023 exactly, octave e the values of bit length e+10.
func bucket(u uint64) (e, sub int) {
	e = bits.Len64(u|(subCount-1)) - subBits
	shift := e - 1
	if e == 0 {
		shift = 0
	}
	return e, int(u>>(uint(shift)&63)) & (subCount - 1)
}

// middle gives the magnitude that stands for a cell.
func middle(e, sub int) uint64 {
	if e == 0 {
		return uint64(sub)
	}
	shift := uint(e - 1)
	low := uint64(sub+subCount) << shift
	return low + (uint64(1)<<shift)>>1
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return uint64(-(v + 1)) + 1
	}
	return uint64(v)
}

// Count gives the number of values.
func (h *Histogram) Count() int64 { return h.count }

// Min and Max are exact; 0 when empty.
func (h *Histogram) Min() int64 { return h.min }

// Max gives the largest value and the instant given with it (the first of equals).
func (h *Histogram) Max() (v, at int64) { return h.max, h.maxAt }

// MaxUndisturbed gives the largest value that was not recorded as disturbed;
// ok is false when there is none.
func (h *Histogram) MaxUndisturbed() (v int64, ok bool) {
	return h.undisturbedMax, h.undisturbed > 0
}

// smallSums are sums of differences below 2^24, of which 2^14 cannot overflow:
// nearly all values take this short way.
type smallSums struct {
	n, sum, squares int64
}

func (s *smallSums) add(d int64) bool {
	if uint64(d+1<<24) >= 1<<25 || s.n == 1<<14 {
		return false
	}
	s.n++
	s.sum += d
	s.squares += d * d
	return true
}

// fold adds the small sums to the large ones.
func (h *Histogram) fold() {
	h.sum.add(h.small.sum)
	lo, carry := bits.Add64(h.squares.lo, uint64(h.small.squares), 0)
	h.squares.lo, h.squares.hi = lo, h.squares.hi+carry
	h.small = smallSums{}
}

// Mean is the exact sum divided by the count; 0 when empty.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	h.fold()
	return float64(h.origin) + h.sum.float()/float64(h.count)
}

// Stddev is the sample standard deviation (n − 1), from exact sums; 0 below
// two values.
func (h *Histogram) Stddev() float64 {
	if h.count < 2 {
		return 0
	}
	h.fold()
	n := big.NewInt(h.count)
	sum := h.sum.big()
	v := new(big.Int).Mul(n, h.squares.big())
	v.Sub(v, new(big.Int).Mul(sum, sum))
	den := new(big.Int).Mul(n, big.NewInt(h.count-1))
	q, _ := new(big.Rat).SetFrac(v, den).Float64()
	return math.Sqrt(q)
}

// Percentile gives the nearest-rank percentile, q from 0 to 1: the smallest
// value with at least q·n values at or below it, to 0.05 %. ok is false when
// fewer than five values lie above that rank: such a figure would be an
// anecdote.
func (h *Histogram) Percentile(q float64) (v int64, ok bool) {
	rank := nearestRank(q, h.count)
	if h.count-rank < 5 {
		return 0, false
	}
	return h.AtRank(rank), true
}

func nearestRank(q float64, n int64) int64 {
	// A q such as 0.999 is not exact in binary: 0.999·1000 must be rank 999.
	rank := int64(math.Ceil(q*float64(n) - 1e-9*float64(n)))
	return max(1, min(rank, n))
}

// AtRank gives the value of that rank (1 is the smallest), to 0.05 %.
func (h *Histogram) AtRank(rank int64) int64 {
	switch {
	case h.count == 0:
		return 0
	case rank <= 1:
		return h.min
	case rank >= h.count:
		return h.max
	}
	left := uint64(rank)
	v := h.max
	h.cells(func(value int64, n uint64) bool {
		if left <= n {
			v = value
			return false
		}
		left -= n
		return true
	})
	return max(h.min, min(v, h.max))
}

// cells calls f for every occupied cell, ascending, until f says false.
func (h *Histogram) cells(f func(value int64, n uint64) bool) {
	if h.negative != nil {
		for e := octaves - 1; e >= 0; e-- {
			p := h.negative[e]
			for sub := subCount - 1; p != nil && sub >= 0; sub-- {
				if p[sub] != 0 && !f(-int64(middle(e, sub)), p[sub]) {
					return
				}
			}
		}
	}
	for e := range octaves {
		p := h.positive[e]
		for sub := 0; p != nil && sub < subCount; sub++ {
			if p[sub] != 0 && !f(int64(middle(e, sub)), p[sub]) {
				return
			}
		}
	}
}

// checkInvariants says what is wrong with a histogram, nil if nothing: the
// one check of unit, fuzz and round-trip tests.
func (h *Histogram) checkInvariants() error {
	var n uint64
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	h.cells(func(v int64, k uint64) bool {
		n += k
		low, high = min(low, v), max(high, v)
		return true
	})
	switch {
	case n != uint64(h.count):
		return fmt.Errorf("cells hold %d values, count is %d", n, h.count)
	case h.undisturbed > h.count:
		return fmt.Errorf("%d undisturbed of %d", h.undisturbed, h.count)
	case h.count == 0:
		return nil
	case h.min > h.max:
		return fmt.Errorf("min %d above max %d", h.min, h.max)
	case !near(low, h.min) || !near(high, h.max):
		return fmt.Errorf("cells from %d to %d, min %d and max %d", low, high, h.min, h.max)
	}
	if m := h.Mean(); m < float64(h.min)*(1-1e-9)-1 && h.min > 0 || m > float64(h.max)*(1+1e-9)+1 && h.max > 0 {
		return fmt.Errorf("mean %g outside %d to %d", m, h.min, h.max)
	}
	return nil
}

// near holds the histogram's promise: a cell's value is within 0.1 %.
func near(cell, v int64) bool {
	return math.Abs(float64(cell)-float64(v)) <= math.Abs(float64(v))*0.001
}

// int128 is a signed sum that int64 addends cannot overflow.
type int128 struct {
	hi int64
	lo uint64
}

func (s *int128) add(v int64) {
	lo, carry := bits.Add64(s.lo, uint64(v), 0)
	s.lo = lo
	s.hi += v>>63 + int64(carry)
}

func (s *int128) big() *big.Int {
	b := big.NewInt(s.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

func (s *int128) float() float64 {
	f, _ := new(big.Float).SetInt(s.big()).Float64()
	return f
}

// uint128 is a sum of squares; it saturates only after 2^64 squares of values
// around 2^32.
type uint128 struct{ hi, lo uint64 }

func (s *uint128) addSquare(d int64) {
	m := magnitude(d)
	hi, lo := bits.Mul64(m, m)
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
}

func (s *uint128) big() *big.Int {
	b := new(big.Int).SetUint64(s.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}
