package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/serialport"
	"serialtiming/protocol"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
	"serialtiming/sender/load"
	"serialtiming/sender/pace"
)

// phase sends one run beside its load: announce, stream, announce.
func (s *session) phase(ctx context.Context, i int) (err error) {
	beside, err := s.startLoad(ctx, i)
	if err != nil {
		return s.leaveOut(ctx, i, err)
	}
	defer func() {
		if stopped := beside.Stop(); err == nil {
			err = stopped
		}
	}()
	msg := s.announcement(i)
	if err := s.begin(msg); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return s.end(msg, ctx.Err(), assemble.ReasonInterrupt)
	}
	s.sent, s.changed = 0, nil
	s.stream.begin(s.pace())
	end := s.follow(ctx)
	s.remark(end.result)

	after := closing(msg, end, s.lateness())
	after.Extra = append(after.Extra, s.changed...)
	after.Extra = append(after.Extra, s.loadRemarks(beside)...)
	if early := s.reason(ctx, end.err); early == assemble.ReasonInterrupt || early == assemble.ReasonGone {
		after.Extra = append(after.Extra, protocol.Pair{Key: "stopped", Value: early})
	}
	after.Last = i == len(s.flags.phases)-1 || ctx.Err() != nil
	if !after.Last {
		after.NextMS = (s.flags.settle + startsWithin(s.flags.phases[i+1].load)).Milliseconds()
	}
	failed := s.settle(after, end.err)
	s.finish(after, s.reason(ctx, end.err))
	return failed
}

// begin opens a run, here and on the wire.
func (s *session) begin(msg protocol.Announcement) error {
	if s.flags.loopback {
		s.assembler.BeginLoopback(assemble.Opening(msg))
	} else {
		s.assembler.Begin(assemble.Opening(msg))
	}
	if s.announces() {
		return s.announce(msg)
	}
	return nil
}

// leaveOut tells the receiver that phase i could not begin, and that neither
// it nor those behind it will come: else it would take the sender for dead.
func (s *session) leaveOut(ctx context.Context, i int, why error) error {
	reason := assemble.ReasonLoad
	if ctx.Err() != nil {
		reason = assemble.ReasonInterrupt
	}
	if i == 0 && !s.announces() {
		return why
	}
	msg := s.announcement(i)
	if s.begin(msg) != nil {
		return why
	}
	return s.end(msg, why, reason)
}

// end closes a run of which no character was sent, and all that would follow.
func (s *session) end(msg protocol.Announcement, why error, reason string) error {
	after := closing(msg, paced{}, nil)
	after.Extra = append(after.Extra, protocol.Pair{Key: "stopped", Value: reason})
	after.Last = true
	_ = s.settle(after, nil) // why is the error
	s.finish(after, reason)
	if msg.Run > 1 && errors.Is(why, context.Canceled) {
		return nil // as when Ctrl-C ends a run in the middle
	}
	return why
}

// startsWithin is how long it may take to end the load before this one and to
// start it: then the receiver, which adds five seconds, takes the sender for
// dead. On a busy machine a load has taken more than ten.
func startsWithin(l load.Spec) time.Duration {
	if l.Kind == load.None {
		return 5 * time.Second
	}
	return 20 * time.Second
}

// startLoad starts the phase's load and gives it time to settle. Meanwhile a
// person can do by hand what no command does.
func (s *session) startLoad(ctx context.Context, i int) (*load.Load, error) {
	p := &s.flags.phases[i]
	if len(s.flags.loads) > 0 {
		s.voice.Say("phase %d of %d in %v: %s", i+1, len(s.flags.phases), s.flags.settle, results.OneLine(p.label))
	}
	beside, err := load.Start(ctx, p.load)
	if err != nil {
		return nil, notStarted(p.load, err)
	}
	select {
	case <-ctx.Done():
		beside.Stop()
		return nil, ctx.Err()
	case <-time.After(s.flags.settle):
	}
	if err := beside.Err(); errors.Is(err, load.ErrNoCommand) {
		beside.Stop()
		return nil, notStarted(p.load, err)
	}
	return beside, nil
}

