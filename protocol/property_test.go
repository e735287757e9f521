package protocol

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// outside are characters that the cycle does not hold.
func outside(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(0x7f + r.IntN(0x81))
	}
	return b
}

// wrongOnes are n characters that can be told from those around their place:
// outside the cycle, or a single one inside it that is neither the character
// before its place nor that of it.
func wrongOnes(p *plant, r *rand.Rand, n int) []byte {
	if n > 1 || r.IntN(2) == 0 {
		return outside(r, n)
	}
	return []byte{p.cycle.Char(p.sent + 1 + int64(r.IntN(p.cycle.Length-2)))}
}

// plantOne plants a random fault that can be told from every other, and adds
// it to want. Without the count no more than cycle-2 places may be lost.
func plantOne(p *plant, r *rand.Rand, want *Counts, counted bool) {
	n := 1 + r.IntN(4)
	switch r.IntN(5) {
	case 0:
		lost := int64(1 + r.IntN(p.cycle.Length-2))
		if counted && r.IntN(2) == 0 {
			lost = int64(p.cycle.Length*r.IntN(4) + n + p.cycle.Length - 2)
		}
		p.lose(lost)
		want.Lost += lost
	case 1:
		p.again(n)
		want.Duplicated += int64(n)
	case 2:
		p.corrupt(wrongOnes(p, r, n)...)
		want.Corrupted += int64(n)
	case 3:
		p.extra(wrongOnes(p, r, n)...)
		want.Extra += int64(n)
	case 4:
		p.stall(int64(r.IntN(400)))
	}
}

// Planted faults that lie at least four right characters apart are counted
// exactly, whatever their order.
func TestPlantedAtRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		counted, late := seed%2 == 0, seed%3 == 0
		p, want := newPlant(Printable), Counts{}
		before := int64(0)
		if late {
			before = int64(r.IntN(95))
			p.good(before).late()
			counted = false
		}
		for range r.IntN(12) {
			p.good(int64(4 + r.IntN(200)))
			plantOne(p, r, &want, counted)
		}
		p.good(4)
		sent := p.sent
		if !counted && !late {
			sent = Unknown
		}
		s := p.check(!late).Close(sent, testPeriod)
		checkSummary(t, s)
		if s.Counts != want || s.BeforeStart != before {
			t.Fatalf("seed %d: counted %+v, planted %+v; before %d, %d", seed, s.Counts, want, s.BeforeStart, before)
		}
	}
}

// Whatever comes, nothing panics and the balance holds.
func FuzzChecker(f *testing.F) {
	f.Add([]byte(" !\"#$%&&&'(*+,,-."), int64(20), int64(5), uint8(1))
	f.Add([]byte("xyz{|}~ !\x00\x01\xff#"), int64(3), int64(0), uint8(0))
	f.Add([]byte(" !^_=>"), int64(0), int64(0), uint8(1)) // two jumps of 60
	f.Add([]byte(" !^_=>"), int64(31), int64(0), uint8(1))
	f.Add([]byte{0, 1, 2, 2, 2, 3, 255, 0, 0}, int64(-1), int64(1), uint8(4))
	f.Add([]byte{0, 0, 0, 7, 7, 0}, int64(2), int64(1<<40), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, sent, period int64, mode uint8) {
		data = data[:min(len(data), 4000)]
		k := NewChecker([]Cycle{Printable, Constant(0), Counter}[mode/2%3], mode%2 == 1)
		var at int64
		for i, b := range data {
			if i >= 8 && mode&64 != 0 {
				at += int64(binary.LittleEndian.Uint64(data[i-8:]))
			}
			k.Feed(b, at)
			if i%16 == 0 {
				checkSummary(t, k.Close(sent, period))
			}
		}
		s := k.Close(sent, period)
		checkSummary(t, s)
		if s.Received != int64(len(data)) {
			t.Errorf("received %d of %d", s.Received, len(data))
		}
		checkSummary(t, k.Close(int64(len(data)), period))
		checkSummary(t, k.Close(Unknown, 0))
	})
}

// The same for streams that look like a run.
func FuzzScript(f *testing.F) {
	f.Add([]byte("goodlostagain"), true)
	f.Fuzz(func(t *testing.T, script []byte, heard bool) {
		p := newPlant(Printable)
		for i := 0; i+1 < min(len(script), 200); i += 2 {
			n := int64(script[i+1])
			switch script[i] % 6 {
			case 0, 1:
				p.good(n)
			case 2:
				p.lose(n)
			case 3:
				p.corrupt(script[i+1])
			case 4:
				p.extra(script[i+1])
			case 5:
				p.stall(n)
			}
		}
		k := p.check(heard)
		checkSummary(t, k.Close(p.sent, testPeriod))
		checkSummary(t, k.Close(p.sent, 0))
	})
}

func TestBin(t *testing.T) {
	last := 0
	for ns := int64(0); ns < 1<<62; ns += 1 + ns/1000 {
		b := bin(ns)
		if b < last || b > last+1 {
			t.Fatalf("%d ns is in bin %d, behind bin %d", ns, b, last)
		}
		if wide := ns + ns/octave + 1; bin(wide) == b {
			t.Fatalf("bin %d holds both %d and %d ns", b, ns, wide)
		}
		last = b
	}
	if b := bin(1<<63 - 1); b >= len(doubts{}.again) {
		t.Errorf("the longest interval is in bin %d", b)
	}
	if bin(-5) != 0 {
		t.Error("an interval below zero is not in the first bin")
	}
}

func TestCheckerDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	k := NewChecker(Printable, true)
	if n := testing.AllocsPerRun(1000, func() {
		for range 100 {
			k.Feed(byte(r.IntN(128)), int64(r.IntN(1e9)))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// cycles is a clean stream.
func cycles(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = Printable.Char(int64(i))
	}
	return b
}

func BenchmarkRight(b *testing.B) {
	data := cycles(95 * 1000)
	b.Run("Advance", func(b *testing.B) {
		k := NewChecker(Printable, true)
		for n := 0; n < b.N; n += len(data) {
			for i, c := range data {
				if !k.Advance(c, int64(i)) {
					k.Feed(c, int64(i))
				}
			}
		}
	})
	b.Run("Feed", func(b *testing.B) {
		k := NewChecker(Printable, true)
		for n := 0; n < b.N; n += len(data) {
			for i, c := range data {
				k.Feed(c, int64(i))
			}
		}
	})
	b.Run("ScanAndAdvance", func(b *testing.B) {
		k, s := NewChecker(Printable, true), NewScanner(0)
		for n := 0; n < b.N; n += len(data) {
			for i, c := range data {
				if !s.Plain(c) || !k.Advance(c, int64(i)) {
					b.Fatal("a right character is none")
				}
			}
		}
	})
}

func BenchmarkNoise(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 1<<16)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	k := NewChecker(Printable, true)
	for n := 0; n < b.N; n += len(data) {
		for i, c := range data {
			k.Feed(c, int64(i))
		}
	}
}
