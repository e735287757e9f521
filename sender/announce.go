package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"serialtiming/internal/cli"
	"serialtiming/internal/clock"
	"serialtiming/internal/serialport"
	"serialtiming/internal/wait"
	"serialtiming/protocol"
	"serialtiming/results"
	"serialtiming/sender/pace"
)

// announcement is what the sender says of a phase before it.
func (s *session) announcement(i int) protocol.Announcement {
	f := &s.flags
	a := protocol.Announcement{
		Kind: protocol.Before, Run: i + 1, Label: results.OneLine(f.phases[i].label),
		PeriodNS: int64(f.period), Count: f.count, DurationNS: int64(f.duration),
		Baud: f.port.Baud, Line: f.line.String(), Char: f.cycle.String(),
		Timer: string(f.kind), CatchUp: string(f.policy),
		Extra: []protocol.Pair{{Key: "call", Value: s.call()}, {Key: "os", Value: runtime.GOOS}},
	}
	if text := f.phases[i].load.Text; text != "" {
		a.Extra = append(a.Extra, protocol.Pair{Key: "load", Value: text})
	}
	for _, g := range s.grants {
		a.Granted = append(a.Granted, protocol.Grant{Item: g.Item, Asked: g.Asked, Got: g.Got, Why: g.Why})
	}
	return a
}

// call says which system call the timer is.
func (s *session) call() string {
	if s.flags.period == 0 {
		return ""
	}
	// A timer can become another call by its period.
	w, err := wait.New(wait.Config{Kind: s.flags.kind, Period: s.flags.period, Start: clock.Now()})
	if err != nil {
		return s.flags.kind.Call()
	}
	defer w.Close()
	return w.Call()
}

// announce writes a frame with silence on both sides. An announcement that is
// too long says first less of what was granted, then less of the label.
func (s *session) announce(a protocol.Announcement) error {
	frame, err := a.Append(nil)
	for errors.Is(err, protocol.ErrFrameTooLong) {
		if !shorten(&a) {
			return err
		}
		frame, err = a.Append(nil)
	}
	if err != nil {
		return err
	}
	quiet := protocol.Quiet(s.flags.line.CharTime(s.flags.port.Baud))
	time.Sleep(quiet)
	err = s.put(frame)
	if a.Last && errors.Is(err, serialport.ErrGone) {
		return nil // a receiver on the cable goes as soon as it has heard the end
	}
	if err == nil && !a.Last {
		time.Sleep(quiet)
	}
	return err
}

// put writes and drains, but not for ever: a line that takes nothing (its other
// end stands still, or flow control holds it) must not hang the program.
func (s *session) put(frame []byte) error {
	done := make(chan error, 1) // closing the port ends the write that is left behind
	go func() {
		_, err := s.port.Write(frame)
		if err == nil {
			err = s.port.Drain()
		}
		done <- err
	}()
	onLine := time.Duration(len(frame)) * s.flags.line.CharTime(s.flags.port.Baud)
	select {
	case err := <-done:
		return err
	case <-time.After(2*onLine + serialport.DrainLimit):
		serialport.Discard(s.port)
		return cli.WithHint(fmt.Errorf("%s: %w", s.flags.port.Port, pace.ErrBlocked), "see whether the receiver runs, and whether the line's flow control holds it")
	}
}

// shorten leaves out what a receiver can do without; false when nothing is left.
func shorten(a *protocol.Announcement) bool {
	for i := range a.Granted {
		if g := &a.Granted[i]; g.Why != "" && len(g.Why) > 8 {
			g.Why = "refused"
			return true
		}
	}
	if n := len(a.Granted); n > 0 {
		a.Granted = a.Granted[:n-1]
		return true
	}
	if r := []rune(a.Label); len(r) > 1 {
		a.Label = string(r[:len(r)*3/4])
		return true
	}
	return false
}
