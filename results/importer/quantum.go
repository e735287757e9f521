package importer

// quantum infers the step of a file's stamps from two witnesses.
//
// The text: the place value of the last digit written. Tools that drop
// trailing zeros hide it in single stamps, and tools with a fixed number of
// significant digits (older Logic 2: nine) coarsen it as time goes on. So the
// finest step in each block of 64 stamps counts, and the coarsest block
// decides. A block in which no stamp has nine significant digits was not cut
// at nine: there the row's other times (the duration) show the tool's step.
//
// The numbers: the greatest common divisor of the differences, which sees a
// sample clock (2 ns, 5 µs) below the text's digits. A stream on an exact grid
// has a divisor too, which is its period and no quantum: the divisor is taken
// only when the stamps use it as a clock, that is when all differences are at
// least three of it and not all equal, or when many different ones occur.
type quantum struct {
	block    quantumBlock // the present one
	coarsest int64        // of the whole blocks
	gcd      int64
	smallest int64 // difference that is not zero
	distinct [8]int64
	kinds    int
	diffs    int
}

// quantumBlock is what some stamps in a row show.
type quantumBlock struct {
	stamps int
	finest int64 // ns
	fine   int64 // ns, of the other times in these rows, 0 for none
	digits int   // the most significant digits of a stamp
}

const (
	quantumStamps = 64
	cutDigits     = 9 // older Logic 2
)

func (q *quantum) stamp(step, fine int64, digits int) {
	b := &q.block
	if b.stamps == 0 || step < b.finest {
		b.finest = step
	}
	if fine > 0 && (b.fine == 0 || fine < b.fine) {
		b.fine = fine
	}
	b.digits = max(b.digits, digits)
	if b.stamps++; b.stamps == quantumStamps {
		q.coarsest = max(q.coarsest, b.step())
		q.block = quantumBlock{}
	}
}

func (b *quantumBlock) step() int64 {
	if b.fine > 0 && b.digits < cutDigits {
		return min(b.finest, b.fine)
	}
	return b.finest
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
	return q.block.step()
}

// ns is the inferred quantum, 0 when there was no stamp.
func (q *quantum) ns() int64 {
	t := q.text()
	clock := q.diffs >= 16 && (q.smallest/max(q.gcd, 1) >= 3 && q.kinds >= 2 ||
		q.diffs >= quantumStamps && q.kinds == len(q.distinct))
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
