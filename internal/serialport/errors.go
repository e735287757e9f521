package serialport

import (
	"errors"

	"serialtiming/internal/cable"
	"serialtiming/internal/serialport/rawio"
)

// The classes of an *Error, for errors.Is.
var (
	ErrNotFound    = errors.New("no such port")
	ErrDenied      = errors.New("permission denied")
	ErrNotPort     = errors.New("not a serial port")
	ErrSetting     = errors.New("the port cannot do this")
	ErrUnsupported = errors.ErrUnsupported
	ErrBusy        = cable.ErrBusy
	ErrNoPeer      = cable.ErrNoPeer
	ErrGone        = rawio.ErrGone
	ErrClosed      = rawio.ErrClosed
)

// Error is what every function of this package fails with.
type Error struct {
	Op   string // "open", "read", "write", …
	Port string // as the user named it
	Err  error  // wraps one of the classes, or context.Canceled
	Hint string // an action, one line; may be ""
}

// Error is one line of printable characters, without the hint.
func (e *Error) Error() string {
	return e.Op + " " + printable(e.Port) + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fault turns what a raw read or write on p's descriptor gave into an *Error
// with its class and hint: err is the errno, or nil for a read of 0
// characters, which means that the port is gone.
func Fault(p Port, op string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	if err == nil || rawio.Gone(err) {
		err = ErrGone
	}
	e := &Error{Op: op, Port: p.Info().Name, Err: err}
	if errors.Is(err, ErrGone) {
		e.Hint = goneHint(p.Info())
	}
	return e
}

// Gone says whether a raw call's error means that the port went away.
func Gone(err error) bool { return errors.Is(err, ErrGone) || rawio.Gone(err) }

func goneHint(i Info) string {
	if i.Virtual {
		return "the other end of " + printable(i.Name) + " has closed or died; start both ends again"
	}
	return printable(i.Name) + " vanished: plug its adapter in again, look for its name with `ports` and start again"
}
