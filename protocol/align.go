package protocol

// The held characters stand where the cycle has t places. They are laid
// against these by the alignment of fewest faults: a place with another
// character is corrupted, a place without one is lost, a character without a
// place is extra, or duplicated where it repeats the character of the place
// before it. Among equals the one with most corrupted wins, then with most
// duplicated. If no held character equals that of a place nearby, this is
//
//	corrupted = min(held, t)   lost = t - held   extra = held - t
//
// and it keeps a right character between two corrupted ones right.

// A cost orders alignments as above in one number.
const (
	costFault = 1 << 32
	costSub   = costFault - 1<<16 // a corrupted character
	costAgain = costFault - 1     // a duplicated one
)

// align reads the held characters against the next t places, t <= window + 256.
func (k *Checker) align(t int64) Counts {
	n := k.held.n
	if n > window {
		return many(n, t, k.held.same)
	}
	var row [window + 256 + 1]int64
	for j := range row[:t+1] {
		row[j] = int64(j) * costFault
	}
	before, any := k.before()
	for _, b := range k.held.char[:n] {
		diagonal := row[0]
		row[0] += extraCost(any && b == before)
		place := byte(k.expect)
		for j := int64(1); j <= t; j++ {
			right := b == place
			best := min(row[j]+extraCost(right), row[j-1]+costFault, diagonal+placeCost(right))
			diagonal, row[j] = row[j], best
			place = byte(k.next[place])
		}
	}
	return read(row[t], n, t)
}

func extraCost(again bool) int64 {
	if again {
		return costAgain
	}
	return costFault
}

func placeCost(right bool) int64 {
	if right {
		return 0
	}
	return costSub
}

// read takes the counts out of the cost of an alignment of n characters with t
// places.
func read(cost, n, t int64) Counts {
	faults := (cost + costFault - 1) / costFault
	rest := faults*costFault - cost
	corrupted, again := rest>>16, rest&0xffff
	extra := (faults - corrupted + n - t) / 2
	return Counts{
		Lost:       extra + t - n,
		Duplicated: again,
		Corrupted:  corrupted,
		Extra:      extra - again,
	}
}

// many is align for more characters than are kept, by their numbers only: n
// wrong ones, of which same equal the last right one.
func many(n, t, same int64) Counts {
	c := Counts{Corrupted: min(n, t), Lost: max(0, t-n), Extra: max(0, n-t)}
	c.Duplicated = min(c.Extra, same)
	c.Extra -= c.Duplicated
	return c
}
