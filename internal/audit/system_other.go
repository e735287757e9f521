//go:build !linux && !windows && !darwin && !freebsd && !openbsd && !netbsd && !dragonfly

package audit

import "serialtiming/internal/serialport"

// Nothing is known of this system: an audit of it is empty.
func system() []Item { return nil }

func portSystem(serialport.Info) []Item { return nil }

func slewPPM() (float64, bool) { return 0, false }

func timerResolution() (Resolution, bool) { return Resolution{}, false }
