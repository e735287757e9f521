//go:build !linux

package wait

import (
	"errors"
	"time"
)

// There are no raw system calls on Windows and macOS, and the BSDs' loops go
// the portable way too: nobody calls these there.

const (
	pollIn  = 1
	pollOut = 4

	// Unsupported is the status of every call on a system without raw calls.
	unsupported Status = ^Status(0)
)

func retry(Status) bool { return false }

func statusErr(s Status) error {
	if s == OK {
		return nil
	}
	return errors.ErrUnsupported
}

func (fd FD) poll(int16, time.Duration) Ready { return Ready{Status: unsupported} }

func (fd FD) read(*byte, int) (int, Status) { return 0, unsupported }

func (fd FD) write(*byte, int) (int, Status) { return 0, unsupported }

func (fd FD) nonblock() (func() error, error) { return nil, errors.ErrUnsupported }

// Watched is known on Linux only.
func (fd FD) Watched() bool { return false }

func nap(d time.Duration) { time.Sleep(d) }
