package results

import "slices"

const (
	mostBlocks  = 64 // kept of a sequence: 32 to 64 once it is long enough
	leastBlocks = 16 // below so many there is no uncertainty to tell
	firstBlock  = 16 // values of a block at first
)

// Blocks keeps a sequence of values as some dozens of blocks that follow each
// other, however long it is: what a block bootstrap needs. Memory is bounded
// (4 KiB for each power of two that occurs in a block; mostly under 1 MiB in
// all). When all blocks are full, neighbours are joined.
type Blocks struct {
	above int64 // values above it are counted
	size  int64
	list  []block
}

type block struct {
	n, above int64
	sum      float64
	cells    cellCounts
}

// cellCounts counts values in Histogram's cells.
type cellCounts struct {
	positive [octaves]*[subCount]uint32
	negative *[octaves]*[subCount]uint32
}

// NewBlocks makes an empty sequence that counts the values above a bound.
func NewBlocks(above int64) *Blocks {
	return &Blocks{above: above, size: firstBlock, list: make([]block, 0, mostBlocks)}
}

// Add takes the next value; mean is what it adds to the mean, the value
// itself where it was not rounded.
func (b *Blocks) Add(v int64, mean float64) {
	n := len(b.list)
	if n == 0 || b.list[n-1].n == b.size {
		b.next()
		n = len(b.list)
	}
	k := &b.list[n-1]
	k.n++
	k.sum += mean
	if v > b.above {
		k.above++
	}
	*k.cells.at(v)++
}

// next opens a block.
func (b *Blocks) next() {
	if len(b.list) == mostBlocks {
		for i := range mostBlocks / 2 {
			pair := b.list[2*i]
			pair.join(&b.list[2*i+1])
			b.list[i] = pair
		}
		clear(b.list[mostBlocks/2:])
		b.list = b.list[:mostBlocks/2]
		b.size *= 2
	}
	b.list = append(b.list, block{})
}

// Count gives the number of values.
func (b *Blocks) Count() (n int64) {
	for i := range b.list {
		n += b.list[i].n
	}
	return n
}

// Above gives the number of values above the bound.
func (b *Blocks) Above() (n int64) {
	for i := range b.list {
		n += b.list[i].above
	}
	return n
}

func (k *block) join(o *block) {
	k.n, k.above, k.sum = k.n+o.n, k.above+o.above, k.sum+o.sum
	o.cells.each(func(negative bool, e, sub int, n uint32) {
		k.cells.cell(negative, e, sub, n)
	})
}

// at gives the cell of a value.
func (c *cellCounts) at(v int64) *uint32 {
	e, sub := bucket(magnitude(v))
	if v >= 0 && c.positive[e] != nil {
		return &c.positive[e][sub]
	}
	return c.cell(v < 0, e, sub, 0)
}

// cell adds n to a cell and gives it.
func (c *cellCounts) cell(negative bool, e, sub int, n uint32) *uint32 {
	side := &c.positive
	if negative {
		if c.negative == nil {
			c.negative = new([octaves]*[subCount]uint32)
		}
		side = c.negative
	}
	if side[e] == nil {
		side[e] = new([subCount]uint32)
	}
	side[e][sub] += n
	return &side[e][sub]
}

// each calls f for every occupied cell.
func (c *cellCounts) each(f func(negative bool, e, sub int, n uint32)) {
	for e := range octaves {
		if p := c.positive[e]; p != nil {
			eachOf(p, func(sub int, n uint32) { f(false, e, sub, n) })
		}
		if c.negative != nil && c.negative[e] != nil {
			eachOf(c.negative[e], func(sub int, n uint32) { f(true, e, sub, n) })
		}
	}
}

func eachOf(p *[subCount]uint32, f func(sub int, n uint32)) {
	for sub, n := range p {
		if n > 0 {
			f(sub, n)
		}
	}
}

// series is a sequence of blocks ready to be drawn from.
type series struct {
	n, above []int64
	sum      []float64
	values   []int64  // the occupied cells' values, ascending
	counts   []uint32 // counts[v·blocks + b]: values of block b up to values[v]
}

// series gives the blocks as numbers. The last block counts only if it is
// half full: a short one would weigh as much as the others in a draw.
func (b *Blocks) series() *series {
	list := b.list
	if k := len(list); k > 1 && 2*list[k-1].n < b.size {
		list = list[:k-1]
	}
	s := &series{}
	index := map[int64]int{}
	for i := range list {
		s.n, s.above, s.sum = append(s.n, list[i].n), append(s.above, list[i].above), append(s.sum, list[i].sum)
		list[i].cells.each(func(negative bool, e, sub int, _ uint32) { index[cellValue(negative, e, sub)] = 0 })
	}
	for v := range index {
		s.values = append(s.values, v)
	}
	slices.Sort(s.values)
	for i, v := range s.values {
		index[v] = i
	}
	s.counts = make([]uint32, len(s.values)*len(list))
	for i := range list {
		list[i].cells.each(func(negative bool, e, sub int, n uint32) {
			s.counts[index[cellValue(negative, e, sub)]*len(list)+i] += n
		})
	}
	for i := len(list); i < len(s.counts); i++ {
		s.counts[i] += s.counts[i-len(list)]
	}
	return s
}

func cellValue(negative bool, e, sub int) int64 {
	if negative {
		return -int64(middle(e, sub))
	}
	return int64(middle(e, sub))
}

// halve joins neighbours; an odd last block goes.
func (s *series) halve() *series {
	blocks, half := len(s.n), len(s.n)/2
	h := &series{values: s.values, counts: make([]uint32, len(s.values)*half)}
	for i := range half {
		h.n = append(h.n, s.n[2*i]+s.n[2*i+1])
		h.above = append(h.above, s.above[2*i]+s.above[2*i+1])
		h.sum = append(h.sum, s.sum[2*i]+s.sum[2*i+1])
		for v := range s.values {
			h.counts[v*half+i] = s.counts[v*blocks+2*i] + s.counts[v*blocks+2*i+1]
		}
	}
	return h
}
