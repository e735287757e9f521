package pace

import (
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// world is what the portable loop runs in: the machine, or a test's clock.
type world struct {
	now   func() clock.Instant
	until func(now, due clock.Instant) clock.Instant
	pause func(time.Duration)
	// write sends one character; (0, nil) means that there was no room.
	write func(b []byte) (int, error)
}

// realWorld is this machine and a port.
func realWorld(l *loop, p Port) world {
	w := world{now: clock.Now, write: p.Write, pause: wait.Pause}
	if l.waiter != nil {
		w.until = l.waiter.Until
	}
	return w
}

// sendPortable is the loop for systems without raw calls, for ports without a
// descriptor, and for tests. It does what run does on Linux, step by step.
func (l *loop) sendPortable(w world) error {
	now := w.now()
	for !l.done() {
		if l.full() {
			l.held++
			w.pause(heldFor)
			now = w.now()
			l.beat.Watch(now)
			continue
		}
		woke := now
		for l.sched.Period > 0 && woke < l.sched.Due() {
			woke = w.until(woke, l.sched.Due())
			if l.stop.Load() {
				return nil
			}
			l.watch(woke)
		}
		sent, err := l.writePortable(w)
		if err != nil || !sent {
			return err
		}
		now = w.now()
		l.sentOne(woke, now)
		l.beat.Watch(now)
	}
	return nil
}

// writePortable writes the next character; false when the run was stopped
// before there was room for it.
func (l *loop) writePortable(w world) (bool, error) {
	for {
		n, err := w.write(l.payload[l.at : l.at+1])
		switch {
		case n == 1:
			return true, nil
		case err != nil:
			return false, err
		case l.stop.Load():
			return false, nil
		case l.sched.End != 0 && w.now() > l.sched.End:
			return false, ErrBlocked
		}
	}
}
