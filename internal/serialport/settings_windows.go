package serialport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

const dcbLength = uint32(unsafe.Sizeof(windows.DCB{}))

// Of the DCB's flags (winbase.h): binary, parity checked, DTR and RTS on as a
// null modem wants them, no flow control; an error does not stop the line.
const (
	dcbBinary = 0x0001
	dcbParity = 0x0002
	dcbFlags  = dcbBinary | windows.DTR_CONTROL_ENABLE | windows.RTS_CONTROL_ENABLE
)

var (
	dcbParities = map[byte]uint8{
		'N': windows.NOPARITY, 'O': windows.ODDPARITY, 'E': windows.EVENPARITY,
		'M': windows.MARKPARITY, 'S': windows.SPACEPARITY,
	}
	dcbStops = map[string]uint8{"1": windows.ONESTOPBIT, "1.5": windows.ONE5STOPBITS, "2": windows.TWOSTOPBITS}
)

// configure sets speed and line, and reads them back.
func (p *winPort) configure() error {
	c := p.config
	dcb := windows.DCB{
		DCBlength: dcbLength, BaudRate: uint32(c.Baud), Flags: dcbFlags, ByteSize: uint8(c.Data),
		Parity: dcbParities[c.Parity], StopBits: dcbStops[c.Stop], XonLim: 2048, XoffLim: 512, XonChar: 17, XoffChar: 19,
	}
	if c.Parity != 'N' {
		dcb.Flags |= dcbParity
	}
	if err := windows.SetCommState(p.h, &dcb); err != nil {
		return fmt.Errorf("%w: SetCommState to %d baud %s: %w", ErrSetting, c.Baud, c.line(), err)
	}
	got := windows.DCB{DCBlength: dcbLength}
	if err := windows.GetCommState(p.h, &got); err != nil {
		return fmt.Errorf("GetCommState: %w", err)
	}
	p.info.Baud, p.info.Line = int(got.BaudRate), lineOfDCB(&got)
	warning, err := c.compare(p.info)
	if warning != "" {
		p.info.Warnings = append(p.info.Warnings, warning)
	}
	return err
}

// lineOfDCB reads the line setting out of a DCB; "" if it holds none.
func lineOfDCB(d *windows.DCB) string {
	parity, stop := "", ""
	for letter, n := range dcbParities {
		if n == d.Parity {
			parity = string(rune(letter))
		}
	}
	for text, n := range dcbStops {
		if n == d.StopBits {
			stop = text
		}
	}
	if parity == "" || stop == "" {
		return ""
	}
	return strconv.Itoa(int(d.ByteSize)) + parity + stop
}

// lowLatency: the FTDI driver reads its timer from the registry when the
// adapter is plugged in, so that a change would not hold for this run, and it
// takes an administrator. So it is looked at and not set.
func (p *winPort) lowLatency() Latency {
	ms := p.info.LatencyTimer
	if ms < 0 {
		return Latency{Timer: Setting{Why: "this port's driver has no latency timer in the registry"}}
	}
	now := fmt.Sprintf("%d ms", ms)
	s := Setting{Before: now, After: now}
	if ms != 1 {
		s.Why = "Windows takes it over only when the adapter is plugged in"
		s.Hint = "Device Manager, " + printable(p.info.Name) + ", Port Settings, Advanced: Latency Timer 1, then plug the adapter in again"
	}
	return Latency{Timer: s}
}

// describe finds what the registry tells about a port.
func describe(name string) Info {
	all, _ := List()
	for _, i := range all {
		if strings.EqualFold(i.Name, plainName(name)) {
			return i
		}
	}
	return Info{Name: name, LatencyTimer: -1}
}

// openError gives an error its class and hint.
func openError(name string, err error) *Error {
	e := &Error{Op: "open", Port: name, Err: err}
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(windows.ERROR_FILE_NOT_FOUND), is(windows.ERROR_PATH_NOT_FOUND), is(windows.ERROR_DEV_NOT_EXIST), is(windows.ERROR_INVALID_NAME):
		e.Err, e.Hint = ErrNotFound, portsHint()
	case is(ErrNotPort):
		e.Hint = portsHint()
	case is(ErrBusy):
		e.Hint = "close the program that has " + printable(name) + " open"
	case is(ErrDenied):
		e.Hint = "run as Administrator, or ask for access to " + printable(name)
	case is(ErrSetting):
		e.Hint = "choose a speed and line that this port can do, as in --baud 115200 --line 8N1"
	}
	return e
}
