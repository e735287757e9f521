#include "textflag.h"

TEXT mach_thread_self_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_mach_thread_self(SB)
GLOBL	·machThreadSelfAddr(SB), RODATA, $8
DATA	·machThreadSelfAddr(SB)/8, $mach_thread_self_trampoline<>(SB)

TEXT thread_policy_set_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_thread_policy_set(SB)
GLOBL	·machPolicySetAddr(SB), RODATA, $8
DATA	·machPolicySetAddr(SB)/8, $thread_policy_set_trampoline<>(SB)

TEXT thread_policy_get_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_thread_policy_get(SB)
GLOBL	·machPolicyGetAddr(SB), RODATA, $8
DATA	·machPolicyGetAddr(SB)/8, $thread_policy_get_trampoline<>(SB)

TEXT mach_timebase_info_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_mach_timebase_info(SB)
GLOBL	·machTimebaseAddr(SB), RODATA, $8
DATA	·machTimebaseAddr(SB)/8, $mach_timebase_info_trampoline<>(SB)
