// Package cable is a virtual null-modem cable between two processes on one
// machine: a pseudo-terminal on Unix, a named pipe on Windows. It promises
// that either end may come first, that both ends meet also when one of them
// runs as root and the other does not, that exactly two ends meet, that
// nothing written is lost when an end closes or dies, and that a dead end is
// noticed, never waited for. A cable has no UART, no line speed and no line
// errors.
//
// # How the ends meet (Unix)
//
// The end that comes first creates the pseudo-terminal in raw mode and listens
// on a Unix socket /tmp/serialtiming-NAME~RANDOM (not os.TempDir: sudo changes
// TMPDIR). The end that comes second connects and gets the descriptors through
// the socket, so no permission on the terminal itself is needed. Coming is
// serialised by flock on /tmp/serialtiming-NAME~lock, which the kernel lets go
// when a process dies; a socket on which nobody listens any more is stale and
// passed over. Both files lie in /tmp itself: its owner is root and its sticky
// bit keeps others from replacing them. No existing file is opened with
// O_CREAT (fs.protected_regular), no link is followed. Ends meet when they
// belong to one user or one of them is root; others are refused.
//
// # How nothing is lost
//
// Closing a pseudo-terminal's master throws away what the other side has not
// read, closing its slave does not. So the second end gets the slave to talk
// on, and the master as well, which it only keeps: when the first end closes or is
// killed, the master lives on until the second end has read everything (or
// orphanLimit has passed), then is closed there, and the reader sees the end
// of the line. The socket stays open beside the line all the time; its end is
// how the death of the other side is known.
package cable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"serialtiming/internal/serialport/rawio"
)

// The classes of errors, for errors.Is.
var (
	ErrBusy   = errors.New("busy")
	ErrNoPeer = errors.New("the other end did not come")
	ErrUnread = errors.New("the other end has not read everything")
	ErrName   = errors.New("not a name for a cable")
	ErrGone   = rawio.ErrGone
	ErrClosed = rawio.ErrClosed
)

// Error is a failure to plug in, with an action to take.
type Error struct {
	Err  error  // wraps a class, context.Canceled, or the system's error
	Hint string // one line, an action; may be ""
}

// Error is one line, without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// DefaultName is the name of the cable that was given none.
const DefaultName = "default"

// MaxName is the longest name, in characters.
const MaxName = 64

// CheckName refuses (ErrName) what is not 1 to MaxName of A-Z a-z 0-9 . _ -
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return nameError(fmt.Sprintf("has %d characters", len(name)))
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == '-':
		default:
			return nameError(fmt.Sprintf("has %q at place %d", c, i+1))
		}
	}
	return nil
}

func nameError(why string) error {
	return &Error{
		Err:  fmt.Errorf("%w: it %s", ErrName, why),
		Hint: fmt.Sprintf("name a cable with 1 to %d letters, digits, dots, underscores or hyphens, as in cable:a", MaxName),
	}
}

// Options of Open; the zero value waits DefaultWait for the other end.
type Options struct {
	Wait    time.Duration // for the other end; 0: DefaultWait
	Waiting func()        // called once if the other end is not there yet
	dir     string        // where ends meet (Unix), for tests
}

// DefaultWait is how long the end that came first waits for the other.
const DefaultWait = 30 * time.Second

// Open plugs in one end of the cable of that name and waits until the other
// end is plugged in too. Ending ctx ends the wait (the error wraps ctx's
// cause), and has no effect later. Errors are *Error: ErrName, ErrBusy (both
// ends are taken; the text says by whom), ErrNoPeer, errors.ErrUnsupported.
func Open(ctx context.Context, name string, o Options) (*Port, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Waiting == nil {
		o.Waiting = func() {}
	}
	return open(ctx, name, o)
}

// OpenLoopback gives a cable whose far end is plugged into the near one: what
// is written is read back.
func OpenLoopback() (*Port, error) { return openLoopback() }

// noPeer is the failure of an end that waited in vain.
func noPeer(name string, waited time.Duration) error {
	return &Error{
		Err:  fmt.Errorf("%w within %v", ErrNoPeer, waited),
		Hint: "start the other end: receiver --port cable:" + name + " (or sender, whichever this is not)",
	}
}

// Peer is who holds the other end, as far as the system tells. Command is its
// own word, cleaned: printable ASCII, at most 32 characters.
type Peer struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// String is "receiver (pid 123)".
func (p Peer) String() string {
	if p.PID == 0 {
		return "an unknown process"
	}
	if p.Command == "" {
		return fmt.Sprintf("pid %d", p.PID)
	}
	return fmt.Sprintf("%s (pid %d)", p.Command, p.PID)
}

// self is this process, as the other end sees it.
func self() Peer {
	return Peer{PID: os.Getpid(), Command: filepath.Base(os.Args[0])}.clean()
}

// clean keeps what may be shown: the other end may be anybody's program.
func (p Peer) clean() Peer {
	var b []byte
	for i := 0; i < len(p.Command) && len(b) < 32; i++ {
		if c := p.Command[i]; c >= ' ' && c <= '~' {
			b = append(b, c)
		}
	}
	return Peer{PID: p.PID, Command: string(b)}
}

// line is what a system gives to make an end of.
type line interface {
	read(b []byte, timeout time.Duration) (int, error)
	write(b []byte) (int, error)
	drain(limit time.Duration) error
	flush() error
	fds() (r, w uintptr, ok bool)
	close() error
}

// Port is one end of a cable. Read and Write may be used at the same time from
// two goroutines; Close may come from a third.
type Port struct {
	line line
	peer Peer
	path string
}

// Read waits at most timeout for characters; (0, nil) means that none came.
// ErrGone comes when the other end closed or died, and only after everything
// that it had written was read.
func (p *Port) Read(b []byte, timeout time.Duration) (int, error) { return p.line.read(b, timeout) }

// Write hands over all of b. A cable holds only 4 to 16 kilobytes: while the
// other end does not read, Write waits.
func (p *Port) Write(b []byte) (int, error) { return p.line.write(b) }

// Drain waits until the other end has read all that was written before,
// ErrUnread after limit, ErrGone if the other end went away meanwhile.
func (p *Port) Drain(limit time.Duration) error { return p.line.drain(limit) }

// Flush throws away what arrived and was not read.
func (p *Port) Flush() error { return p.line.flush() }

// Fds gives the nonblocking descriptors to read from and to write to: the same
// one but for a loopback. On Windows there are none (ok is false). A read of 0
// characters, or EIO, means that the other end is gone and all was read.
func (p *Port) Fds() (r, w uintptr, ok bool) { return p.line.fds() }

// Peer says who holds the other end.
func (p *Port) Peer() Peer { return p.peer }

// Path is the pseudo-terminal or pipe behind this cable.
func (p *Port) Path() string { return p.path }

// Close unplugs this end. It does not wait, and what was written stays there
// for the other end to read, even when this process exits at once.
func (p *Port) Close() error { return p.line.close() }
