//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/serialport/rawio"
)

// orphanLimit is how long the second end keeps the master of a first end that
// went away, for its reader to read the rest.
const orphanLimit = 30 * time.Second

// end is one end of a cable: the line, and beside it the socket over which
// the ends met. On the socket, afterwards, two bytes are a message: 'd' and a
// number ask the other side to say when it has read everything; 'D' and the
// number say so. The socket's end is the other side's end.
type end struct {
	*rawio.File
	conn *net.UnixConn
	keep int // the master kept for the first end; -1 at the first end

	gone    chan struct{} // closed when the other side went away
	closing chan struct{} // closed by close
	once    sync.Once
	release func() // called once, when either side goes away

	draining sync.Mutex   // one drain at a time
	asked    byte         // number of the last 'd' sent
	answer   chan byte    // numbers of the 'D's that came
	answers  atomic.Int32 // 'd's being answered
	done     sync.WaitGroup
}

// newEnd takes over fd, keep and conn, and starts to listen on conn.
func newEnd(fd, keep int, conn *net.UnixConn, release func()) (*end, error) {
	f, err := rawio.New(fd, fd)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	e := &end{
		File: f, conn: conn, keep: keep, release: sync.OnceFunc(release),
		gone: make(chan struct{}), closing: make(chan struct{}), answer: make(chan byte, 4),
	}
	e.done.Add(1)
	go e.listen()
	return e, nil
}

func (e *end) read(b []byte, timeout time.Duration) (int, error) { return e.Read(b, timeout) }
func (e *end) write(b []byte) (int, error)                       { return e.Write(b) }
func (e *end) flush() error                                      { return e.Discard(flushLimit) }

func (e *end) fds() (r, w uintptr, ok bool) {
	rd, wr := e.Fds()
	return uintptr(rd), uintptr(wr), true
}

// listen handles the other side's messages until it or this side ends.
func (e *end) listen() {
	defer e.done.Done()
	var m [2]byte
	for {
		if _, err := io.ReadFull(e.conn, m[:]); err != nil {
			break
		}
		switch m[0] {
		case 'd':
			e.sayWhenRead(m[1])
		case 'D':
			select {
			case e.answer <- m[1]:
			default: // nobody asks any more
			}
		}
	}
	close(e.gone)
	e.Deafen()
	e.release()
	e.letGo()
}

// sayWhenRead answers a 'd' in the background. The other side asks once at a
// time; whoever asks more often is not answered.
func (e *end) sayWhenRead(number byte) {
	if e.answers.Add(1) > 4 {
		e.answers.Add(-1)
		return
	}
	e.done.Add(1)
	go func() {
		defer e.done.Done()
		defer e.answers.Add(-1)
		err := awaitRead(e.File, orphanLimit, e.closing)
		if err == nil && !e.isClosing() {
			e.conn.Write([]byte{'D', number})
		}
	}()
}

func (e *end) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}

// letGo ends the line on this side too, once everything was read: the second
// end closes the master that it kept, which hangs up its slave. The first end
// puts such a slave in the place of its master, since a master whose slave was
// closed takes characters for nobody and, when full, never has room again
// (Linux 6.18: 11776 characters). So both ends look alike when they are over:
// reading gives nothing, writing EIO.
func (e *end) letGo() {
	// However the wait ends, the line does too: a limit reached or this side
	// closing only mean that nobody will read the rest.
	_ = awaitRead(e.File, orphanLimit, e.closing)
	if e.keep >= 0 {
		unix.Close(e.keep)
		return
	}
	t, err := newTerminal()
	if err != nil {
		return // no descriptors left: the reader still sees EIO, Write ErrGone
	}
	unix.Close(t.master)
	_ = unix.SetNonblock(t.slave, true)
	_ = e.Replace(t.slave)
}

// drain asks the other side to say when it has read everything.
func (e *end) drain(limit time.Duration) error {
	e.draining.Lock()
	defer e.draining.Unlock()
	e.asked++
	if _, err := e.conn.Write([]byte{'d', e.asked}); err != nil {
		return e.why()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case n := <-e.answer:
			if n == e.asked { // else it answers a drain that was given up
				return nil
			}
		case <-e.gone:
			return e.why()
		case <-e.closing:
			return ErrClosed
		case <-timer.C:
			return ErrUnread
		}
	}
}

func (e *end) why() error {
	if e.isClosing() {
		return ErrClosed
	}
	return ErrGone
}

func (e *end) close() error {
	var err error
	e.once.Do(func() {
		close(e.closing)
		e.release()
		// The line before the socket: when the other side hears that this one
		// is gone, nothing is written any more. The end of the socket also
		// ends listen, which lets the kept master go.
		err = errors.Join(e.File.Close(), e.conn.Close())
		e.done.Wait()
	})
	return err
}
