//go:build !linux && !darwin && !freebsd && !openbsd && !windows

package serialport

// openSystem: go.bug.st/serial does not build here (netbsd, dragonfly,
// solaris); listing and, on the BSDs, the virtual cable work all the same.
func openSystem(name string, _ Config) (Port, error) {
	return nil, &Error{
		Op: "open", Port: name, Err: ErrUnsupported,
		Hint: "serial ports work on Linux, Windows, macOS, FreeBSD and OpenBSD; --port cable is a virtual one",
	}
}
