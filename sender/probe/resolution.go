package probe

import (
	"fmt"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/sender/probe/system"
)

// resolution is seed 003's experiment: another process walks its request from
// nothing over 1 to 15 ms, and this one looks what becomes of the system's
// timer interrupt, of timeGetTime, and of its own Sleep(1).
func (r *run) resolution(q quota) error {
	r.load = "timer resolution"
	t := &ResolutionTable{}
	r.report.Resolution = t
	a, err := startAsker()
	if err != nil {
		t.Change2004, t.Why = undecidable, "the process that asks did not start: "+err.Error()
		return nil
	}
	defer a.close()
	if _, finest, err := system.TimerResolution(); err == nil {
		t.FinestNS = &finest
	}
	// This process must ask for nothing itself: the system would serve it, and
	// nothing of the other one's request could be seen.
	quiet := realtime.Request{Priority: "normal", CPU: r.o.CPU, LockMemory: true, Threads: 1, TimerResolution: realtime.ResolutionDefault}
	err = r.with(quiet, func(s *realtime.Session) error {
		for ms := int64(0); ms <= lastResolution && !r.over(); ms++ {
			r.cell("another process asks for %d ms", ms)
			row := ResolutionRow{AskedMS: ms}
			if err := a.ask(ms); err != nil {
				row.Why = err.Error()
			} else {
				r.onThread(s, func() { r.look(&row, q) }, func() {})
			}
			t.Rows = append(t.Rows, row)
			r.done++
		}
		return nil
	})
	t.Change2004, t.Why = verdict2004(t.Rows, system.RuntimeAsksForResolution())
	return err
}

// look measures one request's effect; half of the time goes to each way.
func (r *run) look(row *ResolutionRow, q quota) {
	half := q.time / 2
	if half == 0 {
		half = 2 * time.Second // a count is of sleeps; as long as in the seed
	}
	var sum time.Duration
	began := clock.Now()
	for now := began; !r.over() && now.Sub(began) < half && (q.count == 0 || row.Sleeps < q.count); {
		before := clock.Now()
		system.SleepMillisecond()
		now = clock.Now()
		sum += now.Sub(before)
		row.Sleeps++
	}
	// Read under way, not at once: the system takes a moment to follow.
	if current, _, err := system.TimerResolution(); err == nil {
		row.CurrentNS = &current
	}
	if row.Sleeps >= leastTicks {
		mean := round1(float64(sum) / float64(row.Sleeps))
		row.SleepNS = &mean
	} else {
		row.Why = fmt.Sprintf("only %s in its share of the probe; %d are needed", counted(row.Sleeps, "sleep"), leastTicks)
	}
	row.StepNS = timeStep(min(half, time.Second), r.over)
}

// timeStep is the most frequent step of timeGetTime, nil when it moved less
// than three times.
func timeStep(search time.Duration, over func() bool) *int64 {
	seen := map[uint32]int{}
	last, ok := system.MultimediaTime()
	moved := 0
	for end := clock.Now().Add(search); ok && clock.Now() < end && !over(); {
		now, _ := system.MultimediaTime()
		if now != last {
			seen[now-last]++
			last = now
			moved++
		}
	}
	if moved < 3 {
		return nil
	}
	var best uint32
	for step, n := range seen {
		if n > seen[best] || n == seen[best] && step < best {
			best = step
		}
	}
	ns := int64(best) * int64(time.Millisecond)
	return &ns
}

// The verdicts on the change of Windows 10 version 2004.
const (
	yes         = "yes"
	no          = "no"
	undecidable = "undecidable"
)

// verdict2004 reads the table. Until version 2004 the Sleep(1) of any process
// took the interval of the interrupt (at 1 ms up to two of them); since then it
// takes about 15 ms as long as the process itself has asked for nothing. Only
// rows tell in which the interrupt did follow the other process to 4 ms or
// less: there 2 and 15 ms cannot be mistaken.
func verdict2004(rows []ResolutionRow, runtimeAsks bool) (verdict, why string) {
	if runtimeAsks {
		return undecidable, "the Go runtime itself asks for 1 ms in this process, since this Windows has no high-resolution timers"
	}
	var fast, slow int
	followed := 0
	for _, row := range rows {
		if row.AskedMS < 1 || row.AskedMS > 4 || row.CurrentNS == nil || row.SleepNS == nil {
			continue
		}
		if asked := row.AskedMS * int64(time.Millisecond); *row.CurrentNS > asked*5/4 || *row.CurrentNS < asked*3/4 {
			continue // the interrupt is somebody else's, or did not follow
		}
		followed++
		switch {
		case *row.SleepNS < 2.5*float64(max(*row.CurrentNS, int64(time.Millisecond))):
			fast++
		default:
			slow++
		}
	}
	switch {
	case followed < 2:
		return undecidable, "the timer interrupt did not follow the other process's requests"
	case slow == followed:
		return yes, "the timer interrupt followed the other process, and Sleep(1) here did not"
	case fast == followed:
		return no, "Sleep(1) here took as long as the other process had asked for"
	}
	return undecidable, fmt.Sprintf("Sleep(1) followed the other process in %d of %d requests", fast, followed)
}
