package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestBlocksLoseNothing: whatever the length, the blocks hold all values, in
// few blocks of one size, and give the histogram's own percentiles.
func TestBlocksLoseNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 15, 16, 17, 1024, 1025, 5000, 100_000} {
		b, h := NewBlocks(6_000_000), Histogram{}
		var sum float64
		var above int64
		for range n {
			v := int64(5e6 + r.ExpFloat64()*5e5)
			if r.IntN(50) == 0 {
				v = -v // a sender's lateness may be early
			}
			b.Add(v, float64(v))
			h.Record(v, 0, false)
			if sum += float64(v); v > 6_000_000 {
				above++
			}
		}
		var gotSum float64
		var gotAbove int64
		for i, k := range b.list {
			gotSum, gotAbove = gotSum+k.sum, gotAbove+k.above
			if k.n != b.size && i < len(b.list)-1 {
				t.Errorf("%d values: block %d of %d, not %d", n, i, k.n, b.size)
			}
		}
		if b.Count() != int64(n) || gotAbove != above || len(b.list) > mostBlocks {
			t.Fatalf("%d values: %d in %d blocks, %d above, want %d", n, b.Count(), len(b.list), gotAbove, above)
		}
		if diff := gotSum - sum; diff > 1 || diff < -1 {
			t.Errorf("%d values: sum %.0f, want %.0f", n, gotSum, sum)
		}
		b.size = 1 // all blocks count
		s := b.series()
		for _, q := range []float64{.01, .5, .99} {
			got := quantileOf(q)(s, slices.Repeat([]int64{1}, len(s.n)))
			if want := h.AtRank(nearestRank(q, int64(n))); n > 100 && got != float64(want) && (got < float64(want)-cellWidth(want) || got > float64(want)+cellWidth(want)) {
				t.Errorf("%d values: p%g %.0f, want %d", n, q*100, got, want)
			}
		}
	}
}

func TestHalveKeepsTheCounts(t *testing.T) {
	b := NewBlocks(500)
	for i := range int64(40 * firstBlock) {
		b.Add(i, float64(i))
	}
	s := b.series()
	h := s.halve()
	if len(h.n) != 20 || h.n[3] != 2*firstBlock || h.sum[0] != s.sum[0]+s.sum[1] || h.above[19] != s.above[38]+s.above[39] {
		t.Errorf("%+v", h)
	}
	one := func(s *series) []int64 { return slices.Repeat([]int64{1}, len(s.n)) }
	if a, b := quantileOf(.5)(s, one(s)), quantileOf(.5)(h, one(h)); a != b {
		t.Errorf("p50 %g became %g", a, b)
	}
}

// sequences reads a log with the same options for every run.
func sequences(t *testing.T, log string, o SequenceOptions) []Sequence {
	t.Helper()
	l, err := NewLogReader(strings.NewReader("# serialtiming log 1\n" + log))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ReadSequences(l, "noise", func(int) SequenceOptions { return o })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSequencesFollowTheRulesOfTheReport(t *testing.T) {
	const head = "run,arrived_ns,byte,batch,flags\n"
	const sender = "run,seq,due_ns,woke_ns,wrote_ns,byte\n"
	const both = "run,seq,due_ns,woke_ns,wrote_ns,arrived_ns,byte,batch,flags\n"
	for name, c := range map[string]struct {
		log       string
		intervals []int64 // of each run
		lateness  []int64
	}{
		"nothing":              {"", nil, nil},
		"one character":        {head + "1,5,20,1,\n", []int64{0}, []int64{1}},
		"a batch has none":     {head + "1,5,20,3,\n1,5,21,0,\n1,5,22,0,\n1,9,23,1,\n", []int64{1}, []int64{4}},
		"zero and backward":    {head + "1,5,20,1,\n1,5,21,1,\n1,4,22,1,\n1,9,23,1,\n", []int64{1}, []int64{4}},
		"stale first":          {"# run 1 stale: first\n" + head + "1,5,20,1,\n1,9,21,1,\n1,14,22,1,\n", []int64{1}, []int64{3}},
		"two runs":             {head + "1,5,20,1,\n1,9,21,1,\n# end 1 sent: 2\n2,50,20,1,\n2,60,21,1,\n2,70,22,1,\n", []int64{1, 2}, []int64{2, 3}},
		"noise is none":        {head + "1,5,20,1,\n1,9,21,1,\n# end 1 reason: noise\n2,50,20,1,\n2,60,21,1,\n", []int64{1}, []int64{2}},
		"announced, none came": {"# run 1 label: x\n" + head + "# end 1 sent: 5\n", []int64{0}, []int64{0}},
		"a sender's":           {sender + "1,0,5,6,7,20\n1,1,15,16,17,21\n1,2,25,,27,22\n", []int64{2}, []int64{2}},
		"loopback":             {"# loopback: yes\n" + both + "1,0,5,6,7,9,20,1,\n1,1,15,16,17,,,0,\n1,2,25,26,27,29,22,2,\n1,3,25,26,27,29,23,0,\n", []int64{1}, []int64{3}},
	} {
		t.Run(name, func(t *testing.T) {
			got := sequences(t, c.log, SequenceOptions{Period: 10, Grid: true, LateBy: 1,
				Follows: func(a, b byte) bool { return b == a+1 }})
			var intervals, lateness []int64
			for _, s := range got {
				intervals, lateness = append(intervals, s.Interval.Count()), append(lateness, s.Lateness.Count())
			}
			if !slices.Equal(intervals, c.intervals) || !slices.Equal(lateness, c.lateness) {
				t.Errorf("%d intervals and %d of the lateness, want %d and %d", intervals, lateness, c.intervals, c.lateness)
			}
		})
	}
}

func TestSequencesOfReadings(t *testing.T) {
	var log strings.Builder
	log.WriteString("run,arrived_ns,byte,batch,flags\n")
	table := NewTable(TableKind{Bin: 1e6, Hz: 1024})
	at := func(i int64) int64 { return i*5_003_500 + i%7*i%13*100_000 }
	for i := range int64(4000) {
		fmt.Fprintf(&log, "1,%d,20,1,\n", at(i))
		if i > 0 {
			table.Add(at(i-1), at(i))
		}
	}
	s := sequences(t, log.String(), SequenceOptions{Hz: 1024, Above: 5e6})[0]
	data := table.data()
	d := Derive(&data, 5e6)
	x := s.Interval.series()
	one := slices.Repeat([]int64{1}, len(x.n))
	if mean := meanOf(x, one); mean < *d.MeanNS-3000 || mean > *d.MeanNS+3000 || s.Lateness.Count() != 0 {
		t.Errorf("mean %.0f, the table says %.0f", mean, *d.MeanNS)
	}
	var above int64
	for _, k := range s.Interval.list {
		above += k.above
	}
	var want int64
	for _, row := range data.Rows {
		if row.Key > 5 {
			want += row.Count
		}
	}
	if above != want || want == 0 {
		t.Errorf("%d late readings, the table has %d", above, want)
	}
}
