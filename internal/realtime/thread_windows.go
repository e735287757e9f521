package realtime

import (
	"fmt"
	"math/bits"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	procSetThread   = kernel32.NewProc("SetThreadPriority")
	procGetThread   = kernel32.NewProc("GetThreadPriority")
	procSetAffinity = kernel32.NewProc("SetThreadGroupAffinity")
	procGetAffinity = kernel32.NewProc("GetThreadGroupAffinity")
	procExecution   = kernel32.NewProc("SetThreadExecutionState")
)

// thisThread is the pseudo-handle of the calling thread.
var thisThread = windows.CurrentThread()

// prepareThread prepares the calling thread; the priority comes last.
func (s *Session) prepareThread() []Grant {
	grants := []Grant{stayAwake()}
	if s.request.CPU >= 0 {
		grants = append(grants, affinity(s.request.CPU))
	}
	return append(grants, s.schedule())
}

// The thread priorities that have a place in every class.
const (
	threadIdle     = -15 // THREAD_PRIORITY_IDLE: 16 in the real-time class
	threadHighest  = 2
	threadNormal   = 0
	threadCritical = 15 // THREAD_PRIORITY_TIME_CRITICAL: 31 in the real-time class
	unreadable     = 0x7fffffff
)

// threadPriority is a priority inside its class. N counts as on Linux: 80 and
// above is the highest there is, as the original had it.
func threadPriority(p Priority) int {
	switch p.Level {
	case High:
		return threadHighest
	case Realtime:
		const first, last = 16, 31
		switch base := first + (min(p.N, DefaultRealtime)-1)*(last-first)/(DefaultRealtime-1); base {
		case last:
			return threadCritical
		case first:
			return threadIdle
		default:
			return min(base-24, 6) // 24 is normal; 6 the highest but critical
		}
	}
	return threadNormal
}

// schedule sets this thread's priority and reads back both it and the class,
// since REALTIME_PRIORITY_CLASS silently becomes HIGH without the right to it.
func (s *Session) schedule() Grant {
	g := Grant{Item: ItemPriority, Asked: s.priority.String()}
	want := threadPriority(s.priority)
	_, err := call(procSetThread, uintptr(thisThread), uintptr(want))
	class, classErr := windows.GetPriorityClass(self)
	raw, _, _ := procGetThread.Call(uintptr(thisThread))
	got := int(int32(raw))
	if classErr != nil || got == unreadable {
		g.Got, g.Why = "unknown", "the priority cannot be read back"
		return g
	}
	g.Got = describePriority(class, got)
	switch {
	case class != classes[s.priority.Level] && s.priority.Level == Realtime:
		g.Why = `needs the right "Increase scheduling priority"`
		g.Hint = "run as Administrator"
	case class != classes[s.priority.Level]:
		g.Why = "the system gave another class"
	case err != nil:
		g.Why = err.Error()
	case got != want:
		g.Why = "the system gave another thread priority"
	}
	return g
}

// classNames are the names and the base priorities of a normal thread.
var classNames = map[uint32]struct {
	name string
	base int
}{
	windows.REALTIME_PRIORITY_CLASS:     {"REALTIME_PRIORITY_CLASS", 24},
	windows.HIGH_PRIORITY_CLASS:         {"HIGH_PRIORITY_CLASS", 13},
	windows.ABOVE_NORMAL_PRIORITY_CLASS: {"ABOVE_NORMAL_PRIORITY_CLASS", 10},
	windows.NORMAL_PRIORITY_CLASS:       {"NORMAL_PRIORITY_CLASS", 8},
	windows.BELOW_NORMAL_PRIORITY_CLASS: {"BELOW_NORMAL_PRIORITY_CLASS", 6},
	windows.IDLE_PRIORITY_CLASS:         {"IDLE_PRIORITY_CLASS", 4},
}

// describePriority is "REALTIME_PRIORITY_CLASS, TIME_CRITICAL (31)"; the
// number is the base priority (learn.microsoft.com, "Scheduling Priorities").
func describePriority(class uint32, thread int) string {
	c, ok := classNames[class]
	if !ok {
		return fmt.Sprintf("class %#x, thread %+d", class, thread)
	}
	name, base := fmt.Sprintf("thread %+d", thread), c.base+thread
	realtime := class == windows.REALTIME_PRIORITY_CLASS
	switch thread {
	case threadCritical:
		name, base = "TIME_CRITICAL", 15
		if realtime {
			base = 31
		}
	case threadIdle:
		name, base = "IDLE", 1
		if realtime {
			base = 16
		}
	case threadNormal:
		name = "NORMAL"
	case threadHighest:
		name = "HIGHEST"
	}
	return fmt.Sprintf("%s, %s (%d)", c.name, name, base)
}

// groupAffinity is GROUP_AFFINITY: a mask of up to 64 processors of one group.
type groupAffinity struct {
	mask     uintptr
	group    uint16
	reserved [3]uint16
}

// affinity binds this thread to one processor, counted through the groups as
// if all were full.
func affinity(cpu int) Grant {
	g := Grant{Item: ItemCPU, Asked: strconv.Itoa(cpu)}
	want := groupAffinity{mask: 1 << (cpu % bits.UintSize), group: uint16(cpu / bits.UintSize)}
	if _, err := call(procSetAffinity, uintptr(thisThread), uintptr(unsafe.Pointer(&want)), 0); err != nil {
		g.Why, g.Hint = err.Error(), "name a processor that this process may use"
	}
	var got groupAffinity
	if _, err := call(procGetAffinity, uintptr(thisThread), uintptr(unsafe.Pointer(&got))); err != nil {
		g.Got = "unknown"
		return g
	}
	g.Got = processorList(got)
	if g.Why == "" && (got.mask != want.mask || got.group != want.group) {
		g.Why = "the system gave others"
	}
	if g.Hint != "" {
		g.Hint += ": " + g.Got
	}
	return g
}

// processorList writes a mask as 0-3,6.
func processorList(a groupAffinity) string {
	list := ""
	for cpu := 0; cpu < bits.UintSize; cpu++ {
		if a.mask>>cpu&1 == 0 {
			continue
		}
		first := cpu
		for cpu+1 < bits.UintSize && a.mask>>(cpu+1)&1 == 1 {
			cpu++
		}
		if list != "" {
			list += ","
		}
		offset := int(a.group) * bits.UintSize
		list += strconv.Itoa(offset + first)
		if cpu > first {
			list += "-" + strconv.Itoa(offset+cpu)
		}
	}
	return list
}

// stayAwake keeps the machine from going to sleep while this thread lives: the
// request is the thread's and ends with it.
func stayAwake() Grant {
	const continuous, system = 0x80000000, 0x1 // ES_CONTINUOUS, ES_SYSTEM_REQUIRED
	g := Grant{Item: ItemAwake, Asked: "prevented", Got: "as the system chooses"}
	if _, err := call(procExecution, continuous|system); err != nil {
		g.Why = err.Error()
		return g
	}
	// Each call gives the state before it: the second one reads the first back.
	state, err := call(procExecution, continuous|system)
	if err != nil || state&system == 0 {
		g.Why = "it reads back as not prevented"
		return g
	}
	g.Got = "prevented"
	return g
}
