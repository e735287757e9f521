package ring

import (
	"runtime"
	"testing"
)

func put(r *Ring[int], v int) bool {
	s := r.Slot()
	if s == nil {
		r.Drop(1)
		return false
	}
	*s = v
	r.Commit()
	return true
}

func TestNewRoundsUp(t *testing.T) {
	for _, tt := range []struct{ ask, want int }{{-1, 2}, {0, 2}, {2, 2}, {3, 4}, {64, 64}, {65, 128}} {
		if got := New[int](tt.ask).Cap(); got != tt.want {
			t.Errorf("New(%d) holds %d, want %d", tt.ask, got, tt.want)
		}
	}
}

func TestOverflowIsCountedAndLosesNothingElse(t *testing.T) {
	r := New[int](4)
	for i := range 7 {
		if got, want := put(r, i), i < 4; got != want {
			t.Errorf("record %d taken: %v, want %v", i, got, want)
		}
	}
	if r.Dropped() != 3 || r.Len() != 4 {
		t.Errorf("dropped %d, waiting %d; want 3 and 4", r.Dropped(), r.Len())
	}
	dst := make([]int, 3)
	if n := r.Next(dst); n != 3 || dst[0] != 0 || dst[2] != 2 {
		t.Errorf("Next gave %d records: %v", n, dst)
	}
	if !put(r, 9) {
		t.Error("no room after records were taken")
	}
	if n := r.Next(dst); n != 2 || dst[0] != 3 || dst[1] != 9 {
		t.Errorf("Next gave %d records: %v", n, dst[:n])
	}
	if n := r.Next(dst); n != 0 {
		t.Errorf("an empty ring gave %d records", n)
	}
}

func TestPeekAndAdvance(t *testing.T) {
	r := New[int](2)
	if r.Peek() != nil {
		t.Fatal("an empty ring has a record")
	}
	for i := range 10 { // around the end several times
		put(r, i)
		p := r.Peek()
		if p == nil || *p != i {
			t.Fatalf("record %d: %v", i, p)
		}
		r.Advance()
	}
}

func TestASlotIsNotVisibleBeforeCommit(t *testing.T) {
	r := New[int](2)
	*r.Slot() = 5
	if r.Len() != 0 || r.Peek() != nil {
		t.Error("the consumer sees a record that was not committed")
	}
}

// One producer that drops and one consumer: everything that was committed
// arrives once and in order, and the drops make up the rest. Run with -race.
func TestTwoGoroutines(t *testing.T) {
	const total = 200_000
	r := New[int](64)
	done := make(chan int)
	go func() {
		sent := 0
		for i := range total {
			if put(r, i) {
				sent++
			} else {
				runtime.Gosched()
			}
		}
		done <- sent
	}()
	dst := make([]int, 10)
	last, taken, sent := -1, 0, -1
	for sent < 0 || taken < sent {
		n := r.Next(dst)
		for _, v := range dst[:n] {
			if v <= last {
				t.Fatalf("%d after %d", v, last)
			}
			last = v
		}
		taken += n
		select {
		case sent = <-done:
		default:
			if n == 0 {
				runtime.Gosched()
			}
		}
	}
	if int64(taken)+r.Dropped() != total {
		t.Errorf("%d taken and %d dropped of %d", taken, r.Dropped(), total)
	}
}

func TestNothingAllocates(t *testing.T) {
	r := New[int](4)
	dst := make([]int, 4)
	n := testing.AllocsPerRun(1000, func() {
		for i := range 6 {
			put(r, i)
		}
		r.Next(dst)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
