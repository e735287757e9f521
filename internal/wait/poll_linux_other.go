//go:build linux && !amd64

package wait

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll1 polls one descriptor. Newer processors have ppoll only.
//
//go:nosplit
func poll1(p *unix.PollFd, d time.Duration) (int, Status) {
	ts := timespec(int64(d))
	n, e := raw(unix.SYS_PPOLL, uintptr(unsafe.Pointer(p)), 1, uintptr(unsafe.Pointer(&ts)), 0)
	runtime.KeepAlive(p)
	runtime.KeepAlive(&ts)
	if e != 0 {
		return 0, Status(e)
	}
	return int(n), OK
}
