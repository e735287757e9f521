package main

import (
	"fmt"
	"strings"
	"time"

	"serialtiming/internal/serialport"
	"serialtiming/receiver/assemble"
)

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
