package wine

import (
	"errors"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Line is two pseudo-terminals whose masters are joined: what goes into one
// slave comes out of the other.
type Line struct {
	masters, slaves [2]*os.File
}

// NewLine makes one.
func NewLine() (*Line, error) {
	l := &Line{}
	for i := range 2 {
		m, s, err := pty.Open()
		if err != nil {
			l.Close()
			return nil, err
		}
		l.masters[i], l.slaves[i] = m, s
		if l.masters[i], err = closable(m); err != nil {
			l.Close()
			return nil, err
		}
		// Until a program configures it, nothing is echoed or translated.
		if _, err := term.MakeRaw(int(s.Fd())); err != nil {
			l.Close()
			return nil, err
		}
	}
	go join(l.masters[0], l.masters[1])
	go join(l.masters[1], l.masters[0])
	return l, nil
}

// closable gives a descriptor that can be closed while it is read: pty.Open
// has made the file a blocking one, whose Close waits for the read.
func closable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// join copies until one side is closed.
func join(from, to *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// Names are the slaves: /dev/pts/N.
func (l *Line) Names() [2]string { return [2]string{l.slaves[0].Name(), l.slaves[1].Name()} }

// Unplug takes the hardware away from a port that is open.
func (l *Line) Unplug(end int) error { return l.masters[end].Close() }

// Close ends the line.
func (l *Line) Close() error {
	var all []error
	for i := range 2 {
		for _, f := range []*os.File{l.masters[i], l.slaves[i]} {
			if f != nil {
				all = append(all, f.Close())
			}
		}
	}
	return errors.Join(all...)
}
