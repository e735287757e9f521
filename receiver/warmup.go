package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/receiver/assemble"
	"serialtiming/receiver/watch"
	"serialtiming/results"
)

// warmUp measures the floor on the thread that will stamp, beside what the
// receiver does all through a run: the floor holds its own housekeeping.
func (s *session) warmUp(ctx context.Context, cable bool) (err error) {
	if s.flags.warmup == 0 {
		return nil
	}
	ended, done := make(chan bool), make(chan bool)
	var stop atomic.Bool
	rehearsal := s.rehearse()
	go func() {
		defer close(done)
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				stop.Store(true)
				return
			case <-ended:
				return
			case <-tick.C:
			}
			rehearsal.drain()
		}
	}()
	defer func() { close(ended); <-done }()
	s.thread.do(func() {
		if cable {
			s.floor, err = watch.Cable(s.realtime, s.config(), s.flags.warmup, &stop)
			return
		}
		s.floor, err = watch.Line(s.realtime, s.port, s.flags.line.CharTime(s.flags.port.Baud), s.flags.warmup, &stop)
		if errors.Is(err, errors.ErrUnsupported) {
			s.floor, err = watch.Wake(s.flags.warmup, &stop)
		}
	})
	if errors.Is(err, errors.ErrUnsupported) {
		s.voice.Warn("the floor of this receiver is not known: %v", err)
		err = nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// rehearsal does during the warm-up what drain does during a run, on a stream
// of its own: on few processors that work is what delays arrivals most.
type rehearsal struct {
	*session
	scratch *assemble.Assembler
	errors  *assemble.LineErrors
	sent    byte
}

func (s *session) rehearse() *rehearsal {
	r := &rehearsal{session: s, scratch: assemble.New(assemble.Options{
		Table: tableKind(&s.flags.report), Period: rehearsed, Quantum: 1,
		Log: results.NewLogWriter(io.Discard, results.ReceiverColumns),
	})}
	if s.port != nil {
		r.errors = assemble.FollowLineErrors(s.port)
	}
	return r
}

// rehearsed is the period of the rehearsal's stream.
const rehearsed = 5 * time.Millisecond

func (r *rehearsal) drain() {
	r.watch.Stalls()
	if r.errors != nil {
		r.errors.Look(0, nil)
	}
	now := int64(clock.Now())
	for i := -pollEvery; i < 0; i += rehearsed {
		r.scratch.Event(results.Event{At: now + int64(i), Bytes: []byte{' ' + r.sent%95}})
		r.sent++
	}
}
