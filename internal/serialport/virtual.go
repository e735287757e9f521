package serialport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"serialtiming/internal/cable"
)

const cableWord = "cable"

// IsCable says whether a port's name means the virtual cable.
func IsCable(name string) bool {
	return name == cableWord || strings.HasPrefix(name, cableWord+":")
}

// CheckName refuses a port's name that can be none, before anything is opened:
// that of a cable. Whether a system has a port shows when it is opened.
func CheckName(name string) error {
	if !IsCable(name) {
		return nil
	}
	if err := cable.CheckName(cableName(name)); err != nil {
		return cableError("open", name, err)
	}
	return nil
}

// cableName is the name that the cable itself knows.
func cableName(name string) string {
	if name == cableWord {
		return cable.DefaultName
	}
	return strings.TrimPrefix(name, cableWord+":")
}

// openCable plugs in one end.
func openCable(ctx context.Context, name string, c Config) (Port, error) {
	waiting := func() {
		c.Waiting(fmt.Sprintf("waiting up to %v for the other end of %s", c.PeerWait, name))
	}
	p, err := cable.Open(ctx, cableName(name), cable.Options{Wait: c.PeerWait, Waiting: waiting})
	if err != nil {
		return nil, cableError("open", name, err)
	}
	return newVirtual(name, p, p.Peer().String(), c)
}

// OpenLoopback gives a cable plugged into itself: what is written is read
// back. Its descriptors are two (Fds). Its Info has the name "cable".
func OpenLoopback(c Config) (Port, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, &Error{Op: "open", Port: cableWord, Err: err}
	}
	p, err := cable.OpenLoopback()
	if err != nil {
		return nil, cableError("open", cableWord, err)
	}
	return newVirtual(cableWord, p, "", c)
}

func newVirtual(name string, p *cable.Port, peer string, c Config) (Port, error) {
	v := &virtual{cable: p, timeout: c.ReadTimeout, info: Info{
		Name: name, Virtual: true, Driver: "pty", LatencyTimer: -1, Peer: peer,
	}}
	if _, _, ok := p.Fds(); !ok {
		v.info.Driver = "pipe"
	}
	// Config.KeepInput does not matter: on a new cable nothing is stale. What is
	// there the other end has sent since it met us, its announcement maybe.
	return v, nil
}

// virtual is a cable's end as a Port.
type virtual struct {
	cable   *cable.Port
	timeout time.Duration
	info    Info
}

func (v *virtual) Read(b []byte) (int, error) {
	n, err := v.cable.Read(b, v.timeout)
	return n, v.wrap("read from", err)
}

func (v *virtual) Write(b []byte) (int, error) {
	n, err := v.cable.Write(b)
	return n, v.wrap("write to", err)
}

func (v *virtual) Drain() error { return v.wrap("drain", v.cable.Drain(DrainLimit)) }
func (v *virtual) Flush() error { return v.wrap("flush", v.cable.Flush()) }
func (v *virtual) Close() error { return v.wrap("close", v.cable.Close()) }
func (v *virtual) Info() Info   { return v.info }

func (v *virtual) Fd() (uintptr, bool) {
	r, w, ok := v.cable.Fds()
	return r, ok && r == w
}

func (v *virtual) fds() (read, write uintptr, ok bool) { return v.cable.Fds() }

func (v *virtual) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return Fault(v, op, err)
}

// cableError carries a cable's hint over.
func cableError(op, name string, err error) error {
	e := &Error{Op: op, Port: name, Err: err}
	var c *cable.Error
	if errors.As(err, &c) {
		e.Err, e.Hint = c.Err, c.Hint
	}
	return e
}
