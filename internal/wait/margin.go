package wait

import "time"

// margin is how long before the due time a hybrid wait stops sleeping. It
// follows the quantile 1 - 1/marginOdds of the lateness of this machine's
// sleeps by stochastic approximation: a sleep that came later than the margin
// raises it by one step, every other one lowers it by step/marginOdds. So it
// spins no longer than it has learnt to need, and is too short for about one
// wake in marginOdds.
type margin struct {
	value, least, most time.Duration
}

const (
	marginStart = 250 * time.Microsecond // the field notes' figure
	marginLeast = 5 * time.Microsecond
	marginMost  = 2 * time.Millisecond // a longer spin is no longer a wait
	marginStep  = 10 * time.Microsecond
	marginOdds  = 200
)

// start sets the margin for a period: it never spins more than half of it.
func (m *margin) start(period time.Duration) {
	m.most = min(marginMost, period/2)
	m.least = min(marginLeast, m.most)
	m.value = min(marginStart, m.most)
}

// learn takes the lateness of one sleep.
//
//go:nosplit
func (m *margin) learn(late time.Duration) {
	if late > m.value {
		m.value += marginStep
	} else {
		m.value -= marginStep / marginOdds
	}
	m.value = max(m.least, min(m.value, m.most))
}
