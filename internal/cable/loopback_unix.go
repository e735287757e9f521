//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"time"

	"serialtiming/internal/serialport/rawio"
)

// poll is how often an end looks whether everything was read, once asked to.
const poll = time.Millisecond

// loopback writes to the master and reads from the slave.
type loopback struct{ *rawio.File }

func openLoopback() (*Port, error) {
	t, err := newTerminal()
	if err != nil {
		return nil, &Error{Err: err}
	}
	f, err := rawio.New(t.slave, t.master)
	if err != nil {
		t.close()
		return nil, &Error{Err: err}
	}
	return &Port{line: loopback{f}, peer: self(), path: t.path}, nil
}

func (l loopback) read(b []byte, timeout time.Duration) (int, error) { return l.Read(b, timeout) }
func (l loopback) write(b []byte) (int, error)                       { return l.Write(b) }
func (l loopback) flush() error                                      { return l.Discard(flushLimit) }
func (l loopback) close() error                                      { return l.Close() }

func (l loopback) fds() (r, w uintptr, ok bool) {
	rd, wr := l.Fds()
	return uintptr(rd), uintptr(wr), true
}

func (l loopback) drain(limit time.Duration) error {
	return awaitRead(l.File, limit, nil)
}

// awaitRead waits until nothing is left to read in f: ErrUnread after limit,
// nil also when stop is closed first.
func awaitRead(f *rawio.File, limit time.Duration, stop <-chan struct{}) error {
	deadline := time.Now().Add(limit)
	for empty := 0; empty < surely; {
		pending, err := f.Pending()
		if err != nil {
			return err
		}
		empty++
		if pending {
			empty = 0
		}
		if time.Now().After(deadline) {
			return ErrUnread
		}
		select {
		case <-stop:
			return nil
		case <-time.After(poll):
		}
	}
	return nil
}

// surely is how often in a row nothing has to be pending (see Pending).
const surely = 8

// flushLimit bounds Flush: more than the system's buffers ever hold.
const flushLimit = 1 << 18
