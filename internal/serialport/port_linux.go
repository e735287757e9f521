package serialport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

func ioctl(fd int, request uint, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// loopBit is TIOCM_LOOP of asm-generic/termios.h.
const loopBit = 0x8000

// loop asks only UARTs: what a USB adapter makes of the bit nobody says.
func (p *unixPort) loop() (restore func() error, err error) {
	refused := func(err error) error { return p.wrap("loop", err) }
	if p.info.UART == "" || p.raw == nil {
		return nil, refused(ErrUnsupported)
	}
	fd, _ := p.raw.Fds()
	was, err := unix.IoctlGetInt(fd, unix.TIOCMGET)
	if err != nil {
		return nil, refused(err)
	}
	if was&loopBit != 0 {
		return func() error { return nil }, nil
	}
	// The mode outlives the descriptor: a run that dies must not leave it.
	note, err := leaveNote(ttyOf(p.info.Name), forLoop, []kept{{SettingLoop, 0}})
	if err != nil {
		return nil, refused(fmt.Errorf("%w: %w", ErrUnsupported, err))
	}
	restore = func() error {
		err := unix.IoctlSetPointerInt(fd, unix.TIOCMBIC, loopBit)
		if err == nil {
			note.drop()
		}
		return refused(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCMBIS, loopBit); err != nil {
		note.drop()
		return nil, refused(err)
	}
	if now, err := unix.IoctlGetInt(fd, unix.TIOCMGET); err != nil || now&loopBit == 0 {
		return nil, errors.Join(refused(ErrUnsupported), err, restore())
	}
	return restore, nil
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
