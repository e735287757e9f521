package serialport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	onlyOnce    = false // a terminal may be opened twice
	stickParity = unix.CMSPAR
)

// getTermios reads struct termios2, which has the speed as a number.
func getTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, unix.TCGETS2) }

// inspect tells what kind of device it is without opening it: opening may
// already do something (a watchdog starts to run).
func inspect(name string) (Info, error) {
	st, err := checkDevice(name)
	if err != nil {
		return Info{}, err
	}
	rdev := uint64(st.Sys().(*syscall.Stat_t).Rdev)
	if isPTS(rdev) {
		return Info{Name: name, Virtual: true, Driver: "pty", LatencyTimer: -1}, nil
	}
	return system.inspect(name, unix.Major(rdev), unix.Minor(rdev))
}

// isPTS: Documentation/admin-guide/devices.txt, 136 to 143 are Unix98 slaves.
func isPTS(rdev uint64) bool {
	major := unix.Major(rdev)
	return major >= 136 && major <= 143
}

// inspect looks a device up by its numbers.
func (s sysfs) inspect(name string, major, minor uint32) (Info, error) {
	plain := Info{Name: name, LatencyTimer: -1}
	if _, err := os.Stat(filepath.Join(s.sys, "class", "tty")); err != nil {
		return plain, nil // no sysfs here: the terminal's own answer has to do
	}
	entry := filepath.Join(s.sys, "dev", "char", fmt.Sprintf("%d:%d", major, minor))
	bus, err := filepath.EvalSymlinks(filepath.Join(entry, "subsystem"))
	switch {
	case err != nil || filepath.Base(bus) != "tty":
		return Info{}, fmt.Errorf("%w: it is another kind of device", ErrNotPort)
	case major == 4 && minor < 64, major == 5:
		return Info{}, fmt.Errorf("%w: it is a console", ErrNotPort)
	}
	if uart, ok := readText(entry, "type"); ok && uart == "0" {
		return Info{}, fmt.Errorf("%w: no UART is there", ErrNotFound)
	}
	if i, ok := s.describe(entry); ok {
		i.Name = name
		return i, nil
	}
	plain.Virtual = true // a terminal without hardware: tty0tty and the like
	return plain, nil
}

// serialStruct is struct serial_struct of include/uapi/linux/serial.h.
type serialStruct struct {
	typ, line                 int32
	port                      uint32
	irq, flags, xmitFIFO      int32
	customDivisor, baudBase   int32
	closeDelay                uint16
	ioType, _                 byte
	hub6                      int32
	closingWait, closingWait2 uint16
	iomemBase                 uintptr
	iomemRegShift             uint16
	portHigh                  uint32
	iomapBase                 uintptr
}

// Of include/uapi/linux/tty_flags.h.
const asyncLowLatency = 1 << 13

func ioctl(fd int, request uint, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// lowLatency asks driver and adapter, and gives what puts it back. Since Linux
// 3.15 the flag makes a 16550 no faster, but with it ftdi_sio sets the
// adapter's timer to 1 ms, which needs no right to write into sysfs.
func (p *unixPort) lowLatency(name string) (l Latency, undo func() error) {
	fd, _ := p.raw.Fds()
	var undoFlag func() error
	l.Flag, undoFlag = setFlag(fd)
	before, path := p.info.LatencyTimer, timerPath(name)
	wrote := false
	if before >= 0 && path != "" {
		l.Timer, wrote = setTimer(path, before)
	}
	return l, func() error {
		err := undoFlag()
		if wrote {
			err = errors.Join(err, writeNumber(path, before))
		}
		return ignoreGone(err)
	}
}

// ignoreGone: what vanished has nothing to be put back into.
func ignoreGone(err error) error {
	if Gone(err) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// setFlag turns the driver's low_latency on.
func setFlag(fd int) (Setting, func() error) {
	none := func() error { return nil }
	var s serialStruct
	if err := ioctl(fd, unix.TIOCGSERIAL, unsafe.Pointer(&s)); err != nil {
		return Setting{Why: "the driver has no low_latency flag"}, none
	}
	was := onOff(s.flags&asyncLowLatency != 0)
	if was == "on" {
		return Setting{Before: was, After: was}, none
	}
	old := s
	s.flags |= asyncLowLatency
	if err := ioctl(fd, unix.TIOCSSERIAL, unsafe.Pointer(&s)); err != nil {
		return Setting{Before: was, After: was, Why: err.Error(), Hint: "run it with sudo"}, none
	}
	now := s
	if err := ioctl(fd, unix.TIOCGSERIAL, unsafe.Pointer(&now)); err != nil {
		now = s
	}
	g := Setting{Before: was, After: onOff(now.flags&asyncLowLatency != 0)}
	if g.After == "off" {
		g.Why = "the driver ignored it"
	}
	return g, func() error { return ioctl(fd, unix.TIOCSSERIAL, unsafe.Pointer(&old)) }
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// timerPath is the FTDI adapter's latency_timer.
func timerPath(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	return filepath.Join(system.sys, "class", "tty", filepath.Base(real), "device", "latency_timer")
}

// setTimer brings a timer to 1 ms, unless it is there already, and reads it
// back. before is what it was before the driver's flag was set.
func setTimer(path string, before int) (s Setting, wrote bool) {
	s.Before = fmt.Sprintf("%d ms", before)
	now := func() int { return readNumber(filepath.Dir(path), "latency_timer", before) }
	if now() != 1 {
		err := writeNumber(path, 1)
		wrote = err == nil
		if !wrote {
			s.Why = strings.TrimPrefix(err.Error(), "open "+path+": ")
			s.Hint = "echo 1 | sudo tee " + path
		}
	}
	s.After = fmt.Sprintf("%d ms", now())
	return s, wrote
}

// writeNumber writes into a file of sysfs; it creates none.
func writeNumber(path string, n int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, n)
	return errors.Join(err, f.Close())
}

// icounter is struct serial_icounter_struct of include/uapi/linux/serial.h.
type icounter struct {
	cts, dsr, rng, dcd          uint32
	rx, tx                      uint32
	frame, overrun, parity, brk uint32
	bufOverrun                  uint32
	_                           [9]uint32
}

func (p *unixPort) counters() (Counters, error) {
	var c icounter
	fd, _ := p.raw.Fds()
	err := ioctl(fd, unix.TIOCGICOUNT, unsafe.Pointer(&c))
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EINVAL) {
		err = ErrUnsupported
	}
	if err != nil {
		return Counters{}, p.wrap("read the line counters of", err)
	}
	return Counters{
		Framing: c.frame, Parity: c.parity, Overrun: c.overrun, Break: c.brk,
		BufferOverrun: c.bufOverrun, Rx: c.rx, Tx: c.tx,
		CTS: c.cts, DSR: c.dsr, RI: c.rng, DCD: c.dcd,
	}, nil
}
