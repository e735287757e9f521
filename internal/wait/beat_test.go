package wait

import (
	"testing"
	"time"

	"serialtiming/internal/clock"
)

func TestBeatGivesWayOnlyWhenItStandsStill(t *testing.T) {
	b := Beat{started: true} // but nobody counts
	b.Begin(0)
	at := func(d time.Duration) clock.Instant { return clock.Instant(d) }
	steps := []struct {
		now   time.Duration
		beats bool
		want  int64
	}{
		{100 * time.Millisecond, false, 0},
		{beatLost, false, 0},
		{beatLost + 1, false, 1},
		{beatLost + 2, false, 1}, // a new watch began
		{2*beatLost + 1, false, 1},
		{2*beatLost + 2, true, 1}, // alive again
		{3*beatLost + 2, false, 1},
		{3*beatLost + 3, false, 2},
		{4*beatLost + 4, false, 3}, // in vain: the machine's turn
	}
	for _, s := range steps {
		if s.beats {
			b.count.Add(1)
		}
		inVain, began := b.inVain, clock.Now()
		before := b.GaveWay()
		b.Watch(at(s.now))
		if slept := clock.Now().Sub(began); inVain && b.GaveWay() > before && slept < beatSleep {
			t.Errorf("at %v: the machine got %v", s.now, slept)
		}
		if b.GaveWay() != s.want {
			t.Errorf("at %v: gave way %d times, want %d", s.now, b.GaveWay(), s.want)
		}
	}
}

func TestABeatThatNeverStartedWatchesNothing(t *testing.T) {
	var b Beat
	b.Begin(0)
	if b.Watch(clock.Instant(time.Hour)); b.GaveWay() != 0 {
		t.Error("it gave way")
	}
}

func TestBeatBeats(t *testing.T) {
	var b Beat
	stop := b.Start()
	deadline := time.Now().Add(10 * time.Second)
	for b.count.Load() < 2 {
		if time.Now().After(deadline) {
			t.Fatal("no beat in ten seconds")
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
}

func TestGiveWayWhile(t *testing.T) {
	b := Beat{started: true}
	b.Begin(0)
	b.Watch(1)
	before := b.GaveWay()
	during := before
	GiveWayWhile(func() {
		b.Watch(2)
		b.Watch(3)
		during = b.GaveWay()
	})
	b.Watch(4)
	if before != 0 || during != 2 || b.GaveWay() != 2 {
		t.Errorf("gave way %d times before, %d with, %d after; want 0, 2, 2", before, during, b.GaveWay())
	}
}
