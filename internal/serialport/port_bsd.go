//go:build darwin || freebsd || openbsd

package serialport

import "golang.org/x/sys/unix"

const (
	onlyOnce    = true // OpenBSD lets a cua device be opened once
	stickParity = 0    // there is no mark or space parity
)

func getTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, unix.TIOCGETA) }

func inspect(name string) (Info, error) {
	_, err := checkDevice(name)
	return Info{Name: name, LatencyTimer: -1}, err
}

// checkFree: who holds a port is not asked here; TIOCEXCL keeps out all but root.
func checkFree(string, Config) error { return nil }

// lowLatency: no such setting is known here.
func (p *unixPort) lowLatency(string) (Latency, func() error) {
	return Latency{Flag: Setting{Why: "this system has no such setting"}}, func() error { return nil }
}

// leave: nothing is ever left here.
func (p *unixPort) leave(string) {}
