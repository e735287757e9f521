package wait

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pollIn  = unix.POLLIN
	pollOut = unix.POLLOUT
)

//go:nosplit
func retry(s Status) bool {
	return s == Status(unix.EAGAIN) || s == Status(unix.EINTR)
}

func statusErr(s Status) error {
	if s == OK {
		return nil
	}
	return syscall.Errno(s)
}

//go:nosplit
func (fd FD) poll(events int16, d time.Duration) Ready {
	p := unix.PollFd{Fd: int32(fd), Events: events}
	n, status := poll1(&p, min(max(d, 0), Slice))
	if n == 0 {
		return Ready{Status: status}
	}
	return Ready{
		Now:  p.Revents&events != 0,
		Gone: p.Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0,
	}
}

//go:nosplit
func (fd FD) read(b *byte, n int) (int, Status) {
	r, e := raw(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(b)), uintptr(n), 0)
	runtime.KeepAlive(b)
	if e != 0 {
		return 0, Status(e)
	}
	return int(r), OK
}

//go:nosplit
func (fd FD) write(b *byte, n int) (int, Status) {
	r, e := raw(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(b)), uintptr(n), 0)
	runtime.KeepAlive(b)
	if e != 0 {
		return 0, Status(e)
	}
	return int(r), OK
}

func (fd FD) nonblock() (func() error, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, err
	}
	if flags&unix.O_NONBLOCK != 0 {
		return func() error { return nil }, nil
	}
	if err := unix.SetNonblock(int(fd), true); err != nil {
		return nil, err
	}
	return func() error { return unix.SetNonblock(int(fd), false) }, nil
}
