package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/receiver/assemble"
	"serialtiming/receiver/capture"
	"serialtiming/results"
	"serialtiming/results/report"
)

const (
	pollEvery = 20 * time.Millisecond
	hintAfter = 5 * time.Second // of silence from the start
)

// receive captures from a port and reports.
func (p *program) receive(ctx context.Context, args []string) (int, error) {
	f, done, err := parseCapture(p, args)
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
	runs, failed := s.capture(ctx)
	if len(runs) == 0 {
		if failed == nil {
			failed = cli.WithHint(errors.New("nothing was received"), "%s", silenceHint(&f))
		}
		return 0, failed
	}
	kind := "port"
	if serialport.IsCable(f.port.Port) {
		kind = "cable"
	}
	r := results.NewReport(results.Source{Kind: kind, Class: "character", QuantumNS: 1}, runs)
	if err := f.report.Write(p.stdout, forms(r)); err != nil {
		return 0, err
	}
	return cli.Done, failed
}

// forms are the ways to write a report.
func forms(r results.Report) cli.Forms {
	return cli.Forms{
		Text: func(w io.Writer) error { return report.Text(w, r) },
		JSON: func(w io.Writer) error { return report.JSON(w, r) },
		CSV:  func(w io.Writer) error { return report.CSV(w, r) },
	}
}

// session is one capture, from the port to the runs.
type session struct {
	*program
	flags captureFlags

	port     serialport.Port
	realtime *realtime.Session
	log      *assemble.LogFile

	zero      clock.Instant
	assembler *assemble.Assembler
	reader    *capture.Reader
	stop      atomic.Bool
	result    chan captured
	dropped   int64
	usage     realtime.Counters
	counters  serialport.Counters
	counting  bool

	hinted, wrongHinted bool
}

type captured struct {
	result capture.Result
	err    error
}

// open opens everything, in the order in which a fault costs least: the log,
// the port, real time.
func (s *session) open(ctx context.Context) error {
	var err error
	if s.log, err = assemble.CreateLog(s.flags.port.Log, results.ReceiverColumns, s.voice); err != nil {
		return err
	}
	l := s.flags.line
	port, err := serialport.OpenContext(ctx, s.flags.port.Port, s.flags.port.Config(s.voice, l.Data, l.Parity, l.Stop))
	if err != nil {
		return err
	}
	s.port = port
	ring := capture.NewRing(0)
	s.reader = capture.NewReader(ring)
	if s.realtime, err = realtime.Prepare(s.flags.port.Request(1)); err != nil {
		return err
	}
	s.result = make(chan captured, 1)
	granted, begin := make(chan []realtime.Grant), make(chan bool)
	go func() {
		granted <- s.realtime.LockThread()
		if !<-begin {
			return
		}
		r, err := capture.Run(capture.Config{Port: s.port, Ring: ring, Stop: &s.stop})
		s.result <- captured{r, err}
	}()
	grants := append(s.realtime.Grants(), <-granted...)
	grants = append(grants, cli.Settled(s.voice, port.Info())...)
	if err := s.flags.port.Grants(s.voice, grants); err != nil {
		begin <- false
		return err
	}
	s.begin(grants)
	begin <- true
	return nil
}

// begin makes the assembler and writes the log's header; the capture starts
// behind it.
func (s *session) begin(grants []realtime.Grant) {
	s.assembler = assemble.New(assemble.Options{
		Table: tableKind(&s.flags.report), Period: s.flags.report.Period, LateBy: s.flags.report.LateBy,
		Quantum: 1, Limit: s.flags.count, CharTime: s.flags.line.CharTime(s.flags.port.Baud),
		Label: s.flags.port.Label, Log: s.log.Writer(), Usage: s.closing, Wall: time.Now,
	})
	s.usage, _ = realtime.Usage()
	if c, err := serialport.ReadCounters(s.port); err == nil {
		s.counters, s.counting = c, true
	}
	s.zero = clock.Now()
	for _, k := range append(assemble.Machine("receiver", s.flags.port.Port, s.port.Info().Driver, s.zero),
		results.KeyValue{Key: "baud", Value: strconv.Itoa(s.flags.port.Baud)},
		results.KeyValue{Key: "line", Value: s.flags.line.String()}) {
		s.assembler.Header(k)
	}
	for _, g := range grants {
		s.assembler.Header(results.KeyValue{Key: "granted",
			Value: assemble.FormatGrant(results.Granted{Item: g.Item, Asked: g.Asked, Got: g.Got, Why: g.Why})})
	}
}

// closing gives what this machine knows at the end of a run: what happened to
// the process and to the line since the run before.
func (s *session) closing() []results.KeyValue {
	var items []results.KeyValue
	add := func(key string, v int64) {
		items = append(items, results.KeyValue{Key: key, Value: strconv.FormatInt(v, 10)})
	}
	now, ok := realtime.Usage()
	d := now.Sub(s.usage)
	s.usage = now
	add("gc", d.GC)
	if ok {
		add("page_faults", d.PageFaults)
		add("involuntary_switches", d.InvoluntarySwitches)
	}
	if s.counting {
		if c, err := serialport.ReadCounters(s.port); err == nil {
			e := c.Sub(s.counters)
			s.counters = c
			add("framing", int64(e.Framing))
			add("parity", int64(e.Parity))
			add("overrun", int64(e.Overrun)+int64(e.BufferOverrun))
			add("break", int64(e.Break))
		}
	}
	if s.dropped > 0 {
		add("dropped", s.dropped)
		s.dropped = 0
	}
	return items
}

