//go:build !windows

package clock

import _ "unsafe" // for go:linkname

// Now reads the clock. On Linux it is one vDSO call of about 30 ns without a
// stack check, so that the Go scheduler cannot take the thread away inside a
// hot loop (unix.ClockGettime is a real system call there: 1.5 µs).
//
//go:nosplit
func Now() Instant { return Instant(nanotime()) }

// nanotime is the runtime's reading of the monotonic clock: without the wall
// clock that time.Now reads beside it, and on the system's own zero, so that
// clock_nanosleep and timerfd take it as a deadline. The runtime keeps this
// name for packages outside it (runtime/time_nofake.go, go.dev/issue/67401).
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64