func notStarted(l load.Spec, err error) error {
	hint := map[load.Kind]string{
		load.Command: "try its command by itself, or drop this --load",
		load.Threads: "ask for fewer threads, or drop this --load",
		load.Memory:  "ask for less memory, or drop this --load",
		load.Disk:    "name a folder that you may write to, on a disk with more than a tenth free, or drop this --load",
	}[l.Kind]
	return cli.WithHint(fmt.Errorf("the load %q (%s) did not start: %w", l.Label, l.Text, err), "%s", hint)
}

// loadRemarks are what the load has to say of itself.
func (s *session) loadRemarks(l *load.Load) (extra []protocol.Pair) {
	for _, n := range l.Notes() {
		s.voice.Warn("load %s: %s", l.Spec().Label, n)
		extra = append(extra, protocol.Pair{Key: "load_note", Value: n})
	}
	select {
	case <-l.Done():
		why := "it ended by itself"
		if err := l.Err(); err != nil {
			why = err.Error()
		}
		s.voice.Warn("load %s ended before the run did: %s", l.Spec().Label, why)
		extra = append(extra, protocol.Pair{Key: "load_ended", Value: why})
	default:
	}
	return extra
}

// announces says whether frames go over the wire.
func (s *session) announces() bool { return !s.flags.plain && !s.flags.loopback }

// pace is what the hot loop is told.
func (s *session) pace() pace.Config {
	f := &s.flags
	payload := make([]byte, f.cycle.Length)
	for i := range payload {
		payload[i] = f.cycle.Char(int64(i))
	}
	return pace.Config{
		Period: f.period, Count: f.count, Duration: f.duration, Kind: f.kind, CatchUp: f.policy,
		Payload: payload, Stop: &s.stop,
	}
}

// settle ends a run on the wire; failed is what ended the stream.
func (s *session) settle(after protocol.Announcement, failed error) error {
	switch {
	case failed != nil:
		serialport.Discard(s.port)
		if cli.HintOf(failed) != "" {
			return failed
		}
		return serialport.Fault(s.port, "write to", failed)
	case s.announces():
		return s.announce(after)
	}
	if s.flags.loopback {
		s.awaitEcho()
	}
	return s.put(nil)
}

// finish closes the run in the report and the log.
func (s *session) finish(after protocol.Announcement, reason string) {
	if s.flags.loopback {
		s.drain()
		s.drain() // what the first one held back
		s.assembler.EndLoopback(assemble.Closing(after), reason)
		return
	}
	s.assembler.End(assemble.Closing(after), reason)
}

func (s *session) reason(ctx context.Context, failed error) string {
	switch {
	case failed != nil:
		return assemble.ReasonGone
	case ctx.Err() != nil:
		return assemble.ReasonInterrupt
	case s.flags.duration > 0:
		return assemble.ReasonDuration
	}
	return assemble.ReasonCount
}

// awaitEcho waits until no character of a loopback comes back any more.
func (s *session) awaitEcho() {
	quiet := protocol.Quiet(s.flags.line.CharTime(s.flags.port.Baud))
	for last := time.Now(); time.Since(last) < quiet; {
		time.Sleep(pollEvery)
		s.drain()
		if len(s.echo.held) > 0 {
			last = time.Now()
		}
	}
}

// follow takes the records while the stream runs.
func (s *session) follow(ctx context.Context) paced {
	live := cli.NewLive(s.voice, s.stderr)
	defer live.Done()
	started := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	interrupted := ctx.Done()
	for {
		select {
		case <-interrupted:
			s.stop.Store(true)
			interrupted = nil
		case end := <-s.stream.result:
			s.drain()
			return end
		case <-tick.C:
		}
		s.drain()
		s.look()
		s.log.Tick()
		live.Draw(func() string { return s.liveLine(time.Since(started)) })
	}
}

