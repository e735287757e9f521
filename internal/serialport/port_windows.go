package serialport

import (
	"errors"

	"golang.org/x/sys/windows"
)

// openSystem opens through go.bug.st/serial alone: its handle is hidden and
// exclusive, so there is no descriptor for a hot loop and no line counter.
func openSystem(name string, c Config) (Port, error) {
	v, err := openVendor(name, c)
	if err == nil {
		err = v.SetReadTimeout(c.ReadTimeout)
	}
	if err != nil {
		return nil, openError(name, err)
	}
	p := &winPort{vendorPort: v, info: describe(name)}
	if !c.KeepInput {
		if err := v.ResetInputBuffer(); err != nil {
			v.Close()
			return nil, openError(name, err)
		}
	}
	if c.LowLatency {
		p.info.Latency.Timer.Why = "not built for Windows yet"
		p.info.Latency.Timer.Hint = "set the latency timer in the Device Manager: the port's advanced settings"
	}
	return p, nil
}

// describe finds what the registry tells about a port.
func describe(name string) Info {
	all, _ := List()
	for _, i := range all {
		if i.Name == name {
			return i
		}
	}
	return Info{Name: name, LatencyTimer: -1}
}

// openError gives an error its class and hint. Windows says "access denied"
// for a port that another program has open.
func openError(name string, err error) *Error {
	e := &Error{Op: "open", Port: name, Err: err}
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		e.Err, e.Hint = ErrNotFound, portsHint()
	case errors.Is(err, ErrBusy):
		e.Err, e.Hint = ErrBusy, "close the program that has "+printable(name)+" open"
	case errors.Is(err, ErrSetting):
		e.Hint = "choose a speed and line that this port can do, as in --baud 115200 --line 8N1"
	}
	return e
}

type winPort struct {
	vendorPort
	info Info
}

func (p *winPort) Read(b []byte) (int, error) {
	n, err := p.vendorPort.Read(b)
	return n, p.wrap("read from", err)
}

func (p *winPort) Write(b []byte) (int, error) {
	n, err := p.vendorPort.Write(b)
	return n, p.wrap("write to", err)
}

func (p *winPort) Drain() error        { return p.wrap("drain", p.vendorPort.Drain()) }
func (p *winPort) Flush() error        { return p.wrap("flush", p.ResetInputBuffer()) }
func (p *winPort) Close() error        { return p.wrap("close", p.vendorPort.Close()) }
func (p *winPort) Fd() (uintptr, bool) { return 0, false }
func (p *winPort) Info() Info          { return p.info }

func (p *winPort) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return Fault(p, op, vendorError(err))
}
