// Package rawio reads and writes a descriptor that belongs to a terminal
// line: a serial port or one end of a virtual cable. It promises that every
// wait is bounded or ended by Close, that a line that went away is told from
// a line that is silent, and that no descriptor is closed under a call that
// still uses it. The hot loops do not come through here: they take the
// descriptor itself (it is nonblocking) and use this package only to
// understand the answer (Gone).
package rawio

import "errors"

var (
	// ErrGone says that the line's other side or its hardware went away: all
	// that it had delivered was read before.
	ErrGone = errors.New("the line is gone")
	// ErrClosed says that the line was closed on this side.
	ErrClosed = errors.New("already closed")
)
