// Package serialport opens, lists and describes serial ports, and the virtual
// cable where a port's name is `cable` or `cable:NAME`. It promises that the
// line settings asked for are those in force (speed and line are read back,
// where the system tells), that latency settings that it changed are put back
// by Close, or known to the next run (Leftovers), that listing opens nothing, and that every failure names the port, its class and
// an action to take. It is the only room that knows go.bug.st/serial.
package serialport

import (
	"context"
	"time"
)

// Port is an open port. Read and Write may be used at the same time from two
// goroutines, each from one at a time; Close may come from a third.
type Port interface {
	// Read waits at most Config.ReadTimeout for characters and gives those
	// that are there, at most len(b). (0, nil) means that none came. A port
	// that went away, once all that it had delivered was read, is an *Error
	// of class ErrGone.
	Read(b []byte) (int, error)

	// Write hands all of b to the system, waiting while its buffers are full
	// (on the cable: while the other end does not read). It ends early with
	// ErrGone or, when Close comes meanwhile, ErrClosed.
	// On Windows, where a hot loop has nothing else to write with, a single
	// character gives up after 100 ms: (0, nil), it was not taken.
	Write(b []byte) (int, error)

	// Drain waits until what was written has left the machine; on the cable,
	// until the other end has read it, at most DrainLimit.
	Drain() error

	// Flush throws away what has arrived and was not read.
	Flush() error

	// Fd is the nonblocking descriptor for the hot loops: poll, read and write
	// it with raw system calls. A read that gives 0 characters and an errno
	// for which Gone holds both mean that the port is gone; EAGAIN means
	// nothing there, or no room (on the cable the buffer takes about 4 to 16
	// kilobytes, then the writer has to poll for POLLOUT). POLLHUP without
	// POLLIN also means gone. The first write after the other end of a cable
	// has died may still seem to succeed; within milliseconds it is EIO. False
	// where there is no such descriptor, or not one for both directions (Fds).
	Fd() (uintptr, bool)

	// Info describes the port as it was when opened, with the settings that
	// Config.LowLatency brought.
	Info() Info

	// Close puts back what opening changed and releases the port. It never
	// throws away what was written before. Raw loops on Fd have to have ended.
	Close() error
}

// DrainLimit bounds Drain on a port whose other side takes nothing.
const DrainLimit = 5 * time.Second

// Defaults of Config's zero values.
const (
	DefaultReadTimeout = 100 * time.Millisecond
	DefaultPeerWait    = 30 * time.Second
)

// Config says how to open a port. Baud, Data, Parity and Stop have to be set;
// the zero value of everything else is usable.
type Config struct {
	Baud   int    // bits per second
	Data   int    // data bits, 5 to 8
	Parity byte   // 'N', 'E', 'O', 'M' or 'S'
	Stop   string // "1", "1.5" or "2"

	LowLatency  bool          // ask driver and adapter for it; see Info.Latency
	ReadTimeout time.Duration // of Read; 0: DefaultReadTimeout
	Shared      bool          // open even if another process holds the port
	KeepInput   bool          // do not throw away what had arrived before

	// For the cable only.
	PeerWait time.Duration     // how long to wait for the other end; 0: DefaultPeerWait
	Waiting  func(hint string) // called once when the other end is not there yet
}

// Info describes a port. Text from adapters and drivers is cleaned: printable
// characters only. A figure that is not known is 0, LatencyTimer -1.
type Info struct {
	Name         string // as opened or as the system calls it: /dev/ttyUSB0, COM3, cable:a
	Virtual      bool   // no UART and no line speed: a cable or another pseudo-terminal
	Driver       string // the system's driver: "serial8250", "ftdi_sio", "pty"
	UART         string // "16550A" and the like; "" for USB and unknown
	USB          string // vendor and product id, "0403:6001"; "" if not USB
	Serial       string // USB serial number
	Manufacturer string // USB strings, as the adapter tells them
	Product      string
	LatencyTimer int // FTDI: milliseconds before a short packet is sent; -1 if there is none
	TriggerBytes int // 16550: receive FIFO trigger level

	// Of an open port only.
	Baud     int      // as read back; 0 if the system does not tell
	Line     string   // as read back, "8N1"; "" if the system does not tell
	Peer     string   // cable: who holds the other end, "receiver (pid 123)"
	Latency  Latency  // what Config.LowLatency brought
	Warnings []string // one sentence each: settings that the port did not take
}

