package realtime

import _ "unsafe" // for go:linkname

// Four functions of libSystem, called without cgo in the way of x/sys/unix: the
// linker imports the symbol, an assembly trampoline jumps to it, and the
// syscall package's own call runs it on the system stack.

//go:cgo_import_dynamic libc_mach_thread_self mach_thread_self "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_thread_policy_set thread_policy_set "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_thread_policy_get thread_policy_get "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_mach_timebase_info mach_timebase_info "/usr/lib/libSystem.B.dylib"

var (
	machThreadSelfAddr uintptr
	machPolicySetAddr  uintptr
	machPolicyGetAddr  uintptr
	machTimebaseAddr   uintptr
)

//go:linkname syscall_syscall6 syscall.syscall6
func syscall_syscall6(fn, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err uintptr)

// machCall gives the function's result.
//
//go:uintptrescapes
func machCall(fn, a1, a2, a3, a4, a5 uintptr) uintptr {
	r, _, _ := syscall_syscall6(fn, a1, a2, a3, a4, a5, 0)
	return r
}
