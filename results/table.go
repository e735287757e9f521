package results

import (
	"fmt"
	"math/bits"
	"time"
)

// Longest is the longest interval that a table has a row for; longer ones are
// counted as over.
const Longest = 10 * time.Second

// MinBin is the narrowest row: Longest/MinBin rows bound the table's memory.
const MinBin = time.Microsecond

// Row is a line of the table: with bins the row number k (the row stands for
// (k − ½)·bin ≤ interval < (k + ½)·bin), with ticks the reading in
// milliseconds.
type Row struct {
	Key   int64
	Count int64
}

// TableKind says how intervals become rows.
type TableKind struct {
	Bin   time.Duration // width of a row; 1 ms unless ticks are asked for
	Hz    int64         // above 0: the 1998 counter, Bin does not matter
	Phase time.Duration // ticks fall at Phase + k/Hz s
}

// Validate says in a sentence what is wrong with a kind, nil if nothing.
func (k TableKind) Validate() error {
	switch {
	case k.Hz == 0 && k.Bin < MinBin:
		return fmt.Errorf("a bin of %v is narrower than %v", k.Bin, MinBin)
	case k.Hz == 0 && k.Bin > Longest:
		return fmt.Errorf("a bin of %v is wider than the table (%v)", k.Bin, Longest)
	case k.Hz < 0 || k.Hz > 1e6:
		return fmt.Errorf("a tick of %d Hz is outside 1 to 1000000", k.Hz)
	}
	return nil
}

const tablePage = 4096

// Table is the table of 1998: counts by interval. Its memory is bounded by
// Longest/MinBin rows, in pages of which only those in use exist.
type Table struct {
	kind  TableKind
	pages []*[tablePage]int64
	over  int64

	// The row of the last interval, since the next is mostly the same:
	// low ≤ interval < high.
	low, high int64
	cell      *int64

	prevAt, prevTick int64 // the tick count of the last arrival, to be used again
	havePrev         bool
}

// NewTable makes an empty table.
func NewTable(k TableKind) *Table { return &Table{kind: k} }

// Kind gives what the table was made with.
func (t *Table) Kind() TableKind { return t.kind }

// Over gives the number of intervals over Longest.
func (t *Table) Over() int64 { return t.over }

// Add counts the interval between two arrivals, in ns on one clock, to after from.
func (t *Table) Add(from, to int64) {
	iv := to - from
	if t.kind.Hz > 0 {
		t.addTicks(from, to)
		return
	}
	if iv >= t.low && iv < t.high {
		*t.cell++
		return
	}
	if iv > int64(Longest) {
		t.over++
		return
	}
	bin := int64(t.kind.Bin)
	k := (2*iv + bin) / (2 * bin)
	t.cell = t.at(k)
	*t.cell++
	// ceil((k−½)·bin) ≤ interval < ceil((k+½)·bin)
	t.low, t.high = ((2*k-1)*bin+1)>>1, ((2*k+1)*bin+1)>>1
}

func (t *Table) addTicks(from, to int64) {
	if to-from > int64(Longest) {
		t.over++
		return
	}
	if !t.havePrev || t.prevAt != from {
		t.prevTick = Ticks(from-int64(t.kind.Phase), t.kind.Hz)
	}
	tick := Ticks(to-int64(t.kind.Phase), t.kind.Hz)
	*t.at(Reading(tick-t.prevTick, t.kind.Hz))++
	t.prevAt, t.prevTick, t.havePrev = to, tick, true
}

func (t *Table) at(k int64) *int64 {
	page := int(k / tablePage)
	for len(t.pages) <= page {
		t.pages = append(t.pages, nil)
	}
	if t.pages[page] == nil {
		t.pages[page] = new([tablePage]int64)
	}
	return &t.pages[page][k%tablePage]
}

// Rows gives the rows that are not empty, ascending.
func (t *Table) Rows() []Row {
	rows := []Row{}
	for p, page := range t.pages {
		for i := 0; page != nil && i < tablePage; i++ {
			if page[i] > 0 {
				rows = append(rows, Row{int64(p)*tablePage + int64(i), page[i]})
			}
		}
	}
	return rows
}

// Ticks gives floor(t·hz/1 s) for t in ns, exactly, also before zero.
//
// The rule is derived from the tables of 1998: the author says that the DOS
// machine's 1024 Hz clock makes 5 ms count as 4, and an exact 5 ms stream
// (5.12 ticks: 5 or 6) then reads 4 in 88.0 % and 5 in 12.0 %; the published
// quiet tables of Windows NT read 5 in 12.3 to 12.4 %.
func Ticks(t, hz int64) int64 {
	if t >= 0 {
		hi, lo := bits.Mul64(uint64(t), uint64(hz))
		q, _ := bits.Div64(hi, lo, 1e9)
		return int64(q)
	}
	hi, lo := bits.Mul64(magnitude(t), uint64(hz))
	q, r := bits.Div64(hi, lo, 1e9)
	if r > 0 {
		q++
	}
	return -int64(q)
}

// Reading gives what the DOS program showed for n ticks: whole milliseconds,
// floor(n·1000/hz).
func Reading(n, hz int64) int64 { return n * 1000 / hz }
