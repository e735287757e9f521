package capture

import (
	"fmt"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// statusEnd is the end of a loop whose read found the end of the file.
const statusEnd = ^wait.Status(0)

// capture takes the raw way when the port has a descriptor.
func (l *loop) capture(p Port) error {
	raw, ok := p.Fd()
	if !ok {
		return l.capturePortable(p.Read, clock.Now)
	}
	fd := wait.FD(raw)
	restore, err := fd.Nonblock()
	if err != nil {
		return err
	}
	defer restore()
	if fd.Readable(0).Now {
		l.waiting = waiting
	}
	l.fd = fd
	wait.Outside(l)
	switch status := l.status; status {
	case wait.OK:
		return nil
	case statusEnd:
		return fmt.Errorf("%w: its other end was closed", ErrGone)
	default:
		return fmt.Errorf("%w: %w", ErrGone, status.Err())
	}
}

// Hot is the loop.
//
//go:nosplit
func (l *loop) Hot() { l.status = l.run(l.fd) }

// run is the hot loop: short waits, then read, then the clock. Nothing in it
// may have a stack check (a test looks at the machine code), as in
// sender/pace.
//
//go:nosplit
func (l *loop) run(fd wait.FD) wait.Status {
	for !l.stop.Load() {
		if l.full() {
			wait.Pause(heldFor)
			continue
		}
		ready := fd.Readable(wait.Slice)
		if ready.Now || ready.Gone {
			n, status := fd.Read(l.buf)
			arrived := clock.Now()
			switch {
			case n > 0:
				l.arrivedNow(arrived, n)
			case status == wait.OK:
				return statusEnd
			case !status.Retry():
				return status
			}
			continue
		}
		if ready.Status != wait.OK && !ready.Status.Retry() {
			return ready.Status
		}
	}
	return wait.OK
}
