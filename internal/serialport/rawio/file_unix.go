//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package rawio

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// slice is the longest single wait: Close is noticed that soon.
const slice = 50 * time.Millisecond

// File is a line's descriptor, or two of them, in nonblocking mode.
type File struct {
	r, w   int
	closed atomic.Bool
	deaf   atomic.Bool  // the other side is known to be gone: nobody will read
	use    sync.RWMutex // held for reading by every call that uses r or w
}

// New takes over the descriptors to read from and to write to (the same one,
// as a rule) and makes them nonblocking.
func New(r, w int) (*File, error) {
	for _, fd := range []int{r, w} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
		unix.CloseOnExec(fd)
	}
	return &File{r: r, w: w}, nil
}

// Fds gives the descriptors; they stay this File's.
func (f *File) Fds() (r, w int) { return f.r, f.w }

// Read waits at most timeout for characters. (0, nil): none came.
func (f *File) Read(b []byte, timeout time.Duration) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	deadline := time.Now().Add(timeout)
	for {
		n, err := f.tryRead(b, min(time.Until(deadline), slice))
		if n > 0 || err != nil {
			return n, err
		}
		if time.Now().After(deadline) {
			return 0, nil
		}
	}
}

// tryRead is one wait and one read: (0, nil) when nothing came.
func (f *File) tryRead(b []byte, wait time.Duration) (int, error) {
	f.use.RLock()
	defer f.use.RUnlock()
	if f.closed.Load() {
		return 0, ErrClosed
	}
	got, err := await(f.r, unix.POLLIN, wait)
	if err != nil || got == 0 {
		return 0, err
	}
	n, err := unix.Read(f.r, b)
	switch {
	case n > 0:
		return n, nil
	case err == nil: // ready but empty: end of the line
		return 0, ErrGone
	default:
		return 0, classify(err)
	}
}

// Write hands over all of b, waiting for room as long as it takes.
func (f *File) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := f.tryWrite(b[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// tryWrite is one write, and one wait if there was no room.
func (f *File) tryWrite(b []byte) (int, error) {
	f.use.RLock()
	defer f.use.RUnlock()
	if f.closed.Load() {
		return 0, ErrClosed
	}
	if f.deaf.Load() {
		return 0, ErrGone
	}
	n, err := unix.Write(f.w, b)
	if n > 0 {
		return n, nil
	}
	if err = classify(err); err != nil {
		return 0, err
	}
	got, err := await(f.w, unix.POLLOUT, slice)
	if got&(unix.POLLHUP|unix.POLLERR) != 0 {
		return 0, ErrGone // a master without a slave is full, but never fails
	}
	return 0, err
}

// Deafen makes Write fail with ErrGone from now on; Read goes on.
func (f *File) Deafen() { f.deaf.Store(true) }

// Replace puts what fd refers to in the place of both descriptors, whose
// numbers stay, and closes fd. A loop that knows only the numbers then finds a
// line that has ended.
func (f *File) Replace(fd int) error {
	f.use.RLock()
	defer f.use.RUnlock()
	defer unix.Close(fd)
	if f.closed.Load() {
		return ErrClosed
	}
	err := replace(fd, f.r)
	if f.w != f.r {
		err = errors.Join(err, replace(fd, f.w))
	}
	return err
}

// classify gives nil for "not now", ErrGone for a line that went away, and
// anything else as it is.
func classify(err error) error {
	switch {
	case err == nil, errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	case Gone(err):
		return ErrGone
	}
	return err
}

// Pending says whether characters wait to be read. False can be too early by
// one read of another thread (see settle): believe it after several in a row.
// Outside Linux the end of the line counts as pending too.
func (f *File) Pending() (bool, error) {
	f.use.RLock()
	defer f.use.RUnlock()
	if f.closed.Load() {
		return false, ErrClosed
	}
	settle(f.r)
	got, err := await(f.r, unix.POLLIN, 0)
	return got&unix.POLLIN != 0, err
}

// Discard reads and throws away what is there, at most limit characters: a
// sender that never pauses must not hold us here.
func (f *File) Discard(limit int) error {
	b := make([]byte, 4096)
	for done := 0; done < limit; {
		n, err := f.tryRead(b, 0)
		if n == 0 || err != nil {
			return err
		}
		done += n
	}
	return nil
}

// Close ends the calls that wait, then closes the descriptors, once.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	f.use.Lock()
	defer f.use.Unlock()
	err := unix.Close(f.r)
	if f.w != f.r {
		err = errors.Join(err, unix.Close(f.w))
	}
	return err
}

// Gone says whether an errno means that the hardware or the other side of a
// pseudo-terminal went away.
func Gone(err error) bool {
	for _, e := range []unix.Errno{unix.EIO, unix.ENXIO, unix.ENODEV, unix.EPIPE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
