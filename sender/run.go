package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/protocol"
	"serialtiming/receiver/assemble"
	"serialtiming/results"
	"serialtiming/results/report"
	"serialtiming/sender/pace"
)

const pollEvery = 20 * time.Millisecond

// send emits one run and reports what the sender itself saw.
func (p *program) send(ctx context.Context, args []string) (int, error) {
	f, done, err := parseSend(p, args)
	if done || err != nil {
		return cli.Done, err
	}
	if err := f.report.CheckOutputs(); err != nil {
		return 0, err
	}
	s := &session{program: p, flags: f}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	runs, failed := s.run(ctx)
	if len(runs) == 0 {
		return 0, failed
	}
	r := results.NewReport(results.Source{Kind: "sender", Class: "character", QuantumNS: 1}, runs)
	err = f.report.Write(p.stdout, cli.Forms{
		Text: func(w io.Writer) error { return report.Text(w, r) },
		JSON: func(w io.Writer) error { return report.JSON(w, r) },
	})
	if err != nil {
		return 0, err
	}
	return cli.Done, failed
}

// session is one run, from the port to the figures.
type session struct {
	*program
	flags sendFlags

	port     serialport.Port
	realtime *realtime.Session
	grants   []realtime.Grant
	log      *assemble.LogFile

	ring      *pace.Ring
	stop      atomic.Bool
	begin     chan bool
	result    chan paced
	zero      clock.Instant
	assembler *assemble.Assembler
	sent      int64
}

type paced struct {
	result pace.Result
	usage  realtime.Counters
	err    error
}

// open opens the log, the port, and real time on the thread of the stream.
func (s *session) open(ctx context.Context) error {
	var err error
	if s.log, err = assemble.CreateLog(s.flags.port.Log, results.SenderColumns, s.voice); err != nil {
		return err
	}
	l := s.flags.line
	port, err := serialport.OpenContext(ctx, s.flags.port.Port, s.flags.port.Config(s.voice, l.Data, l.Parity, l.Stop))
	if err != nil {
		return err
	}
	s.port = port
	s.ring = pace.NewRing(1 << 18)
	if s.realtime, err = realtime.Prepare(s.flags.port.Request(1)); err != nil {
		return err
	}
	s.begin, s.result = make(chan bool, 1), make(chan paced, 1)
	granted := make(chan []realtime.Grant)
	go func() {
		granted <- s.realtime.LockThread()
		if <-s.begin {
			s.stream()
		}
	}()
	s.grants = append(s.realtime.Grants(), <-granted...)
	s.grants = append(s.grants, cli.Settled(s.voice, port.Info())...)
	return s.flags.port.Grants(s.voice, s.grants)
}

// stream runs on the prepared thread.
func (s *session) stream() {
	f := &s.flags
	payload := make([]byte, f.cycle.Length)
	for i := range payload {
		payload[i] = f.cycle.Char(int64(i))
	}
	before, _ := realtime.ThreadUsage()
	r, err := pace.Run(pace.Config{
		Period: f.period, Count: f.count, Duration: f.duration, Kind: f.kind, CatchUp: f.policy,
		Payload: payload, Port: s.port, Records: s.ring, Stop: &s.stop,
	})
	after, _ := realtime.ThreadUsage()
	s.result <- paced{r, after.Sub(before), err}
}

// run announces, streams, and announces again. The error is what cut the run
// short.
func (s *session) run(ctx context.Context) ([]results.Run, error) {
	msg := s.announcement()
	s.header()
	s.assembler.Begin(assemble.Opening(msg))
	if !s.flags.plain {
		if err := s.announce(msg); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.begin <- true
	end := s.follow(ctx)
	s.remark(end.result)
	after := closing(msg, end.result.Sent, end.result.Missed, s.lateness(), end.usage)
	reason := assemble.ReasonCount
	switch {
	case end.err != nil:
		reason = assemble.ReasonGone
	case ctx.Err() != nil:
		reason = assemble.ReasonInterrupt
	case s.flags.duration > 0:
		reason = assemble.ReasonDuration
	}
	failed := end.err
	switch {
	case failed != nil:
		failed = s.fault(failed)
	case s.flags.plain:
		failed = s.port.Drain()
	default:
		failed = s.announce(after)
	}
	s.assembler.End(assemble.Closing(after), reason)
	runs := s.assembler.Finish(reason)
	if err := s.log.Close(); failed == nil {
		failed = err
	}
	return runs, failed
}

// fault gives an error of the hot loop the port's name and a hint.
func (s *session) fault(err error) error {
	if cli.HintOf(err) != "" {
		return err
	}
	return serialport.Fault(s.port, "write", err)
}

// header makes the assembler and writes the log's header.
func (s *session) header() {
	s.assembler = assemble.New(assemble.Options{
		Table: results.TableKind{Bin: time.Millisecond}, Quantum: 1, Log: s.log.Writer(), Wall: time.Now,
	})
	s.zero = clock.Now()
	for _, k := range assemble.Machine("sender", s.flags.port.Port, s.port.Info().Driver, s.zero) {
		s.assembler.Header(k)
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
		case end := <-s.result:
			s.drain()
			return end
		case <-tick.C:
		}
		s.drain()
		s.log.Tick()
		live.Draw(func() string { return s.liveLine(time.Since(started)) })
	}
}

// drain hands the records to the assembler.
func (s *session) drain() {
	for {
		r := s.ring.Peek()
		if r == nil {
			return
		}
		due := int64(r.Due.Sub(s.zero))
		s.assembler.Sent(results.LogRow{
			Run: 1, Seq: r.Seq, Due: due, Woke: int64(r.Woke.Sub(s.zero)), Wrote: int64(r.Wrote.Sub(s.zero)),
			Arrived: -1, Byte: int16(r.Byte), Batch: 1,
		})
		s.sent = r.Seq + 1
		s.ring.Advance()
	}
}

// remark says what the hot loop had to do that the figures do not show.
func (s *session) remark(r pace.Result) {
	if r.RecordsDropped > 0 {
		s.voice.Warn("%d characters were sent but not recorded: the log and the figures of the sender lack them", r.RecordsDropped)
	}
	if r.GaveWay > 0 {
		s.voice.Warn("the stream gave way %d times to the rest of the program, which had stood still for half a second", r.GaveWay)
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

func (s *session) close() {
	if s.begin != nil {
		close(s.begin)
	}
	if s.port != nil {
		s.port.Close()
	}
	if s.realtime != nil {
		s.realtime.Restore()
	}
	if s.log != nil {
		s.log.Close()
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
