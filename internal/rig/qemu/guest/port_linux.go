package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/script"
)

// From include/uapi/linux/serial.h and asm-generic/termios.h.
const (
	tiocgIcount     = 0x545D
	tiocgSerial     = 0x541E
	tiocmLoop       = 0x8000
	asyncLowLatency = 1 << 13
)

// icount is struct serial_icounter_struct.
type icount struct {
	cts, dsr, rng, dcd, rx, tx, frame, overrun, parity, brk, bufOverrun int32
	_                                                                   [9]int32
}

// serialStruct is struct serial_struct as far as its flags, then its rest.
type serialStruct struct {
	kind, line int32
	port       uint32
	irq, flags int32
	_          [64]byte
}

func ioctl(fd int, request uint, p unsafe.Pointer) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(p)); e != 0 {
		return e
	}
	return nil
}

// open gives a descriptor that leaves the port as it is: the held one where
// there is one. shut closes what was opened for this step only.
func (g *guest) open(path string) (fd int, shut func(), err error) {
	if fd, ok := g.held[path]; ok {
		return fd, func() {}, nil
	}
	fd, err = unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	return fd, func() { unix.Close(fd) }, err
}

func (g *guest) hold(s script.Step) (string, error) {
	fd, _, err := g.open(s.Path)
	if err == nil {
		g.held[s.Path] = fd
	}
	return "", err
}

func (g *guest) unhold(s script.Step) (string, error) {
	fd, ok := g.held[s.Path]
	if !ok {
		return "", os.ErrNotExist
	}
	delete(g.held, s.Path)
	return "", unix.Close(fd)
}

func (g *guest) loop(s script.Step) (string, error) {
	if _, err := g.hold(s); err != nil {
		return "", err
	}
	if err := unix.IoctlSetPointerInt(g.held[s.Path], unix.TIOCMBIS, tiocmLoop); err != nil {
		return "", err
	}
	v, err := unix.IoctlGetInt(g.held[s.Path], unix.TIOCMGET)
	if err == nil && v&tiocmLoop == 0 {
		err = fmt.Errorf("loopback mode did not stay (modem bits %#x)", v)
	}
	return "", err
}

func counters(fd int) (script.Counters, error) {
	var c icount
	err := ioctl(fd, tiocgIcount, unsafe.Pointer(&c))
	return script.Counters{RX: c.rx, TX: c.tx, Framing: c.frame, Overrun: c.overrun,
		Parity: c.parity, Break: c.brk, BufferOverrun: c.bufOverrun, DCD: c.dcd}, err
}

func (g *guest) count(s script.Step) (string, error) {
	fd, shut, err := g.open(s.Path)
	if err != nil {
		return "", err
	}
	defer shut()
	c, err := counters(fd)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(c)
	return string(b), err
}

// awaitTX polls every millisecond towards the end, so that what follows is at
// most that far behind a character, and seldom before: above all programs it
// takes their time.
func (g *guest) awaitTX(s script.Step) (string, error) {
	fd, shut, err := g.open(s.Path)
	if err != nil {
		return "", err
	}
	defer shut()
	first, err := counters(fd)
	if err != nil {
		return "", err
	}
	for t, end := now(), now()+int64(s.For); t < end; {
		c, err := counters(fd)
		if err != nil {
			return "", err
		}
		if int64(c.TX-first.TX) >= s.N {
			return fmt.Sprint(c.TX - first.TX), nil
		}
		t += int64(time.Millisecond)
		if int64(c.TX-first.TX) < s.N-20 {
			t += int64(20 * time.Millisecond)
		}
		sleepUntil(t)
	}
	return "", errTimeout
}

func (g *guest) lowLatency(s script.Step) (string, error) {
	fd, shut, err := g.open(s.Path)
	if err != nil {
		return "", err
	}
	defer shut()
	var v serialStruct
	if err := ioctl(fd, tiocgSerial, unsafe.Pointer(&v)); err != nil {
		return "", err
	}
	if v.flags&asyncLowLatency != 0 {
		return "on", nil
	}
	return "off", nil
}

// overrun switches the UART's interrupts off, pushes characters through its
// loopback and switches them on again: what is beyond the FIFO is lost, and
// the driver counts one overrun.
func overrun(_ *guest, s script.Step) (string, error) {
	f, err := os.OpenFile("/dev/port", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	const data, enable = 0, 1 // register offsets
	ier := make([]byte, 1)
	at := func(r int) int64 { return int64(s.Base) + int64(r) }
	if _, err := f.ReadAt(ier, at(enable)); err != nil {
		return "", err
	}
	f.WriteAt([]byte{0}, at(enable))
	for range s.N {
		f.WriteAt([]byte{'#'}, at(data))
	}
	_, err = f.WriteAt(ier, at(enable))
	return "", err
}
