package rawio

import "golang.org/x/sys/unix"

// replace is dup2, which some of Linux's architectures do not have.
func replace(fd, place int) error { return unix.Dup3(fd, place, unix.O_CLOEXEC) }

// settle waits for a read of another thread to be over. What was written to a
// pseudo-terminal lies in the reader's buffer (4095 characters) or in a queue
// before it. A read takes from the buffer first and sets the move from the
// queue going last; in between poll sees neither. (Measured: one in ten runs of
// a million characters lost 4000 to that.) TIOCINQ takes the lock that a read
// holds until then (n_tty_ioctl, n_tty_read), and poll waits for the move. Only
// a further read in between could still hide characters, and each hides some
// that it took: hence several in a row.
func settle(fd int) { _, _ = unix.IoctlGetInt(fd, unix.TIOCINQ) }
