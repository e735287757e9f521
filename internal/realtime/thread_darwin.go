package realtime

import (
	"fmt"
	"strconv"
	"time"
	"unsafe"
)

const (
	niceForRealtime = 0 // the time constraint stands above all nice values
	elevate         = "sudo"
)

// lockMemory: macOS has mlockall in its headers only.
func (s *Session) lockMemory() Grant {
	return Grant{
		Item: ItemMemory, Asked: "locked", Got: "not locked",
		Why: "macOS has no mlockall (it answers ENOSYS)",
	}
}

// prepareThread prepares the calling thread. There is no timer slack to take
// away from a time-constrained thread.
func (s *Session) prepareThread() []Grant {
	grants := []Grant{}
	if s.request.CPU >= 0 {
		grants = append(grants, Grant{
			Item: ItemCPU, Asked: strconv.Itoa(s.request.CPU), Got: "any",
			Why: "macOS binds no thread to a processor", Hint: "drop --cpu",
		})
	}
	if s.priority.Level == Realtime {
		return append(grants, s.schedule())
	}
	return append(grants, s.grantNice())
}

// What a hot thread asks of the time constraint (mach/thread_policy.h): up to
// half a millisecond of work, done within one. It is more than one character
// takes; a thread that works longer loses its place.
const (
	constraintWork = 500 * time.Microsecond
	constraintDone = time.Millisecond
)

// timeConstraint is struct thread_time_constraint_policy, in ticks of
// mach_absolute_time.
type timeConstraint struct{ period, computation, constraint, preemptible uint32 }

// schedule makes this thread a real-time one, and reads it back. macOS takes
// no number, and needs no right for it.
func (s *Session) schedule() Grant {
	g := Grant{Item: ItemPriority, Asked: s.priority.String()}
	numer, denom := machTimebase()
	if numer == 0 || denom == 0 {
		g.Got, g.Why = "normal", "mach_timebase_info gave nothing"
		return g
	}
	ticks := func(d time.Duration) uint32 { return uint32(uint64(d) * uint64(denom) / uint64(numer)) }
	want := timeConstraint{computation: ticks(constraintWork), constraint: ticks(constraintDone), preemptible: 1}
	err := machSetPolicy(&want)
	got, isDefault, readErr := machGetPolicy()
	switch {
	case readErr != nil:
		g.Got, g.Why = "unknown", readErr.Error()
	case isDefault || got.computation != want.computation || got.constraint != want.constraint:
		g.Got, g.Why = "normal", "the time constraint does not read back"
	default:
		g.Got = fmt.Sprintf("THREAD_TIME_CONSTRAINT_POLICY, %v in %v", constraintWork, constraintDone)
	}
	if err != nil {
		g.Why = err.Error()
	}
	return g
}

const (
	timeConstraintPolicy = 2 // THREAD_TIME_CONSTRAINT_POLICY
	timeConstraintCount  = uint32(unsafe.Sizeof(timeConstraint{}) / 4)
)

func machSetPolicy(p *timeConstraint) error {
	thread := machCall(machThreadSelfAddr, 0, 0, 0, 0, 0)
	r := machCall(machPolicySetAddr, thread, timeConstraintPolicy, uintptr(unsafe.Pointer(p)), uintptr(timeConstraintCount), 0)
	return machError("thread_policy_set", r)
}

// machGetPolicy gives the constraint in force; isDefault when there is none.
func machGetPolicy() (p timeConstraint, isDefault bool, err error) {
	count, byDefault := timeConstraintCount, uint32(0)
	thread := machCall(machThreadSelfAddr, 0, 0, 0, 0, 0)
	r := machCall(machPolicyGetAddr, thread, timeConstraintPolicy,
		uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&byDefault)))
	return p, byDefault != 0, machError("thread_policy_get", r)
}

func machTimebase() (numer, denom uint32) {
	var info [2]uint32
	machCall(machTimebaseAddr, uintptr(unsafe.Pointer(&info)), 0, 0, 0, 0)
	return info[0], info[1]
}

func machError(what string, kernReturn uintptr) error {
	if int32(kernReturn) == 0 {
		return nil
	}
	return fmt.Errorf("%s: kern_return_t %d", what, int32(kernReturn))
}
