//go:build !race

package wait

import (
	"syscall"
	_ "unsafe" // for go:linkname
)

// outside calls both directly: the frame that entersyscall is called from has
// to last until exitsyscall.
func outside(l Loop) {
	entersyscall()
	l.Hot()
	exitsyscall()
}

// What a system call of package syscall, and each call of C, is wrapped in.
// The runtime keeps these names for packages outside it (runtime/proc.go,
// go.dev/issue/67401).

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// raw is a system call that the scheduler does not hear of.
//
//go:nosplit
func raw(number, a, b, c, d uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(number, a, b, c, d, 0, 0)
	return r, e
}
