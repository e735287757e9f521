package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
	"serialtiming/internal/rig/qemu/script"
	"serialtiming/internal/wait"
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

func (g *guest) loopMode(s script.Step) (string, error) {
	fd, shut, err := g.open(s.Path)
	if err != nil {
		return "", err
	}
	defer shut()
	v, err := unix.IoctlGetInt(fd, unix.TIOCMGET)
	if err == nil && v&tiocmLoop != 0 {
		return "on", nil
	}
	return "off", err
}

// emit writes characters into a UART's data register, above all programs. Its
// loop is a hot one as the sender's, so that this program's own scheduler keeps
// still, and does not spin: what waited meanwhile would delay the receiver.
func emit(_ *guest, s script.Step) (string, error) {
	fd, err := unix.Open("/dev/port", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	start := clock.Now().Add(s.Each)
	w, err := wait.New(wait.Config{Kind: wait.Absolute, Period: s.Each, Start: start})
	if err != nil {
		return "", err
	}
	defer w.Close()
	e := &emitter{waiter: w, port: uintptr(fd), base: uintptr(s.Base), due: start, each: clock.Instant(s.Each), at: make([][2]clock.Instant, s.N)}
	wait.Outside(e)
	if e.err != 0 {
		return "", e.err
	}
	sleepUntil(int64(e.due)) // what follows would keep the last one from its receiver
	b, err := json.Marshal(e.at)
	return string(b), err
}

type emitter struct {
	waiter     *wait.Waiter
	port, base uintptr
	due, each  clock.Instant
	char       byte
	at         [][2]clock.Instant // before and after each
	err        syscall.Errno
}

// Hot is the loop.
//
//go:nosplit
func (e *emitter) Hot() {
	for i := range e.at {
		now := clock.Now()
		for now < e.due {
			now = e.waiter.Until(now, e.due)
		}
		e.char = byte(' ' + i%95)
		e.at[i][0] = clock.Now()
		if _, _, err := syscall.RawSyscall6(unix.SYS_PWRITE64, e.port, uintptr(unsafe.Pointer(&e.char)), 1, e.base, 0, 0); err != 0 {
			e.err = err
			return
		}
		e.at[i][1] = clock.Now()
		e.due += e.each
	}
}
