//go:build linux && !amd64

package wait

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll1 polls one descriptor. Newer processors have ppoll only.
//
//go:nosplit
func poll1(p *unix.PollFd, d time.Duration) (int, Status) {
	ts := timespec(int64(d))
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(p)), 1,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if e != 0 {
		return 0, Status(e)
	}
	return int(n), OK
}
