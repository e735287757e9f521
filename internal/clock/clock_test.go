package clock

import (
	"math/big"
	"testing"
	"time"
)

func TestNowNeverGoesBack(t *testing.T) {
	last := Now()
	for range 100_000 {
		now := Now()
		if now < last {
			t.Fatalf("the clock went back by %v", last.Sub(now))
		}
		last = now
	}
}

// Go's own clock says what lies at least and at most between two readings,
// however long the machine takes the thread away in between. Its steps may be
// coarse (15.6 ms on Windows); a wrong unit is wrong by far more.
func TestNowKeepsTheTime(t *testing.T) {
	const coarse = 20 * time.Millisecond
	outer := time.Now()
	began := Now()
	inner := time.Now()
	time.Sleep(100 * time.Millisecond)
	least := time.Since(inner)
	took := Now().Sub(began)
	most := time.Since(outer)
	if took < least-coarse || took > most+coarse {
		t.Errorf("%v passed by this clock, %v to %v by Go's", took, least, most)
	}
}

func TestNowDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Now() }); n != 0 {
		t.Errorf("a reading allocates %v times", n)
	}
}

func TestInstantArithmetic(t *testing.T) {
	i := Instant(1_000)
	if got := i.Add(5 * time.Microsecond); got != 6_000 {
		t.Errorf("Add: %d", got)
	}
	if got := i.Sub(3_000); got != -2*time.Microsecond {
		t.Errorf("Sub: %v", got)
	}
}

func TestName(t *testing.T) {
	if Name() == "" {
		t.Error("the clock has no name for the log")
	}
}

// A clock that moves in steps, read several times a step.
func stepping(size Instant, reads int) func() Instant {
	n := 0
	return func() Instant { n++; return Instant(n/reads) * size }
}

func TestStep(t *testing.T) {
	tests := []struct {
		name string
		now  func() Instant
		want time.Duration
	}{
		{"every reading moves", stepping(30, 1), 30},
		{"coarse", stepping(500_000, 100), 500_000},
		{"stands still", func() Instant { return 7 }, 0},
	}
	for _, tt := range tests {
		if got := step(tt.now, 5*time.Millisecond); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := Step(); got <= 0 || got > 20*time.Millisecond {
		t.Errorf("this machine's clock steps by %v", got)
	}
}

func TestCountsToNs(t *testing.T) {
	tests := []struct{ count, hz, want int64 }{
		{0, 10_000_000, 0},
		{1, 10_000_000, 100},
		{3_579_545, 3_579_545, 1e9},
		{3_579_545 * 3600 * 24, 3_579_545, 86400e9}, // a day: a rounded step would be 112 s off
		{1, 3_579_545, 279},
		{1 << 62, 1e9, 1 << 62},
		{-1, 10_000_000, 0},
		{1, 0, 0},
	}
	for _, tt := range tests {
		if got := countsToNs(tt.count, tt.hz); got != tt.want {
			t.Errorf("%d counts of %d Hz: %d ns, want %d", tt.count, tt.hz, got, tt.want)
		}
	}
}

func FuzzCountsToNs(f *testing.F) {
	f.Add(int64(1), int64(3_579_545))
	f.Add(int64(1)<<61, int64(1e9))
	f.Fuzz(func(t *testing.T, count, hz int64) {
		if count <= 0 || hz <= 0 {
			return
		}
		want := new(big.Int).Mul(big.NewInt(count), big.NewInt(1e9))
		want.Div(want, big.NewInt(hz))
		if !want.IsInt64() {
			return // longer than the clock's range
		}
		if got := countsToNs(count, hz); got != want.Int64() {
			t.Errorf("%d counts of %d Hz: %d ns, want %v", count, hz, got, want)
		}
	})
}
