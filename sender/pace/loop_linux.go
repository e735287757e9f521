package pace

import (
	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// Ends of the loop that are no error of a write.
const (
	statusStopped = ^wait.Status(0)
	statusBlocked = ^wait.Status(1)
)

// send takes the raw way when the port has a descriptor.
func (l *loop) send(p Port) error {
	raw, ok := p.Fd()
	if !ok {
		return l.sendPortable(realWorld(l, p))
	}
	fd := wait.FD(raw)
	restore, err := fd.Nonblock()
	if err != nil {
		return err
	}
	defer restore()
	l.fd = fd
	wait.Outside(l)
	switch status := l.status; status {
	case statusStopped:
		return nil
	case statusBlocked:
		return ErrBlocked
	default:
		return status.Err()
	}
}

// Hot is the loop.
//
//go:nosplit
func (l *loop) Hot() { l.status = l.run(l.fd) }

// run is the hot loop. Nothing in it may have a stack check (a test looks at
// the machine code): it runs outside the scheduler, which could only end the
// program there.
//
//go:nosplit
func (l *loop) run(fd wait.FD) wait.Status {
	now := clock.Now()
	for !l.done() {
		if l.full() {
			l.held++
			wait.Pause(heldFor)
			now = clock.Now()
			l.beat.Watch(now)
			continue
		}
		woke := now
		for l.sched.Period > 0 && woke < l.sched.Due() {
			woke = l.waiter.Until(woke, l.sched.Due())
			if l.stop.Load() {
				return statusStopped
			}
			l.watch(woke)
		}
		if status := l.put(fd); status != wait.OK {
			return status
		}
		now = clock.Now()
		l.sentOne(woke, now)
		l.beat.Watch(now)
	}
	return wait.OK
}

// put writes the next character. Without room it waits in slices, so that
// Stop and the run's end are seen.
//
//go:nosplit
func (l *loop) put(fd wait.FD) wait.Status {
	for {
		n, status := fd.Put(&l.payload[l.at])
		if n == 1 {
			return wait.OK
		}
		if status != wait.OK && !status.Retry() {
			return status
		}
		if l.stop.Load() {
			return statusStopped
		}
		fd.Writable(wait.Slice)
		now := clock.Now()
		if l.sched.End != 0 && now > l.sched.End {
			return statusBlocked
		}
		l.beat.Watch(now)
	}
}
