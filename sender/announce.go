package main

import (
	"errors"
	"runtime"
	"time"

	"serialtiming/internal/serialport"
	"serialtiming/protocol"
	"serialtiming/results"
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
	return s.flags.kind.Call()
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
	if _, err := s.port.Write(frame); err != nil {
		return err
	}
	err = s.port.Drain()
	if a.Last && errors.Is(err, serialport.ErrGone) {
		return nil // a receiver on the cable goes as soon as it has heard the end
	}
	if err == nil && !a.Last {
		time.Sleep(quiet)
	}
	return err
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
