package wait

import (
	"testing"
	"time"

	"serialtiming/internal/clock"
)

// Readings of the clock count from now: after giving way the watch begins anew
// at the clock's own reading.
func TestBeatGivesWayOnlyWhenItStandsStill(t *testing.T) {
	began := clock.Now()
	steps := []struct {
		name        string
		now         time.Duration
		beats, rest bool
		want        int64
	}{
		{name: "soon", now: 100 * time.Millisecond},
		{name: "just not", now: beatLost},
		{name: "a beat", now: beatLost + 1, beats: true},
		{name: "it counts from there", now: 2*beatLost + 1},
		{name: "the loop slept", now: 2*beatLost + 2, rest: true},
		{name: "it counts from there too", now: 3*beatLost + 2},
		{name: "still", now: 3*beatLost + 3, want: 1},
	}
	b := Beat{started: true} // but nobody counts
	b.Begin(began)
	for _, s := range steps {
		now := began.Add(s.now)
		if s.beats {
			b.count.Add(1)
		}
		if s.rest {
			b.Rested(now)
			continue
		}
		before, real := b.GaveWay(), clock.Now()
		b.Watch(now)
		if slept := clock.Now().Sub(real); b.GaveWay() > before && slept < beatSleep {
			t.Errorf("%s: the machine got %v", s.name, slept)
		}
		if b.GaveWay() != s.want {
			t.Errorf("%s: gave way %d times, want %d", s.name, b.GaveWay(), s.want)
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