// drain hands the records to the assembler, and what came back.
func (s *session) drain() {
	events, lost := s.echo.take(s.zero)
	if s.errors != nil {
		s.errors.Look(len(s.echo.held), func(i int) *results.Event { return &s.echo.held[i] })
	}
	for r := s.stream.ring.Peek(); r != nil; r = s.stream.ring.Peek() {
		row := results.LogRow{
			Run: int32(s.assembler.Number()), Seq: r.Seq, Due: int64(r.Due.Sub(s.zero)), Woke: int64(r.Woke.Sub(s.zero)),
			Wrote: int64(r.Wrote.Sub(s.zero)), Arrived: results.NoInstant, Byte: int16(r.Byte), Batch: 1,
		}
		if s.flags.loopback {
			s.assembler.Wrote(row)
		} else {
			s.assembler.Sent(row)
		}
		s.sent = r.Seq + 1
		s.stream.ring.Advance()
	}
	for _, ev := range events {
		s.assembler.Event(ev)
	}
	s.dropped += lost
}

// remark says what the hot loop had to do that the figures do not show.
func (s *session) remark(r pace.Result) {
	if r.RecordsDropped > 0 {
		s.voice.Warn("%d characters were sent but not recorded: the log and the figures of the sender lack them", r.RecordsDropped)
	}
	if r.GaveWay > 0 {
		s.voice.Warn("the stream slept %d times to let the machine run, which had stood still for half a second", r.GaveWay)
		s.voice.Hint("give the machine a second processor, or use a longer --period")
	}
}

// lateness is what goes into the closing announcement; nil without a schedule.
func (s *session) lateness() *protocol.Lateness {
	d := s.assembler.Lateness()
	if d == nil || d.Max == nil {
		return nil
	}
	l := &protocol.Lateness{Max: *d.Max, P50: *d.Max, P99: *d.Max}
	if d.P50 != nil {
		l.P50 = *d.P50
	}
	if d.P99 != nil {
		l.P99 = *d.P99
	}
	return l
}

// closing turns the announcement into the one behind the run.
func closing(a protocol.Announcement, end paced, late *protocol.Lateness) protocol.Announcement {
	r, c := end.result, end.usage
	a.Kind, a.Sent, a.Missed, a.Lateness = protocol.After, r.Sent, r.Missed, late
	number := func(key string, v int64) {
		a.Extra = append(a.Extra, protocol.Pair{Key: key, Value: fmt.Sprint(v)})
	}
	a.Extra = a.Extra[:len(a.Extra):len(a.Extra)]
	number("sender_gc", c.GC)
	if end.counted {
		number("sender_page_faults", c.PageFaults)
		number("sender_involuntary_switches", c.InvoluntarySwitches)
	}
	return a
}

// look notes what the system took back during the run, such as a timer
// resolution that another program changed: it voids the run.
func (s *session) look() {
	for _, g := range s.realtime.Changed() {
		pair := protocol.Pair{Key: "changed", Value: fmt.Sprintf("%s: asked %s, now %s: %s", g.Item, g.Asked, g.Got, g.Why)}
		if !slices.Contains(s.changed, pair) {
			s.changed = append(s.changed, pair)
			s.voice.Warn("%s", pair.Value)
		}
	}
}

func (s *session) liveLine(elapsed time.Duration) string {
	total := s.flags.duration
	if s.flags.count > 0 {
		total = time.Duration(s.flags.count) * s.flags.period
	}
	line := elapsed.Round(time.Second).String()
	if total > 0 {
		line += " of " + total.Round(time.Second).String()
	}
	line += fmt.Sprintf("  %d characters", s.sent)
	if d := s.assembler.Lateness(); d != nil && d.Max != nil && d.Mean != nil {
		line += fmt.Sprintf("  late mean %.3f  max %.3f ms", *d.Mean/1e6, float64(*d.Max)/1e6)
	}
	return line
}
