package wait

import "time"

// FD is a port's raw descriptor, for the hot loops. Only Linux has raw calls
// on it; elsewhere every call fails with
// errors.ErrUnsupported.
type FD uintptr

// Status is how a raw call ended: [OK], or the system's error number.
type Status uintptr

// OK is the status of a call that did what it was asked.
const OK Status = 0

// Retry tells that nothing happened yet: the port has no room or no data, or
// a signal came in between.
//
//go:nosplit
func (s Status) Retry() bool { return retry(s) }

// Err gives the system's error (a syscall.Errno), nil for [OK].
func (s Status) Err() error { return statusErr(s) }

// Ready is what a poll saw.
type Ready struct {
	Now    bool   // reading or writing will not wait
	Gone   bool   // hang-up or error: a read still gives what is left
	Status Status // of the poll itself
}

// Readable waits at most d (never more than [Slice]) until there is something
// to read.
//
//go:nosplit
func (fd FD) Readable(d time.Duration) Ready { return fd.poll(pollIn, d) }

// Writable waits at most d (never more than [Slice]) until there is room to
// write.
//
//go:nosplit
func (fd FD) Writable(d time.Duration) Ready { return fd.poll(pollOut, d) }

// Read reads what is there, at most len(b), which must not be 0.
//
//go:nosplit
func (fd FD) Read(b []byte) (int, Status) { return fd.read(&b[0], len(b)) }

// Put writes the one byte that b points to and gives how many were
// taken, 0 or 1.
//
//go:nosplit
func (fd FD) Put(b *byte) (int, Status) { return fd.write(b, 1) }

// Nonblock makes reads and writes return [Status.Retry] instead of waiting,
// and gives a function that sets the old mode again. The mode belongs to the
// open file, so it holds for every user of the descriptor.
func (fd FD) Nonblock() (restore func() error, err error) { return fd.nonblock() }