// capture polls the ring until something ends it, and gives the runs. The
// error is what cut the capture short; the runs are whole as far as they go.
func (s *session) capture(ctx context.Context) ([]results.Run, error) {
	live := cli.NewLive(s.voice, s.stderr)
	started := time.Now()
	reason, end := "", captured{}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for reason == "" {
		select {
		case <-ctx.Done():
			reason = assemble.ReasonInterrupt
		case end = <-s.result:
			reason = assemble.ReasonGone
			s.result <- end
		case <-tick.C:
		}
		s.drain()
		if reason == "" {
			reason = s.over(started)
		}
		s.hints(started)
		s.log.Tick()
		live.Draw(func() string { return liveLine(s.assembler.Live(), time.Since(started), s.flags.duration) })
	}
	live.Done()
	s.stop.Store(true)
	end = <-s.result
	s.drain()
	runs := s.assembler.Finish(reason)
	return runs, s.verdict(end.err)
}

// verdict closes the log and gives the error that the capture ends with.
func (s *session) verdict(gone error) error {
	logErr := s.log.Close()
	// A sender that announces nothing ends by closing its end of the cable.
	ended := s.assembler.Last() || serialport.IsCable(s.flags.port.Port) && s.assembler.Total() > 0 && !s.assembler.Announced()
	if gone != nil && !ended {
		if fault := (*serialport.Error)(nil); !errors.As(gone, &fault) {
			gone = serialport.Fault(s.port, "read", cause(gone))
		}
		return gone
	}
	return logErr
}

// cause gives the system's own error inside a capture's, nil for an end of
// the stream.
func cause(err error) error {
	if e := syscall.Errno(0); errors.As(err, &e) {
		return e
	}
	return nil
}

// drain hands what has arrived to the assembler.
func (s *session) drain() {
	any := false
	for {
		e, ok := s.reader.Next()
		if !ok {
			break
		}
		any = true
		s.dropped += e.Lost
		s.assembler.Event(results.Event{At: int64(e.Arrived.Sub(s.zero)), Bytes: e.Bytes, Stale: e.Waiting})
	}
	if !any {
		s.assembler.Idle(int64(clock.Now().Sub(s.zero)))
	}
}

// over gives the reason to stop, "" for none.
func (s *session) over(started time.Time) string {
	a := s.assembler
	switch {
	case a.Last():
		return assemble.ReasonClosed
	case a.Full():
		return assemble.ReasonCount
	case s.flags.duration > 0 && time.Since(started) >= s.flags.duration:
		return assemble.ReasonDuration
	}
	since, period, ok := a.QuietSince()
	if ok && int64(clock.Now().Sub(s.zero))-since > max(int64(s.flags.idle), 3*period) {
		return assemble.ReasonIdle
	}
	return ""
}

// hints helps whoever sits before a silent or a garbled line, once each.
func (s *session) hints(started time.Time) {
	if !s.hinted && !s.assembler.Heard() && time.Since(started) >= hintAfter {
		s.hinted = true
		s.voice.Warn("nothing heard for %v", hintAfter)
		s.voice.Hint(silenceHint(&s.flags))
	}
	if !s.wrongHinted && s.assembler.MostlyWrong() {
		s.wrongHinted = true
		s.voice.Warn("most characters are wrong")
		s.voice.Hint(fmt.Sprintf("check that --baud %d and --line %s are the sender's", s.flags.port.Baud, s.flags.line))
	}
}

func silenceHint(f *captureFlags) string {
	if serialport.IsCable(f.port.Port) {
		return fmt.Sprintf("start the other end on this machine: sender --port %s --count 1000", f.port.Port)
	}
	return fmt.Sprintf("check the cable (null modem: 2-3, 3-2, 5-5), the port %s, --baud %d on both ends, and start the sender after the receiver",
		f.port.Port, f.port.Baud)
}

func (s *session) close() {
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

// liveLine is what stands on a terminal while a capture runs.
func liveLine(l assemble.Live, elapsed, limit time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", elapsed.Round(time.Second))
	switch {
	case limit > 0:
		fmt.Fprintf(&b, " of %s", limit)
	case l.Remaining > 0:
		fmt.Fprintf(&b, ", %s left", l.Remaining.Round(time.Second))
	}
	fmt.Fprintf(&b, "  %d characters", l.Characters)
	if l.MaxNS > 0 {
		fmt.Fprintf(&b, "  last %.3f  min %.3f  max %.3f ms", ms(l.LastNS), ms(l.MinNS), ms(l.MaxNS))
	}
	fmt.Fprintf(&b, "  lost %d", l.Lost)
	if l.Wrong > 0 {
		fmt.Fprintf(&b, "  wrong %d", l.Wrong)
	}
	return b.String()
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }
