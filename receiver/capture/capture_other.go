//go:build !linux

package capture

import "serialtiming/internal/clock"

// capture goes the portable way: there are no raw system calls on Windows and
// macOS. Whether characters already waited is not known there.
func (l *loop) capture(p Port) error {
	return l.capturePortable(p.Read, clock.Now)
}
