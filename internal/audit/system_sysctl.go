//go:build darwin || freebsd || openbsd || netbsd || dragonfly

package audit

import (
	"golang.org/x/sys/unix"

	"serialtiming/internal/serialport"
)

func system() []Item { return thisSystem().items() }

func portSystem(serialport.Info) []Item { return nil }

func slewPPM() (float64, bool) { return 0, false }

// thisSystem reads sysctl(3). Numbers are of 32 bits, or of 64.
func thisSystem() sysctls {
	s := sysctls{
		text: func(name string) (string, bool) {
			v, err := unix.Sysctl(name)
			return cleaned(v), err == nil
		},
		number: func(name string) (int64, bool) {
			if v, err := unix.SysctlUint32(name); err == nil {
				return int64(int32(v)), true
			}
			v, err := unix.SysctlUint64(name)
			return int64(v), err == nil
		},
	}
	if c, err := unix.SysctlClockinfo("kern.clockrate"); err == nil {
		s.hz = int64(c.Hz)
	}
	return s
}

func timerResolution() (Resolution, bool) { return Resolution{}, false }
