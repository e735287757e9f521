package capture

import (
	"errors"
	"fmt"
	"io"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// capturePortable is the loop for systems without raw calls, for ports
// without a descriptor, and for tests with a clock of their own.
func (l *loop) capturePortable(read func([]byte) (int, error), now func() clock.Instant) error {
	for !l.stop.Load() {
		if l.full() {
			wait.Pause(heldFor)
			continue
		}
		n, err := read(l.buf)
		arrived := now()
		if n > 0 {
			l.arrivedNow(arrived, n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%w: its other end was closed", ErrGone)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
}
