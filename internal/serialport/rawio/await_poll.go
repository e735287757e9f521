//go:build linux || freebsd || openbsd || netbsd || dragonfly

package rawio

import (
	"time"

	"golang.org/x/sys/unix"
)

// await waits for an event (POLLIN or POLLOUT) or for the end of the line, and
// gives the events that came, 0 when none did.
func await(fd int, event int16, wait time.Duration) (int16, error) {
	ms := int((max(wait, 0) + time.Millisecond - 1) / time.Millisecond)
	p := []unix.PollFd{{Fd: int32(fd), Events: event}}
	if _, err := unix.Poll(p, ms); err != nil {
		return 0, classify(err)
	}
	return p[0].Revents, nil
}
