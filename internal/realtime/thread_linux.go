package realtime

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepareThread prepares the calling thread. The order matters: the mask
// first, so that nothing interrupts the rest; the scheduler last, so that a
// real-time thread is ready when it becomes one.
func (s *Session) prepareThread() []Grant {
	grants := []Grant{blockSignals(), timerSlack()}
	if s.request.CPU >= 0 {
		grants = append(grants, affinity(s.request.CPU))
	}
	return append(grants, s.schedule())
}

// schedule sets this thread's scheduler and priority, and reads them back.
func (s *Session) schedule() Grant {
	g := Grant{Item: ItemPriority, Asked: s.priority.String()}
	want := schedAttr(s.priority)
	err := unix.SchedSetAttr(0, &want, 0)
	if err == unix.EPERM && s.priority.Level == Realtime {
		err = lowerRealtime(want, err)
	}
	got, readErr := unix.SchedGetAttr(0, 0)
	if readErr != nil {
		g.Got, g.Why = "unknown", "sched_getattr: "+readErr.Error()
		return g
	}
	g.Got = schedString(got)
	if got.Policy == want.Policy && got.Priority == want.Priority && got.Nice == want.Nice {
		return g
	}
	g.Why = "the system gave another one"
	if err != nil {
		g.Why = "sched_setattr: " + err.Error()
	}
	limit := "rtprio 99"
	if s.priority.Level != Realtime {
		limit = "nice -10"
	}
	g.Hint = rightsHint("cap_sys_nice", limit)
	return g
}

// lowerRealtime asks for the highest real-time priority that the user's limit
// allows, when the wanted one was refused.
func lowerRealtime(want unix.SchedAttr, refused error) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_RTPRIO, &limit) != nil || limit.Cur == 0 || limit.Cur >= uint64(want.Priority) {
		return refused
	}
	want.Priority = uint32(limit.Cur)
	if err := unix.SchedSetAttr(0, &want, 0); err != nil {
		return err
	}
	return fmt.Errorf("%w: at most priority %d is allowed", refused, limit.Cur)
}

// niceOf is what high and low are beside the ordinary 0.
const niceOf = 10

func schedAttr(p Priority) unix.SchedAttr {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	switch p.Level {
	case Realtime:
		a.Policy, a.Priority = unix.SCHED_FIFO, uint32(p.N)
	case High:
		a.Nice = -niceOf
	case Low:
		a.Nice = niceOf
	}
	return a
}

// schedString names a scheduler as the man pages do.
func schedString(a *unix.SchedAttr) string {
	switch a.Policy {
	case unix.SCHED_FIFO:
		return "SCHED_FIFO " + strconv.Itoa(int(a.Priority))
	case unix.SCHED_RR:
		return "SCHED_RR " + strconv.Itoa(int(a.Priority))
	case unix.SCHED_BATCH:
		return "SCHED_BATCH nice " + strconv.Itoa(int(a.Nice))
	case unix.SCHED_IDLE:
		return "SCHED_IDLE"
	case unix.SCHED_DEADLINE:
		return "SCHED_DEADLINE"
	}
	return "SCHED_OTHER nice " + strconv.Itoa(int(a.Nice))
}

// affinity binds this thread to one processor.
func affinity(cpu int) Grant {
	g := Grant{Item: ItemCPU, Asked: strconv.Itoa(cpu)}
	var set unix.CPUSet
	set.Set(cpu)
	err := unix.SchedSetaffinity(0, &set)
	if err != nil {
		g.Why = "sched_setaffinity: " + err.Error()
		g.Hint = "name a processor that this process may use"
	}
	var got unix.CPUSet
	if unix.SchedGetaffinity(0, &got) != nil {
		g.Got = "unknown"
		return g
	}
	g.Got = cpuList(&got)
	if g.Why != "" && g.Got != "" {
		g.Hint += ": " + g.Got
	}
	return g
}

// cpuList writes a set as the kernel does: 0-3,6.
func cpuList(set *unix.CPUSet) string {
	var b strings.Builder
	most := len(set) * strconv.IntSize
	for cpu := 0; cpu < most; cpu++ {
		if !set.IsSet(cpu) {
			continue
		}
		first := cpu
		for cpu+1 < most && set.IsSet(cpu+1) {
			cpu++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if cpu > first {
			b.WriteString("-" + strconv.Itoa(cpu))
		}
	}
	return b.String()
}

// timerSlack takes away the 50 µs by which the kernel may delay the sleeps of
// an ordinary thread. Real-time threads have none anyway: newer kernels then
// ignore the request and read back 0.
func timerSlack() Grant {
	g := Grant{Item: ItemSlack, Asked: "1ns"}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		g.Why = "prctl(PR_SET_TIMERSLACK): " + err.Error()
	}
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		g.Got = "unknown"
		return g
	}
	g.Got = time.Duration(ns).String()
	return g
}

// keptSignals stay open: the faults of this thread itself (blocked, the kernel
// would kill the process without a trace), and the two that the C library and
// the Go runtime send to every thread and wait for.
var keptSignals = []syscall.Signal{
	unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGSYS,
	32, 33,
}

// blockSignals keeps signals away from this thread: the other threads of the
// process take them. Above all SIGURG, by which the Go scheduler preempts: it
// ends a raw sleep up to a whole period early (measured: 340 times in a run
// without this, 0 with it).
func blockSignals() Grant {
	g := Grant{Item: ItemSignals, Asked: "blocked", Got: "not blocked"}
	var set, got unix.Sigset_t
	for i := range set.Val {
		set.Val[i]-- // from zero: all bits
	}
	for _, sig := range keptSignals {
		word, bit := sigBit(sig)
		set.Val[word] &^= 1 << bit
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil); err != nil {
		g.Why = "rt_sigprocmask: " + err.Error()
		return g
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &got); err != nil {
		g.Why = "rt_sigprocmask: " + err.Error()
		return g
	}
	word, bit := sigBit(unix.SIGURG)
	if got.Val[word]&(1<<bit) == 0 {
		g.Why = "the mask reads back without them"
		return g
	}
	g.Got = "blocked"
	return g
}

// sigBit is a signal's place in a set.
func sigBit(sig syscall.Signal) (word, bit int) {
	const width = 8 * int(unsafe.Sizeof(unix.Sigset_t{}.Val[0]))
	n := int(sig) - 1
	return n / width, n % width
}
