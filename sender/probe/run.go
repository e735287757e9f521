package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/results"
	"serialtiming/sender/load"
)

// run is a probe at work.
type run struct {
	ctx    context.Context
	o      Options
	report *Report
	began  time.Time
	stop   atomic.Bool // for the hot loops

	cells, done int // for the progress
	now         string
	load        string // the label of the present load
	granted     string // the priority that the present session's threads got
	realtime    bool   // and whether that is real time
	thread      string // whose processor is asked for; "": there is one thread
	place       int64  // in the cycle of characters, of the next one to a port
}

func newRun(ctx context.Context, o Options) *run {
	host, _ := os.Hostname()
	rep := &Report{
		Format: Format, Version: Version, Probe: o.Probe,
		Machine: Machine{Host: host, OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.NumCPU(), Clock: clock.Name()},
		Started: time.Now().Format(time.RFC3339),
		Asked:   Asked{DurationNS: int64(o.Duration), Count: o.Count, Priorities: o.Priorities, Timers: []string{}},
		Loads:   []LoadRun{}, Granted: []Granted{}, Findings: []results.Finding{}, Warnings: []string{},
	}
	for _, k := range o.Timers {
		rep.Asked.Timers = append(rep.Asked.Timers, string(k))
	}
	return &run{ctx: ctx, o: o, report: rep, began: time.Now()}
}

func (r *run) finish() {
	r.report.ElapsedNS = int64(time.Since(r.began))
	if r.ctx.Err() != nil {
		r.warn("interrupted: the cells that were not reached are missing")
	}
}

// warn puts a sentence into the report, once.
func (r *run) warn(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if !slices.Contains(r.report.Warnings, text) {
		r.report.Warnings = append(r.report.Warnings, text)
	}
}

// quota is a cell's share of the probe: a time, or a number of ticks.
type quota struct {
	time  time.Duration // 0: until the count is reached
	count int64         // 0: until the time is over
}

// share cuts the probe into so many equal cells.
func (o *Options) share(cells int) quota {
	if o.Count > 0 {
		return quota{count: max(o.Count/int64(cells), 1)}
	}
	d := o.Duration
	if d == 0 {
		d = DefaultDuration(o.Probe, cells)
	}
	return quota{time: d / time.Duration(cells)}
}

