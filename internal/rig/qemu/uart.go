//go:build linux

package qemu

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/relay"
)

// UART is what one serial port of a guest is wired to.
type UART struct {
	chardev string   // QEMU's words for it, without id
	socket  *os.File // in its place: one end of a cable
	device  string   // a device that is no ttyS: QEMU's words for it, without chardev
}

// Stuck is a port whose line takes a few characters and then no more. The
// function ends it.
func Stuck() (UART, func(), error) {
	near, far, err := pair()
	return UART{socket: near}, func() { far.Close() }, err
}

// FTDI makes the port an FTDI adapter on a USB bus that the guest's Args add
// (see USBBus), with the id under which it is unplugged.
func (u UART) FTDI(id string) UART {
	u.device = FTDIDevice + ",always-plugged=on,id=" + id
	return u
}

// FTDIDevice is QEMU's FTDI 232BM, 0403:6001; USBBus a full speed bus for it.
const FTDIDevice = "usb-serial"

// USBBus are the arguments of a guest that has FTDI ports.
var USBBus = []string{"-device", "piix3-usb-uhci,id=uhci"}

// Unwired is a port with nothing on it; its output is thrown away.
func Unwired() UART { return UART{chardev: "null"} }

// Telnet is a port behind a telnet server on a Unix socket, the one way into
// QEMU that carries a break.
func Telnet(path string) UART {
	return UART{chardev: "socket,path=" + path + ",server=on,wait=off,telnet=on"}
}

// Cable joins two ports directly: characters arrive as soon as they are sent,
// and wait where they are not taken.
func Cable() (a, b UART, err error) {
	x, y, err := pair()
	return UART{socket: x}, UART{socket: y}, err
}

// RelayedCable joins two ports through a relay, one line each way. It ends
// with the guests.
func RelayedCable(ab, ba relay.Line) (a, b UART, err error) {
	qa, ra, err := pair()
	if err != nil {
		return a, b, err
	}
	qb, rb, err := pair()
	if err != nil {
		return a, b, err
	}
	pump := func(l relay.Line, dst, src *os.File) {
		if l.CharTime > 0 {
			l.Sleep = sharpSleep()
		}
		l.Run(&wire{to: dst}, src) // ends with either guest: an error here is no news
		unix.Shutdown(int(dst.Fd()), unix.SHUT_WR)
	}
	go pump(ab, rb, ra)
	go pump(ba, ra, rb)
	return UART{socket: qa}, UART{socket: qb}, nil
}

// wire does not wait for whom it leads to: what is not taken is lost, as on a
// port that was unplugged. A guest that is held up gets its time.
type wire struct {
	to   *os.File
	lost bool // the last character
}

// unread is how long a wire's far end may take no characters at first.
const unread = 5 * time.Second

func (w *wire) Write(b []byte) (int, error) {
	flags := unix.MSG_NOSIGNAL
	if w.lost {
		flags |= unix.MSG_DONTWAIT
	}
	n, err := unix.SendmsgN(int(w.to.Fd()), b, nil, nil, flags)
	w.lost = errors.Is(err, unix.EAGAIN)
	if w.lost {
		return len(b), nil
	}
	return n, err
}

// pair gives two joined sockets whose buffers hold about 20 single characters
// (each occupies 0.7 kB), so that a sender is held back by the line as behind
// a real FIFO of 16, and not only after the 400 characters of a default
// buffer. With the least possible (6) the emulator ran the line dry whenever
// the host let it wait for a millisecond.
func pair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		patience := unix.NsecToTimeval(int64(unread))
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<10),
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &patience))
	}
	return os.NewFile(uintptr(fds[0]), "cable"), os.NewFile(uintptr(fds[1]), "cable"), err
}

// sharpSleep waits on a thread of its own, above the guests where that is
// allowed: Go's own sleep is good to a millisecond only, the length of a
// character at 9600. To be called on the goroutine that sleeps.
func sharpSleep() func(time.Time) {
	runtime.LockOSThread()
	unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 10,
	}, 0)
	return func(until time.Time) {
		d := time.Until(until)
		if d <= 0 {
			return
		}
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		ts = unix.NsecToTimespec(ts.Nano() + int64(d))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
		}
	}
}

// args gives QEMU's arguments for the port; its socket is QEMU's descriptor fd.
func (u UART) args(id string, fd int) []string {
	what := u.chardev
	if u.socket != nil {
		what = fmt.Sprintf("socket,fd=%d", fd)
	}
	if u.device != "" {
		return []string{"-chardev", what + ",id=" + id, "-device", u.device + ",chardev=" + id}
	}
	return []string{"-chardev", what + ",id=" + id, "-serial", "chardev:" + id}
}
