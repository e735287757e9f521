//go:build race

package wait

import "syscall"

func outside(l Loop) { l.Hot() }

// raw is an ordinary system call: the race detector works with the
// scheduler's processors, so they are given back while it lasts.
//
//go:nosplit
func raw(number, a, b, c, d uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.Syscall6(number, a, b, c, d, 0, 0)
	return r, e
}
