package importer

// quantum infers the step of a file's stamps from two witnesses.
//
// The text: the place value of the last digit written. Tools that drop
// trailing zeros hide it in single stamps, and tools with a fixed number of
// significant digits (older Logic 2: nine) coarsen it as time goes on. So the
// finest step in each block of 64 stamps counts, and the coarsest block
// decides.
//
// The numbers: the greatest common divisor of the differences, which sees a
// sample clock (2 ns, 5 µs) below the text's digits. A stream on an exact grid
// has a divisor too, which is its period and no quantum: the divisor is taken
// only when the stamps use it as a clock, that is when all differences are at
// least three of it and not all equal, or when many different ones occur.
type quantum struct {
	finest, coarsest int64 // of this block; of all whole blocks
	inBlock          int
	gcd              int64
	smallest         int64 // difference that is not zero
	distinct         [8]int64
	kinds            int
	diffs            int
}

const quantumBlock = 64

func (q *quantum) stamp(step int64) {
	if q.inBlock == 0 || step < q.finest {
		q.finest = step
	}
	if q.inBlock++; q.inBlock == quantumBlock {
		q.coarsest = max(q.coarsest, q.finest)
		q.inBlock = 0
	}
}

func (q *quantum) difference(d int64) {
	if d < 0 {
		d = -d
	}
	if d <= 0 { // zero, or the one value that has no opposite
		return
	}
	q.diffs++
	if q.smallest == 0 || d < q.smallest {
		q.smallest = d
	}
	if q.gcd != 1 && (q.gcd == 0 || d%q.gcd != 0) {
		q.gcd = gcd(q.gcd, d)
	}
	if q.kinds < len(q.distinct) {
		q.noteKind(d)
	}
}

func (q *quantum) noteKind(d int64) {
	for _, k := range q.distinct[:q.kinds] {
		if k == d {
			return
		}
	}
	q.distinct[q.kinds] = d
	q.kinds++
}

// text is the step that the digits show, 0 before the first stamp.
func (q *quantum) text() int64 {
	if q.coarsest > 0 {
		return q.coarsest
	}
	return q.finest
}

// ns is the inferred quantum, 0 when there was no stamp.
func (q *quantum) ns() int64 {
	t := q.text()
	clock := q.diffs >= 16 && (q.smallest/max(q.gcd, 1) >= 3 && q.kinds >= 2 ||
		q.diffs >= quantumBlock && q.kinds == len(q.distinct))
	if clock {
		return max(t, q.gcd)
	}
	return t
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
