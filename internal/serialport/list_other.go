//go:build !linux && !darwin && !freebsd && !openbsd && !netbsd && !dragonfly && !windows

package serialport

func list() ([]Info, error) { return nil, ErrUnsupported }
