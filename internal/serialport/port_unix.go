//go:build linux || darwin || freebsd || openbsd

package serialport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"syscall"

	"golang.org/x/sys/unix"

	"serialtiming/internal/serialport/rawio"
)

// unixPort is a port opened twice: by go.bug.st/serial, which configures it
// and keeps others out (TIOCEXCL), and by us, since its descriptor is hidden
// and the hot loops, the line counters and the latency settings need one. Ours
// has to be first: after TIOCEXCL only root could open a second.
type unixPort struct {
	vendor vendorPort
	raw    *rawio.File // nil where the system does not let us open twice
	config Config
	info   Info
	undo   func() error // puts back the latency settings
}

func openSystem(name string, c Config) (Port, error) {
	info, err := inspect(name)
	if err != nil {
		return nil, openError(name, err)
	}
	if err := checkFree(name, c); err != nil {
		return nil, err
	}
	fd, err := openTerminal(name)
	if err != nil {
		return nil, openError(name, err)
	}
	p := &unixPort{config: c, info: info, undo: func() error { return nil }}
	if p.raw, err = rawio.New(fd, fd); err != nil {
		unix.Close(fd)
		return nil, openError(name, err)
	}
	if err := p.setUp(name); err != nil {
		p.Close()
		return nil, openError(name, err)
	}
	return p, nil
}

// openTerminal is our own descriptor, of a terminal and nothing else.
func openTerminal(name string) (int, error) {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if _, err := getTermios(fd); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("%w: %w", ErrNotPort, err)
	}
	return fd, nil
}

// setUp configures the open port.
func (p *unixPort) setUp(name string) (err error) {
	p.vendor, err = openQuietly(name, p.config)
	if errors.Is(err, ErrBusy) && onlyOnce {
		p.raw.Close()
		p.raw = nil
		p.vendor, err = openQuietly(name, p.config)
	}
	if err != nil {
		return err
	}
	if p.raw != nil {
		p.leave(name)
	}
	if err := p.vendor.SetReadTimeout(p.config.ReadTimeout); err != nil {
		return err
	}
	if err := p.readBack(); err != nil {
		return err
	}
	if fd, ok := p.Fd(); ok && p.config.Shared {
		unix.IoctlSetInt(int(fd), unix.TIOCNXCL, 0) // the library set TIOCEXCL
	}
	if p.config.LowLatency {
		p.info.Latency, p.undo = p.lowLatency(name)
	}
	if p.config.KeepInput {
		return nil
	}
	return p.flush()
}

// openQuietly keeps the library's descriptor, which lacks O_CLOEXEC, from the
// programs that this process starts: a load that outlives the run would hold
// the port.
func openQuietly(name string, c Config) (vendorPort, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	v, err := openVendor(name, c)
	var want unix.Stat_t
	if err != nil || unix.Stat(name, &want) != nil {
		return v, err
	}
	for fd := 3; fd < 1024; fd++ {
		var have unix.Stat_t
		if unix.Fstat(fd, &have) == nil && have.Rdev == want.Rdev && have.Mode&unix.S_IFMT == unix.S_IFCHR {
			unix.CloseOnExec(fd)
		}
	}
	return v, nil
}

// readBack sees what the port made of the settings.
func (p *unixPort) readBack() error {
	if p.raw == nil {
		return nil
	}
	fd, _ := p.raw.Fds()
	t, err := getTermios(fd)
	if err != nil {
		return err
	}
	p.info.Baud, p.info.Line = int(t.Ospeed), lineOf(t)
	warning, err := p.config.compare(p.info)
	if warning != "" {
		p.info.Warnings = append(p.info.Warnings, warning)
	}
	return err
}

// lineOf reads the line setting out of a termios.
func lineOf(t *unix.Termios) string {
	data := map[uint64]string{unix.CS5: "5", unix.CS6: "6", unix.CS7: "7", unix.CS8: "8"}[uint64(t.Cflag)&unix.CSIZE]
	stop := "1"
	if t.Cflag&unix.CSTOPB != 0 {
		stop = "2"
	}
	return data + parityOf(uint64(t.Cflag)) + stop
}

