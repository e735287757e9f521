//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockLimit bounds the wait for the lock, which is held for milliseconds, and
// for answerLimit when a process hangs.
const lockLimit = 3 * answerLimit

func (m meeting) lockPath() string { return filepath.Join(m.dir, m.prefix()+"lock") }

// lock makes this end the only one that comes at this moment.
func (m meeting) lock(ctx context.Context) (unlock func(), err error) {
	deadline := time.Now().Add(lockLimit)
	for {
		fd, err := m.tryLock()
		if err == nil {
			return func() { unix.Close(fd) }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &Error{
				Err:  fmt.Errorf("%s: %w", m.lockPath(), err),
				Hint: "take another name on both ends, or remove that file",
			}
		}
		if time.Now().After(deadline) {
			return nil, &Error{
				Err:  fmt.Errorf("%w: another process has locked %s for %v", ErrBusy, m.lockPath(), lockLimit),
				Hint: "take another name on both ends",
			}
		}
		select {
		case <-ctx.Done():
			return nil, &Error{Err: context.Cause(ctx)}
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// tryLock gives the locked file, EWOULDBLOCK if another process has it, or
// has just removed it.
func (m meeting) tryLock() (int, error) {
	fd, err := m.openLock()
	if err != nil {
		return -1, err
	}
	if err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = m.stillThere(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openLock opens the file, creating it if need be. An existing one is opened
// without O_CREAT (fs.protected_regular refuses that to root for another
// user's file), for reading only (flock asks for no more).
func (m meeting) openLock() (int, error) {
	const flags = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Open(m.lockPath(), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|flags, 0o666)
	if err == nil {
		// Past the umask: the other end may be another user's.
		if err = unix.Fchmod(fd, 0o666); err != nil {
			unix.Close(fd)
			return -1, err
		}
		return fd, nil
	}
	if !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	fd, err = unix.Open(m.lockPath(), unix.O_RDONLY|flags, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, unix.EWOULDBLOCK // removed in between: try again
	case errors.Is(err, unix.ELOOP):
		return -1, errors.New("is a symbolic link")
	}
	return fd, err
}

// stillThere: a lock on a file that was removed meanwhile locks nobody out.
func (m meeting) stillThere(fd int) error {
	var have, there unix.Stat_t
	if err := unix.Fstat(fd, &have); err != nil {
		return err
	}
	if have.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("is not a regular file")
	}
	err := unix.Lstat(m.lockPath(), &there)
	if err != nil || have.Ino != there.Ino || have.Dev != there.Dev {
		return unix.EWOULDBLOCK
	}
	return nil
}

// removeLock tidies up, if nobody is coming right now.
func (m meeting) removeLock() {
	fd, err := m.tryLock()
	if err != nil {
		return
	}
	unix.Unlink(m.lockPath())
	unix.Close(fd)
}
