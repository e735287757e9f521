package protocol

import "math/bits"

// doubts are the places where the cycle alone leaves two readings, kept for
// when the count is known. Only their numbers are kept.
type doubts struct {
	again  [60 * octave]uint32 // duplicates, or a cycle but one lost: by their interval
	first  int64               // 1: the extra before the first place, likewise
	blocks int64               // whole cycles of extra, or corrupted
	jumps  [none]int64         // lost, or a step back: by the places skipped
}

// octave is the number of bins an octave of intervals.
const octave = 32

// bin is the bin of an interval, to 3 %.
func bin(ns int64) int {
	if ns < octave {
		return int(max(ns, 0))
	}
	shift := bits.Len64(uint64(ns)) - 6
	return shift*octave + int(ns>>shift)
}

// note remembers what of a fault can be read in another way. skip is the
// places skipped before the last held character, -1 if it has none itself.
func (d *doubts) note(k *Checker, fault Counts, skip int64) {
	h := &k.held
	if h.n == 1 && skip > 0 {
		d.jumps[skip]++
	}
	d.blocks += (fault.Extra + fault.Duplicated) / int64(k.cycle.Length)
	before, any := k.before()
	if !any && skip < 0 {
		d.first = 1
	}
	again := fault.Duplicated
	for i := int64(0); i < min(h.n, window) && again > 0; i++ {
		if any && h.char[i] == before {
			d.again[bin(h.wait[i])]++
			again--
		}
	}
	d.again[0] += uint32(again) // in the midst of other faults
}

// longer counts the duplicates whose interval is nearer to a whole cycle of
// periods than to one or none; all of them without a period.
func (d *doubts) longer(c Cycle, period int64) (n int64) {
	from := 0
	if period > 0 {
		middle := int64(c.Length+1) / 2
		from = bin(min(period, 1<<62/middle)*middle) + 1
	}
	for _, count := range d.again[from:] {
		n += int64(count)
	}
	return n
}

// relose turns up to need duplicates of a long interval into a cycle but one
// lost each, and returns how many.
func (d *doubts) relose(s *Counts, c Cycle, need, period int64) int64 {
	n := min(need, d.longer(c, period), s.Duplicated)
	s.Duplicated -= n
	s.Lost += n * int64(c.Length-1)
	return n
}

// fill reads up to need cycles more into the places in doubt, and returns how
// many it could.
func (d *doubts) fill(s *Counts, c Cycle, need, period int64) int64 {
	cycle := int64(c.Length)
	blocks := min(need, d.blocks)
	again := max(0, blocks*cycle-s.Extra)
	s.Corrupted += blocks * cycle
	s.Extra -= blocks*cycle - again
	s.Duplicated -= again

	long := d.relose(s, c, need-blocks, period)

	first := min(need-blocks-long, d.first, s.Extra)
	s.Extra -= first
	s.Lost += first * (cycle - 1)
	return blocks + long + first
}

// unjump takes over places back: a loss of j places may as well be a step back
// of a cycle less j, with so many extra. It does what makes the fewest faults
// and returns what of over is left, negative if it took back more.
func (d *doubts) unjump(s *Summary, c Cycle, over int64) int64 {
	cycle := int64(c.Length)
	for j := cycle - 1; j > 0 && over > 0; j-- {
		most := min(d.jumps[j], s.right()/(cycle-j))
		n := min(most, over/cycle)
		if n < most && j+over-n*cycle > cycle {
			n++
		}
		s.Lost -= n * j
		s.Extra += n * (cycle - j)
		over -= n * cycle
	}
	return over
}