// eachLoad starts the loads one after the other and measures under each. A
// load that ended early is a finding, what was measured stays.
func (r *run) eachLoad(measure func() error) error {
	for _, s := range r.o.Loads {
		if r.ctx.Err() != nil {
			return nil
		}
		if err := r.under(s, measure); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) under(s load.Spec, measure func() error) (err error) {
	r.load, r.now = s.Label, "starting the load"
	if s.Kind != load.None || len(r.o.Loads) > 1 {
		r.o.Say("load %q (%s)", s.Label, s.Text)
	}
	r.progress()
	l, err := load.Start(r.ctx, s)
	if err != nil {
		if r.ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("load %q did not start: %w", s.Label, err)
	}
	defer func() {
		if stopped := l.Stop(); err == nil {
			err = stopped
		}
	}()
	if s.Kind != load.None {
		r.pause(r.o.Settle)
	}
	if err := l.Err(); errors.Is(err, load.ErrNoCommand) {
		return fmt.Errorf("load %q did not start: %w", s.Label, err)
	}
	err = measure()
	row := LoadRun{Label: s.Label, Spec: s.Text, Notes: append([]string{}, l.Notes()...)}
	for _, n := range row.Notes {
		r.o.Warn("load %q: %s", s.Label, n)
	}
	if early := l.Err(); early != nil {
		text := early.Error()
		row.EndedEarly = &text
		r.o.Warn("load %q: %s", s.Label, text)
		r.find("load-ended-early", "load %q: %s; what was measured after that was measured without it", s.Label, text)
	}
	r.report.Loads = append(r.report.Loads, row)
	return err
}

func (r *run) find(code, format string, a ...any) {
	r.report.Findings = append(r.report.Findings, results.Finding{Code: code, Text: fmt.Sprintf(format, a...)})
}

// pause waits, with the progress.
func (r *run) pause(d time.Duration) {
	r.now = "settling"
	for end := time.Now().Add(d); time.Now().Before(end) && r.ctx.Err() == nil; {
		time.Sleep(min(pollEvery, time.Until(end)))
		r.progress()
	}
}

const pollEvery = 20 * time.Millisecond

// progress draws the line: where the probe is, and how long it has run.
func (r *run) progress() {
	r.o.Live(func() string {
		return fmt.Sprintf("%s  %d of %d  %s: %s", time.Since(r.began).Round(time.Second), r.done, r.cells, r.load, r.now)
	})
}

// eachPriority prepares the process for each priority and measures under it.
func (r *run) eachPriority(threads, cpu int, measure func(s *realtime.Session, priority string) error) error {
	for _, p := range r.o.Priorities {
		if r.ctx.Err() != nil {
			return nil
		}
		if err := r.prepared(p, threads, cpu, func(s *realtime.Session) error { return measure(s, p) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) prepared(priority string, threads, cpu int, measure func(*realtime.Session) error) error {
	return r.with(realtime.Request{Priority: priority, CPU: cpu, LockMemory: true, Threads: threads}, measure)
}

// with measures in a process that has asked for so much.
func (r *run) with(request realtime.Request, measure func(*realtime.Session) error) error {
	s, err := realtime.Prepare(request)
	if err != nil {
		return err
	}
	defer s.Restore()
	r.take(s.Grants())
	return measure(s)
}

// take books grants, tells new ones, and says what a refusal makes of the
// figures.
func (r *run) take(grants []realtime.Grant) {
	var fresh []realtime.Grant
	for _, g := range grants {
		if g.Item == realtime.ItemPriority {
			r.granted = g.Got
			p, err := realtime.ParsePriority(g.Asked)
			r.realtime = err == nil && p.Level == realtime.Realtime && g.Granted()
		}
		row := Granted{Granted: results.Granted{Side: "sender", Item: g.Item, Asked: g.Asked, Got: g.Got, Why: g.Why}}
		if g.Item == realtime.ItemCPU {
			row.Thread = r.thread
		}
		if slices.ContainsFunc(r.report.Granted, func(g Granted) bool { return sameAnswer(g, row) }) {
			continue
		}
		r.report.Granted = append(r.report.Granted, row)
		fresh = append(fresh, g)
		if !g.Granted() {
			if m := meaning(g); m != "" {
				r.warn("%s", m)
			}
		}
	}
	if len(fresh) > 0 {
		r.o.Granted(fresh)
	}
}

// sameAnswer tells whether two grants need only one line: how much of the
// memory could not be locked changes with each session.
func sameAnswer(a, b Granted) bool {
	if a.Item == realtime.ItemMemory && a.Why != "" {
		a.Got, b.Got = "", ""
	}
	return a == b
}

// meaning says what the figures are without something that was asked for.
func meaning(g realtime.Grant) string {
	switch g.Item {
	case realtime.ItemPriority:
		return fmt.Sprintf("priority %s was not granted: figures under it are those of %s, which the rest of the machine may hold up at will; they say what this user gets, not what the machine can do", g.Asked, g.Got)
	case realtime.ItemMemory:
		return "memory is not locked: a page that was written out shows as a delay of milliseconds that a prepared program would not have"
	case realtime.ItemCPU:
		return fmt.Sprintf("the thread could not be kept on processor %s: moves between processors are in the figures", g.Asked)
	case realtime.ItemIdle:
		return "the processors may fall into deep idle states: up to some 100 µs of the wake-ups are theirs"
	}
	return ""
}

// onThread runs work on a thread made for it and prepared, while poll is
// called here. It gives what the system did to that thread meanwhile.
func (r *run) onThread(s *realtime.Session, work, poll func()) results.Counters {
	var grants []realtime.Grant
	var c results.Counters
	done := make(chan struct{})
	go func() {
		defer close(done) // the goroutine ends locked, and its thread with it
		grants = s.LockThread()
		before, _ := realtime.ThreadUsage()
		work()
		after, ok := realtime.ThreadUsage()
		c = counters(after.Sub(before), ok)
	}()
	r.follow(done, poll)
	r.take(grants)
	return c
}

// follow polls until done, and passes an interruption on.
func (r *run) follow(done <-chan struct{}, poll func()) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	interrupted := r.ctx.Done()
	for {
		select {
		case <-done:
			poll()
			return
		case <-interrupted:
			r.stop.Store(true)
			interrupted = nil
		case <-tick.C:
			poll()
			r.progress()
		}
	}
}

func counters(u realtime.Counters, ok bool) results.Counters {
	c := results.Counters{Side: "sender", GC: &u.GC}
	if ok {
		c.PageFaults, c.InvoluntarySwitches = &u.PageFaults, &u.InvoluntarySwitches
	}
	return c
}

// cell counts a finished cell and says what the next one is.
func (r *run) cell(format string, a ...any) {
	r.now = fmt.Sprintf(format, a...)
	r.progress()
}

// over tells that the probe was interrupted.
func (r *run) over() bool { return r.ctx.Err() != nil || r.stop.Load() }
