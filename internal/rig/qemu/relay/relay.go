// Package relay is the cable between two emulated UARTs. QEMU hands a
// character on at once, whatever the line speed; the relay lets each take its
// character time, and does to the line what a bad cable would do.
package relay

import (
	"errors"
	"io"
	"time"
)

// Line is one direction of a cable.
type Line struct {
	// CharTime is start bit to end of stop bit; 0 hands on at once.
	CharTime time.Duration
	// Slack is how far the line may fall behind its own pace, because its
	// machine was held up, and still catch up. Beyond that it was idle.
	Slack time.Duration
	// Drop, Noise and Late give what happens to the k-th character of this
	// direction, counted from 0, announcements included. Nil: nothing.
	Drop  func(k int) bool          // it is not handed on
	Noise func(k int) []byte        // these are handed on before it
	Late  func(k int) time.Duration // it and all behind it come that much later
	// Sleep waits until an instant; nil takes time.Sleep.
	Sleep func(until time.Time)
}

// Run hands characters from src to dst until src ends, and says how many it
// took. An end of src is no error.
func (l Line) Run(dst io.Writer, src io.Reader) (int, error) {
	sleep := l.Sleep
	if sleep == nil {
		sleep = func(t time.Time) { time.Sleep(time.Until(t)) }
	}
	// One character a read where it is paced: what is not read yet stays with
	// the sending UART, as in its FIFO.
	buf := make([]byte, 4096)
	if l.CharTime > 0 {
		buf = buf[:1]
	}
	next := time.Now()
	k := 0
	for {
		n, err := src.Read(buf)
		for _, c := range buf[:n] {
			out := l.at(k, c)
			k++
			if idle := time.Now().Add(-l.Slack); idle.After(next) {
				next = idle.Add(l.Slack)
			}
			next = next.Add(l.CharTime * time.Duration(max(len(out), 1)))
			if l.Late != nil {
				next = next.Add(l.Late(k - 1))
			}
			sleep(next)
			if len(out) == 0 {
				continue
			}
			if _, err := dst.Write(out); err != nil {
				return k, err
			}
		}
		if errors.Is(err, io.EOF) {
			return k, nil
		}
		if err != nil {
			return k, err
		}
	}
}

// at gives what is handed on in place of the k-th character.
func (l Line) at(k int, c byte) []byte {
	var out []byte
	if l.Noise != nil {
		out = append(out, l.Noise(k)...)
	}
	if l.Drop != nil && l.Drop(k) {
		return out
	}
	return append(out, c)
}
