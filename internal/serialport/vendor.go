//go:build linux || darwin || freebsd || openbsd

package serialport

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.bug.st/serial"
)

// vendorPort is what this package uses of go.bug.st/serial's port. It opens
// and configures; the reading and writing goes past it. (On Windows it serves
// nothing: see port_windows.go.)
type vendorPort interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	Drain() error
	ResetInputBuffer() error
	ResetOutputBuffer() error
	SetReadTimeout(time.Duration) error
	Close() error
}

var (
	vendorParity = map[byte]serial.Parity{
		'N': serial.NoParity, 'E': serial.EvenParity, 'O': serial.OddParity,
		'M': serial.MarkParity, 'S': serial.SpaceParity,
	}
	vendorStop = map[string]serial.StopBits{
		"1": serial.OneStopBit, "1.5": serial.OnePointFiveStopBits, "2": serial.TwoStopBits,
	}
)

// openVendor opens and configures. InitialStatusBits stay nil: setting them
// fails on pseudo-terminals.
func openVendor(name string, c Config) (vendorPort, error) {
	p, err := serial.Open(name, &serial.Mode{
		BaudRate: c.Baud, DataBits: c.Data, Parity: vendorParity[c.Parity], StopBits: vendorStop[c.Stop],
	})
	if err != nil {
		return nil, vendorError(err)
	}
	return p, nil
}

// vendorError finds the class of go.bug.st/serial's error (a PortError, which
// has no Unwrap, or a bare errno).
func vendorError(err error) error {
	var p *serial.PortError
	if !errors.As(err, &p) {
		return err
	}
	// A setting that the port refused is only to be found in the text.
	if _, why, ok := strings.Cut(err.Error(), "error configuring port: "); ok {
		return fmt.Errorf("%w: %s", ErrSetting, why)
	}
	classes := map[serial.PortErrorCode]error{
		serial.PortBusy: ErrBusy, serial.PortNotFound: ErrNotFound,
		serial.PermissionDenied: ErrDenied, serial.InvalidSerialPort: ErrNotPort,
		serial.InvalidSpeed: ErrSetting, serial.InvalidDataBits: ErrSetting,
		serial.InvalidParity: ErrSetting, serial.InvalidStopBits: ErrSetting,
		serial.PortClosed: ErrGone, serial.FunctionNotImplemented: ErrUnsupported,
	}
	if class := classes[p.Code()]; class != nil {
		return &classified{class, err}
	}
	return err
}

// classified is an error with a class that the library's own error lacks.
type classified struct{ class, cause error }

func (c *classified) Error() string   { return c.class.Error() + ": " + c.cause.Error() }
func (c *classified) Unwrap() []error { return []error{c.class, c.cause} }
