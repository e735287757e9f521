package rawio

import (
	"time"

	"golang.org/x/sys/unix"
)

// await waits for an event (POLLIN or POLLOUT) or for the end of the line, and
// gives the event, 0 when it did not come; the end looks like the event.
// select, not poll: macOS's poll does not know terminals (poll(2), BUGS).
func await(fd int, event int16, wait time.Duration) (int16, error) {
	var set unix.FdSet
	if fd >= unix.FD_SETSIZE {
		return 0, unix.EINVAL
	}
	set.Set(fd)
	tv := unix.NsecToTimeval(int64(max(wait, 0)))
	r, w := &set, (*unix.FdSet)(nil)
	if event == unix.POLLOUT {
		r, w = nil, &set
	}
	n, err := unix.Select(fd+1, r, w, nil, &tv)
	if err != nil || n == 0 {
		return 0, classify(err)
	}
	return event, nil
}