func parityOf(cflag uint64) string {
	switch {
	case cflag&unix.PARENB == 0:
		return "N"
	case cflag&stickParity != 0 && cflag&unix.PARODD != 0:
		return "M"
	case cflag&stickParity != 0:
		return "S"
	case cflag&unix.PARODD != 0:
		return "O"
	}
	return "E"
}

func (p *unixPort) Info() Info { return p.info }

func (p *unixPort) Fd() (uintptr, bool) {
	if p.raw == nil {
		return 0, false
	}
	fd, _ := p.raw.Fds()
	return uintptr(fd), true
}

func (p *unixPort) Read(b []byte) (n int, err error) {
	if p.raw != nil {
		n, err = p.raw.Read(b, p.config.ReadTimeout)
	} else {
		n, err = p.vendor.Read(b)
	}
	return n, p.wrap("read from", err)
}

func (p *unixPort) Write(b []byte) (n int, err error) {
	if p.raw != nil {
		n, err = p.raw.Write(b)
	} else {
		n, err = p.vendor.Write(b)
	}
	return n, p.wrap("write to", err)
}

func (p *unixPort) Drain() error { return p.wrap("drain", p.vendor.Drain()) }
func (p *unixPort) Flush() error { return p.wrap("flush", p.flush()) }

func (p *unixPort) discard() error {
	return p.wrap("discard the output of", p.vendor.ResetOutputBuffer())
}

// flushLimit is more than a terminal's buffers hold.
const flushLimit = 1 << 18

// flush empties the terminal's buffer, and what was behind it.
func (p *unixPort) flush() error {
	err := p.vendor.ResetInputBuffer()
	if err != nil || p.raw == nil {
		return err
	}
	return p.raw.Discard(flushLimit)
}

func (p *unixPort) Close() error {
	err := p.undo()
	p.undo = func() error { return nil }
	if p.vendor != nil {
		err = errors.Join(err, p.vendor.Close())
	}
	if p.raw != nil {
		err = errors.Join(err, p.raw.Close())
	}
	return p.wrap("close", err)
}

func (p *unixPort) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return Fault(p, op, vendorError(err))
}

// openError gives an error its class and hint.
func openError(name string, err error) *Error {
	e := &Error{Op: "open", Port: name, Err: err}
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case is(ErrNotPort, unix.ENOTTY):
		e.Hint = portsHint()
	case is(ErrNotFound, unix.ENOENT, unix.ENXIO, unix.ENODEV, unix.EIO, unix.ENOTDIR):
		e.Err, e.Hint = ErrNotFound, portsHint()
	case is(ErrDenied, unix.EACCES, unix.EPERM):
		e.Err, e.Hint = ErrDenied, deniedHint(name)
	case is(ErrBusy, unix.EBUSY):
		e.Err = fmt.Errorf("%w: another process has it open", ErrBusy)
		e.Hint = "find out which: sudo fuser -v " + printable(name)
	case is(ErrSetting):
		e.Hint = "choose a speed and line that this port can do, as in --baud 115200 --line 8N1"
	}
	return e
}

// checkDevice refuses what is no character device, before it is opened.
func checkDevice(name string) (fs.FileInfo, error) {
	i, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if i.Mode()&fs.ModeCharDevice == 0 {
		return nil, fmt.Errorf("%w: it is %s", ErrNotPort, kindOf(i.Mode()))
	}
	return i, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m.IsRegular():
		return "a file"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no character device"
}

// deniedHint names the group that may open the port.
func deniedHint(name string) string {
	i, err := os.Stat(name)
	if err != nil {
		return "run it with sudo"
	}
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok || i.Mode().Perm()&0o060 != 0o060 || s.Gid == 0 {
		return "only root may open " + printable(name) + ": run it with sudo"
	}
	return groupHint(s.Gid)
}

// groupHint says how to join a group.
func groupHint(gid uint32) string {
	group, name := fmt.Sprint(gid), "$USER"
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return fmt.Sprintf("its group is %s: sudo usermod -aG %s %s, then log in again", group, group, name)
}
