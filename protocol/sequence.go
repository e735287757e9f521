package protocol

// Verdict is what the check says at once about the character just fed.
type Verdict uint8

const (
	// Right: the character stands at Pos.
	Right Verdict = iota
	// Wrong: the character is not the expected one; its place is not known,
	// and may never be.
	Wrong
	// Resumed: the character stands at Pos and the one before it, which was
	// Wrong, at Pos-1. The fault before the two is judged and counted.
	Resumed
)

// Unknown stands for a count that nobody announced.
const Unknown = -1

// window is how many wrong characters in a row are kept and aligned one by
// one; of more, only the number is known.
const window = 32

// none is no character: what no byte equals.
const none = 256

// Checker is the sequence check of one run: it is fed the characters as they
// arrive and counts what was lost, duplicated, corrupted, and extra.
//
// Wrong characters are held until two in a row follow each other in the cycle,
// and are judged by how many places were skipped until then (align.go). The
// cycle alone knows places only modulo its length; what the sender's own count
// adds is decided at the end (judge.go).
//
// It takes constant memory, and allocates nothing after NewChecker.
type Checker struct {
	want  uint16 // the expected character; none while the place is in doubt
	cycle Cycle
	pos   int64       // places passed, the lost ones included
	at    int64       // ns: arrival of the last character
	next  [256]uint16 // what follows each character; none outside the cycle

	heard  bool   // the start of the run was heard
	synced bool   // the place in the cycle is known
	start  int    // place of the first right character modulo the cycle
	expect uint16 // the expected character while want is none

	slow    int64 // characters that did not take the fast path
	skipped int64 // places passed otherwise than by the fast path
	counts  Counts
	held    pending
	doubt   doubts
}

// Counts are the faults.
type Counts struct {
	Lost       int64 // places of the cycle for which nothing arrived
	Duplicated int64 // the last right character, again
	Corrupted  int64 // a wrong character in the place of a right one
	Extra      int64 // a character that has no place
}

// Total is the number of faults.
func (c Counts) Total() int64 { return c.Lost + c.Duplicated + c.Corrupted + c.Extra }

func (c Counts) plus(d Counts) Counts {
	return Counts{c.Lost + d.Lost, c.Duplicated + d.Duplicated, c.Corrupted + d.Corrupted, c.Extra + d.Extra}
}

// pending are the wrong characters that are not judged yet.
type pending struct {
	n    int64         // how many
	same int64         // how many of them equal the last right character
	last byte          // the last of them
	char [window]byte  // the first of them
	wait [window]int64 // ns: their intervals to the character before
}

// NewChecker makes the check of one run. heard says that the start of the run
// was heard (its opening announcement), so that its first character must be
// the first of the cycle; else the check begins wherever two characters in a
// row follow each other.
func NewChecker(cycle Cycle, heard bool) *Checker {
	k := &Checker{cycle: cycle, heard: heard, synced: heard, want: none, expect: none}
	for i := range k.next {
		k.next[i] = none
		if cycle.Contains(byte(i)) {
			k.next[i] = uint16(cycle.Next(byte(i)))
		}
	}
	if cycle.Length == 1 {
		k.synced = true // any place is like any other
	}
	if k.synced {
		k.want = uint16(cycle.First)
	}
	return k
}

// Advance takes b, arrived at that instant, if it is the expected character
// and nothing is in doubt, which is Right. Else it takes nothing and returns
// false: then call Feed. It is inlined.
func (k *Checker) Advance(b byte, at int64) bool {
	if uint16(b) != k.want {
		return false
	}
	k.want = k.next[b]
	k.pos++
	k.at = at
	return true
}

// Feed takes the next character, arrived at that instant (ns).
func (k *Checker) Feed(b byte, at int64) Verdict {
	if k.Advance(b, at) {
		return Right
	}
	return k.wrong(b, at)
}

// wrong takes a character that is not the expected one, or arrives while the
// place is in doubt. It stays out of Feed to keep that light.
//
//go:noinline
func (k *Checker) wrong(b byte, at int64) Verdict {
	wait := at - k.at
	k.at = at
	k.slow++
	if k.cycle.Length == 1 {
		k.counts.Corrupted++
		k.pass(1)
		return Wrong
	}
	if k.held.n > 0 && k.next[k.held.last] == uint16(b) {
		return k.resume(b)
	}
	k.hold(b, wait)
	return Wrong
}

// Pos is the place of the last right character, the lost ones before it
// counted: 0 is the first place of the run, or when its start was not heard,
// that of the first right character. -1 before any.
func (k *Checker) Pos() int64 { return k.pos - 1 }

// Pending is the number of wrong characters that are not judged yet.
func (k *Checker) Pending() int64 { return k.held.n }

// Received is the number of characters fed.
func (k *Checker) Received() int64 { return k.pos - k.skipped + k.slow }

// Counts are the faults judged so far.
func (k *Checker) Counts() Counts { return k.counts }

// pass goes on by n places otherwise than by the fast path.
func (k *Checker) pass(n int64) {
	k.pos += n
	k.skipped += n
}

// hold keeps a wrong character until it can be judged.
func (k *Checker) hold(b byte, wait int64) {
	h := &k.held
	if h.n == 0 {
		k.expect, k.want = k.want, none
	}
	if h.n < window {
		h.char[h.n], h.wait[h.n] = b, wait
	}
	if before, ok := k.before(); ok && b == before {
		h.same++
	}
	h.last = b
	h.n++
}

// before is the last right character, if there is one.
func (k *Checker) before() (byte, bool) {
	if !k.synced || k.pos == 0 {
		return 0, false
	}
	return k.cycle.Char(int64(k.cycle.Distance(k.cycle.First, byte(k.expect)) + k.cycle.Length - 1)), true
}

// resume finds that b follows the last held character: the cycle goes on.
func (k *Checker) resume(b byte) Verdict {
	verdict := Resumed
	if k.synced {
		verdict = k.settle()
	} else {
		k.begin()
	}
	k.pass(1)
	k.want = k.next[b]
	k.held.n, k.held.same = 0, 0
	return verdict
}

// begin finds the place in a cycle whose start was not heard. What came before
// the first right character is noise.
func (k *Checker) begin() {
	k.synced = true
	k.start = k.cycle.Index(k.held.last)
	k.counts.Extra += k.held.n - 1
	k.pass(1)
}

// settle judges the held characters, of which the last is right unless the
// next one is the expected one.
func (k *Checker) settle() Verdict {
	skip := int64(k.cycle.Distance(byte(k.expect), k.held.last))
	fault := k.align(skip + 1)
	if k.held.n > window {
		fault = many(k.held.n-1, skip, k.held.same)
	}
	verdict := Resumed
	if skip == int64(k.cycle.Length-1) {
		// The next character is the expected one: nothing need be lost.
		if again := k.align(0); again.Total() <= fault.Total() || k.held.same == k.held.n {
			fault, skip, verdict = again, -1, Right
		}
	}
	k.doubt.note(k, fault, skip)
	k.counts = k.counts.plus(fault)
	k.pass(skip + 1)
	return verdict
}
