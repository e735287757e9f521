//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is a pseudo-terminal's two sides, in raw mode.
type terminal struct {
	master, slave int
	path          string // of the slave
}

// newTerminal creates one. It is raw before anybody else can see it: no echo,
// no line editing, no translation, no signals.
func newTerminal() (*terminal, error) {
	m, s, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("create a pseudo-terminal: %w", err)
	}
	defer m.Close()
	defer s.Close()
	if _, err := term.MakeRaw(int(s.Fd())); err != nil {
		return nil, fmt.Errorf("set the pseudo-terminal raw: %w", err)
	}
	t := &terminal{path: s.Name()}
	if t.master, err = dup(m); err != nil {
		return nil, err
	}
	if t.slave, err = dup(s); err != nil {
		return nil, errors.Join(err, unix.Close(t.master))
	}
	return t, nil
}

// dup takes a descriptor out of the hands of os.File, which would close it
// when collected and put it back into blocking mode when asked for it.
func dup(f *os.File) (int, error) {
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

func (t *terminal) close() {
	unix.Close(t.master)
	unix.Close(t.slave)
}
