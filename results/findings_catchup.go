package results

import (
	"fmt"
	"math"
)

// catchUpKind is how the stream went on behind a stall.
type catchUpKind int

const (
	caughtSkip  catchUpKind = iota // on the grid, the missed characters left out
	caughtBurst                    // the missed characters at once
	caughtShift                    // one period later: the grid has moved
	caughtHeld                     // they came in one read: the stall was the receiver's
	catchUpKinds
)

var catchUpWords = [catchUpKinds]string{"skip", "burst", "shift", "held"}

// catchUp votes on how the sender went on behind the stall that ended with
// arrival i. Only a stall of two periods and more tells: below that no
// character was missed and all policies do the same. Without a period nobody
// promised a schedule that could be kept.
func (e *Evidence) catchUp(i int) {
	p := e.opt.PeriodNS
	stall := e.at[i] - e.at[i-1]
	if p <= 0 || float64(stall) < 2.05*float64(p) || i+1 >= e.fill {
		return
	}
	owed := stall/p - 1 // characters that were due meanwhile, besides this one
	if held := int64(e.n[i]&^disturbedMark) - 1; 10*held >= 6*owed {
		e.votes[caughtHeld]++
		return
	}
	if e.burst(i, owed, p) {
		e.votes[caughtBurst]++
		return
	}
	next := float64(e.at[i+1]-e.at[i]) / float64(p)
	rest := 1 - (float64(stall)/float64(p) - math.Floor(float64(stall)/float64(p)))
	if rest < .2 || rest > .85 {
		return // on the grid by chance, or characters lost: shift and skip look alike
	}
	switch {
	case math.Abs(next-rest) < .08:
		e.votes[caughtSkip]++
	case math.Abs(next-1) < .08:
		e.votes[caughtShift]++
	}
}

// burst says whether the characters that were owed came one behind the other.
func (e *Evidence) burst(i int, owed, p int64) bool {
	near := max(e.opt.CharNS*3/2, p/20)
	if e.opt.CharNS > p/4 {
		return false // as fast as the line takes them is not much faster than the schedule
	}
	need := min((6*owed+9)/10, evidenceAhead-2)
	got := int64(0)
	for k := i + 1; k < e.fill && got < need; k++ {
		if e.at[k]-e.at[k-1] > near {
			break
		}
		got += int64(e.n[k] &^ disturbedMark)
	}
	return got >= need
}

// catchUpFinding names the policy that the stalls show, if they agree.
func (e *Evidence) catchUpFinding() []Finding {
	var all, best int64
	kind := caughtSkip
	for k, n := range e.votes {
		all += n
		if n > best {
			best, kind = n, catchUpKind(k)
		}
	}
	if best < 3 || 5*best < 4*all {
		return nil
	}
	f := finding{code: "catch-up-" + catchUpWords[kind], evidence: fmt.Sprintf("%d of %d stalls of two periods and more", best, all)}
	switch kind {
	case caughtSkip:
		f.text = "behind a stall the sender goes on upon its grid and leaves out what it missed"
		f.remedy = "if each character counts, send with --catch-up burst"
	case caughtBurst:
		f.text = "behind a stall the sender sends all it missed at once"
		f.remedy = "if the other end needs the gap, send with --catch-up skip"
	case caughtShift:
		f.text = "behind a stall the sender waits a whole period again: its grid moves by each delay"
		f.remedy = "send with a timer that keeps its grid: --timer absolute or periodic"
	case caughtHeld:
		f.code = "held-by-receiver"
		f.text = "what was due in a stall came in one read: it had been sent, and waited in the receiver or its adapter"
		f.remedy = "look at what else runs on the receiver's machine and at its adapter's latency; the kernel hands characters on in a worker of ordinary priority, whatever the receiver's own"
	}
	if e.opt.CatchUp != "" && kind < caughtHeld && e.opt.CatchUp != catchUpWords[kind] {
		f.text += fmt.Sprintf(", although it announced %s", e.opt.CatchUp)
	}
	return []Finding{f.finding()}
}
