package wait

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestMarginStaysInItsBounds(t *testing.T) {
	tests := []struct {
		period, start, most time.Duration
	}{
		{time.Second, marginStart, marginMost},
		{time.Millisecond, marginStart, 500 * time.Microsecond},
		{100 * time.Microsecond, 50 * time.Microsecond, 50 * time.Microsecond},
		{2 * time.Microsecond, time.Microsecond, time.Microsecond},
	}
	for _, tt := range tests {
		var m margin
		m.start(tt.period)
		if m.value != tt.start {
			t.Errorf("%v: starts at %v, want %v", tt.period, m.value, tt.start)
		}
		for range 10_000 {
			m.learn(time.Hour)
		}
		if m.value != tt.most {
			t.Errorf("%v: grows to %v, want %v", tt.period, m.value, tt.most)
		}
		for range 10_000_000 / int(marginStep/marginOdds) {
			m.learn(0)
		}
		if want := min(marginLeast, tt.most); m.value > want+marginStep {
			t.Errorf("%v: shrinks to %v, want %v", tt.period, m.value, want)
		}
	}
}

// It learns the quantile: spins no longer than needed, and is too short for
// about one wake in marginOdds.
func TestMarginLearnsTheQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m margin
	m.start(10 * time.Millisecond)
	const wakes = 200_000
	short, sum := 0, time.Duration(0)
	for n := range wakes {
		late := 50*time.Microsecond + time.Duration(r.Float64()*100)*time.Microsecond
		if n >= wakes/2 {
			sum += m.value
			if late > m.value {
				short++
			}
		}
		m.learn(late)
	}
	mean := sum / (wakes / 2)
	if mean < 145*time.Microsecond || mean > 155*time.Microsecond {
		t.Errorf("it spins %v on average where 99.5 %% of the sleeps are at most 149.5 us late", mean)
	}
	if share := float64(short) / (wakes / 2); share > 2.0/marginOdds {
		t.Errorf("too short for %.2f %% of the wakes", 100*share)
	}
}
