package protocol

import "testing"

const testPeriod = 5_000_000 // ns

// plant is a stream with planted faults, as it arrives.
type plant struct {
	cycle   Cycle
	sent    int64
	now     int64
	chars   []byte
	arrived []int64
}

func newPlant(c Cycle) *plant { return &plant{cycle: c} }

func (p *plant) arrive(b byte) {
	p.chars = append(p.chars, b)
	p.arrived = append(p.arrived, p.now)
}

// next is the character that is sent next.
func (p *plant) next() byte { return p.cycle.Char(p.sent) }

// lose sends n characters that do not arrive.
func (p *plant) lose(n int64) *plant {
	p.sent += n
	p.now += n * testPeriod
	return p
}

// good sends n characters that arrive.
func (p *plant) good(n int64) *plant {
	for range n {
		p.arrive(p.next())
		p.lose(1)
	}
	return p
}

// corrupt sends characters that arrive as those given.
func (p *plant) corrupt(as ...byte) *plant {
	for _, b := range as {
		p.arrive(b)
		p.lose(1)
	}
	return p
}

// extra lets characters arrive that nobody sent, between two periods.
func (p *plant) extra(b ...byte) *plant {
	for _, b := range b {
		p.now -= testPeriod / 2
		p.arrive(b)
		p.now += testPeriod / 2
	}
	return p
}

// again lets the last character arrive n times more.
func (p *plant) again(n int) *plant {
	for range n {
		p.extra(p.chars[len(p.chars)-1])
	}
	return p
}

// stall holds everything up for n periods.
func (p *plant) stall(n int64) *plant {
	p.now += n * testPeriod
	return p
}

// late drops what arrived so far: the receiver was not there yet.
func (p *plant) late() *plant {
	p.chars, p.arrived = nil, nil
	return p
}

func (p *plant) check(heard bool) *Checker {
	k := NewChecker(p.cycle, heard)
	for i, b := range p.chars {
		k.Feed(b, p.arrived[i])
	}
	return k
}

// checkSummary holds what is true of every summary.
func checkSummary(t *testing.T, s Summary) {
	t.Helper()
	if !s.Balanced() {
		t.Errorf("no balance: %+v", s)
	}
	for _, n := range []int64{s.Lost, s.Duplicated, s.Corrupted, s.Extra, s.Received} {
		if n < 0 {
			t.Errorf("a count below zero: %+v", s)
		}
	}
	if s.BeforeStart < 0 && s.BeforeStart != Unknown {
		t.Errorf("before start %d", s.BeforeStart)
	}
	if s.Duplicated+s.Corrupted+s.Extra > s.Received {
		t.Errorf("more faulty characters than came: %+v", s)
	}
}
