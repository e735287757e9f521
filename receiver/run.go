package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/receiver/assemble"
	"serialtiming/receiver/capture"
	"serialtiming/receiver/watch"
	"serialtiming/results"
	"serialtiming/results/report"
)

const (
	pollEvery = 20 * time.Millisecond
	hintAfter = 5 * time.Second // of silence from the start

	// stallAtLeast is what the receiver must be held up for to call an
	// interval disturbed, whatever its floor.
	stallAtLeast = 200 * time.Microsecond
)

// receive captures from a port and reports.
func (p *program) receive(ctx context.Context, args []string) (int, error) {
	f, done, err := parseCapture(p, args)
	if done || err != nil {
		return cli.Done, err
	}
	if err := cli.Distinct([]string{f.report.JSON, f.report.CSV, f.port.Log}); err != nil {
		return 0, err
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
	if s.assembler.Total() == 0 && failed == nil {
		failed = cli.WithHint(errors.New("nothing was received"), "%s", silenceHint(&f))
	}
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
	broken := p.judge(f.set, runs)
	r := results.NewReport(results.Source{Kind: kind, Class: "character", QuantumNS: 1}, runs)
	if err := f.report.Write(p.stdout, forms(r)); err != nil {
		return 0, err
	}
	return broken, failed
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
	thread    *thread
	floor     watch.Floor
	watch     *watch.Watch
	held      held
	dropped   int64
	usage     counted
	errors    *assemble.LineErrors

	hinted, wrongHinted bool
}

// open opens everything, in the order in which a fault costs least: the log,
// the port, real time.
func (s *session) open(ctx context.Context) error {
	var err error
	if err := cli.Writable(s.flags.port.Log); err != nil {
		return err
	}
	cable := serialport.IsCable(s.flags.port.Port)
	if !cable {
		if err := s.openPort(ctx); err != nil {
			return err
		}
	}
	if s.realtime, err = realtime.Prepare(s.flags.port.Request(1 + watch.Threads)); err != nil {
		return err
	}
	s.thread = startThread(s.realtime)
	grants := append(s.realtime.Grants(), s.thread.grants...)
	if err := s.flags.port.Grants(s.voice, grants); err != nil {
		return err // before two seconds of warm-up, and before the other end is waited for
	}
	s.watch = watch.Start(s.realtime, s.thread.observed, time.Hour)
	grants = append(grants, s.watch.Place())
	if err := s.warmUp(ctx, cable); err != nil {
		return err
	}
	if cable { // only now may the other end come: nothing piles up
		err = s.openPort(ctx)
	} else {
		err = s.port.Flush()
	}
	if err != nil {
		return err
	}
	if s.log, err = assemble.CreateLog(s.flags.port.Log, results.ReceiverColumns, s.voice); err != nil {
		return err
	}
	settled := cli.Settled(s.voice, s.port.Info())
	if err := s.flags.port.Grants(s.voice, settled); err != nil {
		return err
	}
	grants = append(grants, settled...)
	s.watch.Limit(max(3*time.Duration(s.floor.NS), stallAtLeast))
	ring := capture.NewRing(0)
	s.reader = capture.NewReader(ring)
	s.begin(grants)
	s.thread.begin(capture.Config{Port: s.port, Ring: ring, Stop: &s.stop, Patient: s.port.Info().Virtual})
	return nil
}

func (s *session) openPort(ctx context.Context) (err error) {
	s.port, err = serialport.OpenContext(ctx, s.flags.port.Port, s.config())
	return err
}

func (s *session) config() serialport.Config {
	l := s.flags.line
	c := s.flags.port.Config(s.voice, l.Data, l.Parity, l.Stop)
	if d := s.flags.duration; d > 0 && d < serialport.DefaultPeerWait {
		c.PeerWait = d
	}
	return c
}

// begin makes the assembler and writes the log's header; the capture starts
// behind it.
func (s *session) begin(grants []realtime.Grant) {
	s.assembler = assemble.New(assemble.Options{
		Table: tableKind(&s.flags.report), Period: s.flags.report.Period, LateBy: s.flags.report.LateBy,
		Quantum: 1, Limit: s.flags.count, CharTime: s.flags.line.CharTime(s.flags.port.Baud),
		Label: s.flags.port.Label, Log: s.log.Writer(), Usage: s.closing, Wall: time.Now,
	})
	s.usage = s.thread.usage()
	s.errors = assemble.FollowLineErrors(s.port)
	s.zero = clock.Now()
	p := &s.flags.port
	for _, k := range assemble.Machine("receiver", p.Port, s.port.Info().Driver, p.Baud, s.flags.line, s.zero) {
		s.assembler.Header(k)
	}
	for _, k := range append(floorItems(s.floor), assemble.Path(s.port.Info())...) {
		s.assembler.Header(k)
	}
	for _, g := range grants {
		s.assembler.Header(results.KeyValue{Key: "granted",
			Value: assemble.FormatGrant(results.Granted{Item: g.Item, Asked: g.Asked, Got: g.Got, Why: g.Why})})
	}
}

// floorItems are what the log says of the floor.
func floorItems(f watch.Floor) (items []results.KeyValue) {
	add := func(key string, v int64) {
		items = append(items, results.KeyValue{Key: key, Value: strconv.FormatInt(v, 10)})
	}
	if f.By == "" {
		return nil
	}
	if !f.Known {
		items = append(items, results.KeyValue{Key: "floor_unknown", Value: fmt.Sprintf("%d samples in the warm-up, 500 are needed", f.Samples)})
	}
	if f.Known {
		add("latency_p50_ns", f.P50)
		add("latency_p99_ns", f.P99)
		add("floor_ns", f.NS)
		items = append(items, results.KeyValue{Key: "floor_by", Value: fmt.Sprintf("%s, %d samples", f.By, f.Samples)})
	}
	return items
}

// closing gives what this machine knows at the end of a run: what happened to
// the process and to the line since the run before.
func (s *session) closing() []results.KeyValue {
	var items []results.KeyValue
	add := func(key string, v int64) {
		items = append(items, results.KeyValue{Key: key, Value: strconv.FormatInt(v, 10)})
	}
	now := s.thread.usage()
	d := now.Counters.Sub(s.usage.Counters)
	s.usage = now
	add("gc", d.GC)
	if now.known {
		add("page_faults", d.PageFaults)
		add("involuntary_switches", d.InvoluntarySwitches)
	}
	items = append(items, s.errors.Closing()...)
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
	reason := ""
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for reason == "" {
		select {
		case <-ctx.Done():
			reason = assemble.ReasonInterrupt
		case <-s.thread.ended:
			reason = assemble.ReasonGone
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
	<-s.thread.ended
	s.watch.Stop()
	s.drain()
	s.drain() // what the first one held back
	runs := s.assembler.Finish(reason)
	return runs, s.verdict(s.thread.err)
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

// drain hands what has arrived to the assembler, one call later than it came,
// so that a stall which it woke from is known by then.
func (s *session) drain() {
	ready := s.held.take(s.reader, s.watch.Stalls(), s.zero)
	s.errors.Look(len(s.held.next), func(i int) *results.Event { return &s.held.next[i].Event })
	for _, e := range ready {
		s.dropped += e.lost
		s.assembler.Event(e.Event)
	}
	if len(ready) == 0 && s.held.empty() {
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
	if ok && s.held.empty() && int64(clock.Now().Sub(s.zero))-since > max(int64(s.flags.idle), 3*period) {
		return assemble.ReasonIdle
	}
	return ""
}

func (s *session) close() {
	s.stop.Store(true)
	if s.watch != nil {
		s.watch.Stop()
	}
	if s.thread != nil {
		s.thread.close()
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
