package main

import (
	"context"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/serialport"
	"serialtiming/protocol"
	"serialtiming/receiver/assemble"
	"serialtiming/receiver/capture"
	"serialtiming/results"
	"serialtiming/results/report"
	"serialtiming/sender/pace"
)

const pollEvery = 20 * time.Millisecond

// send emits the runs and reports what the sender itself saw, or in a loopback
// what came back.
func (p *program) send(ctx context.Context, args []string) (int, error) {
	f, done, err := parseSend(p, args)
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
	runs, failed := s.run(ctx)
	if len(runs) == 0 {
		return 0, failed
	}
	source := results.Source{Kind: "sender", Class: "character", QuantumNS: 1}
	if f.loopback {
		source.Kind = "loopback"
	}
	r := results.NewReport(source, runs)
	err = f.report.Write(p.stdout, cli.Forms{
		Text: func(w io.Writer) error { return report.Text(w, r) },
		JSON: func(w io.Writer) error { return report.JSON(w, r) },
		CSV:  func(w io.Writer) error { return report.CSV(w, r) },
	})
	if err != nil {
		return 0, err
	}
	return cli.Done, failed
}

// session is one call of the sender, from the port to the figures.
type session struct {
	*program
	flags sendFlags

	port     serialport.Port
	realtime *realtime.Session
	grants   []realtime.Grant
	log      *assemble.LogFile

	stream *stream // the thread that sends
	echo   *echo   // the thread that receives; nil unless loopback
	stop   atomic.Bool

	zero      clock.Instant
	assembler *assemble.Assembler
	sent      int64
	errors    *assemble.LineErrors // of the receiving end; nil unless loopback
	dropped   int64                // characters that came back faster than they could be stored
	changed   []protocol.Pair      // what the system took back during the run
}

// open opens the log, the port, and real time on the threads of the stream.
func (s *session) open(ctx context.Context) (err error) {
	columns := results.SenderColumns
	if s.flags.loopback {
		columns = results.LoopbackColumns
	}
	if err := cli.Writable(s.flags.port.Log); err != nil {
		return err
	}
	threads := 1
	if s.flags.loopback {
		threads = 2
	}
	s.stream = newStream()
	request := s.flags.port.Request(threads)
	request.TimerResolution = s.flags.clock
	if s.realtime, err = realtime.Prepare(request); err != nil {
		return err
	}
	s.grants = append(s.realtime.Grants(), s.stream.lock(s.realtime)...)
	if err := s.flags.port.Grants(s.voice, s.grants); err != nil {
		return err // before the other end of a cable is waited for
	}
	if err := s.openPort(ctx); err != nil {
		return err
	}
	if s.log, err = assemble.CreateLog(s.flags.port.Log, columns, s.voice); err != nil {
		return err
	}
	s.stream.use(s.port)
	if s.flags.loopback {
		s.echo = newEcho(s.port, s.flags.period == 0)
		s.echo.lock(s.realtime)
	}
	settled := cli.Settled(s.voice, s.port.Info())
	s.grants = append(s.grants, settled...)
	return s.flags.port.Grants(s.voice, settled)
}

func (s *session) openPort(ctx context.Context) (err error) {
	l := s.flags.line
	config := s.flags.port.Config(s.voice, l.Data, l.Parity, l.Stop)
	if s.flags.loopback && serialport.IsCable(s.flags.port.Port) {
		s.port, err = serialport.OpenLoopback(config)
	} else {
		s.port, err = serialport.OpenContext(ctx, s.flags.port.Port, config)
	}
	return err
}

// run sends all phases, and gives the runs. The error is what cut them short.
func (s *session) run(ctx context.Context) ([]results.Run, error) {
	s.header()
	s.echo.begin()
	var failed error
	for i := range s.flags.phases {
		if failed = s.phase(ctx, i); failed != nil || ctx.Err() != nil {
			break
		}
	}
	s.echo.end()
	runs := s.assembler.Finish(assemble.ReasonEnd)
	if err := s.log.Close(); failed == nil {
		failed = err
	}
	return runs, failed
}

// header makes the assembler and writes the log's header.
func (s *session) header() {
	r := &s.flags.report
	s.assembler = assemble.New(assemble.Options{
		Table:  results.TableKind{Bin: r.Bin, Hz: r.Tick, Phase: r.TickPhase},
		LateBy: r.LateBy, Quantum: 1, Log: s.log.Writer(), Usage: s.closing, Wall: time.Now,
	})
	if s.flags.loopback {
		s.errors = assemble.FollowLineErrors(s.port)
	}
	s.zero = clock.Now()
	p := &s.flags.port
	items := assemble.Machine("sender", p.Port, s.port.Info().Driver, p.Baud, s.flags.line, s.zero)
	if s.flags.loopback {
		items = append(items, results.KeyValue{Key: "loopback", Value: "one process sends and receives"})
	}
	for _, k := range append(items, assemble.Path(s.port.Info())...) {
		s.assembler.Header(k)
	}
}

// closing gives what happened to the line in the run that ends.
func (s *session) closing() []results.KeyValue {
	if s.errors == nil {
		return nil // only the receiving end knows
	}
	items := s.errors.Closing()
	if s.dropped > 0 {
		items = append(items, results.KeyValue{Key: "dropped", Value: strconv.FormatInt(s.dropped, 10)})
		s.dropped = 0
	}
	return items
}

func (s *session) close() {
	s.stop.Store(true)
	if s.stream != nil {
		s.stream.close()
	}
	if s.echo != nil {
		s.echo.end()
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

// half is one direction of a port: a loopback on the cable has a descriptor
// for each.
type half struct {
	serialport.Port
	fd uintptr
	ok bool
}

func (h half) Fd() (uintptr, bool) { return h.fd, h.ok }

var (
	_ pace.Port    = half{}
	_ capture.Port = half{}
)