// Open opens and configures the port. Errors are *Error: ErrNotFound,
// ErrBusy, ErrDenied, ErrNotPort, ErrNoPeer, ErrSetting, ErrUnsupported.
func Open(name string, c Config) (Port, error) {
	return OpenContext(context.Background(), name, c)
}

// OpenContext is Open; ctx ends the wait for the other end of a cable, and
// nothing after that.
func OpenContext(ctx context.Context, name string, c Config) (Port, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, &Error{Op: "open", Port: name, Err: err}
	}
	if IsCable(name) {
		return openCable(ctx, name, c)
	}
	return openSystem(name, c)
}

// Fds gives the descriptors to read from and to write to: one and the same for
// most ports, two for a loopback cable. ok is false where there are none.
func Fds(p Port) (read, write uintptr, ok bool) {
	if s, is := p.(interface {
		fds() (read, write uintptr, ok bool)
	}); is {
		return s.fds()
	}
	fd, ok := p.Fd()
	return fd, fd, ok
}

// Discard throws away what was written and has not left the machine, so that a
// line that takes nothing does not hold up Drain and Close.
func Discard(p Port) error {
	if d, is := p.(interface{ discard() error }); is {
		return d.discard()
	}
	return nil
}

// Loop puts the port's UART into its internal loopback mode, in which it hears
// itself and neither sends nor hears the line; its modem lines are off
// meanwhile. restore ends that, unless the UART was in it before.
// errors.ErrUnsupported (wrapped) where driver or system have no such mode;
// that a UART accepts it does not yet mean that characters come back.
func Loop(p Port) (restore func() error, err error) {
	if l, is := p.(interface {
		loop() (restore func() error, err error)
	}); is {
		return l.loop()
	}
	return nil, &Error{Op: "loop", Port: p.Info().Name, Err: ErrUnsupported}
}

// Counters are the driver's line counters since it was loaded: take
// differences. Rx and Tx count characters.
type Counters struct {
	Framing, Parity, Overrun, Break, BufferOverrun uint32
	Rx, Tx                                         uint32
	CTS, DSR, RI, DCD                              uint32 // edges
}

// ReadCounters reads them, errors.ErrUnsupported (wrapped) where port or
// system count nothing.
func ReadCounters(p Port) (Counters, error) {
	if s, is := p.(interface{ counters() (Counters, error) }); is {
		return s.counters()
	}
	return Counters{}, &Error{Op: "read the line counters of", Port: p.Info().Name, Err: ErrUnsupported}
}

// Sub gives the counts since old, right across one wrap of the driver's 32 bits.
func (c Counters) Sub(old Counters) Counters {
	return Counters{
		Framing: c.Framing - old.Framing, Parity: c.Parity - old.Parity,
		Overrun: c.Overrun - old.Overrun, Break: c.Break - old.Break,
		BufferOverrun: c.BufferOverrun - old.BufferOverrun,
		Rx:            c.Rx - old.Rx, Tx: c.Tx - old.Tx,
		CTS: c.CTS - old.CTS, DSR: c.DSR - old.DSR, RI: c.RI - old.RI, DCD: c.DCD - old.DCD,
	}
}

// Latency says what Config.LowLatency found, asked and got.
type Latency struct {
	Flag  Setting // the driver's low_latency flag: "off", "on"
	Timer Setting // the FTDI adapter's latency_timer: "16 ms", "1 ms"

	Trigger Setting // a 16550's rx_trig_bytes: "8", "1"
}

// Setting is one thing asked of the system: what it was, what it is now (both
// "" where the port has no such thing), and why it is not what was asked.
type Setting struct {
	Before, After string
	Why, Hint     string // "" when granted
}
