package realtime

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Grant is one request and what became of it, ready to be printed and stored
// with the run.
type Grant struct {
	Item  string // "priority", "memory", …; see the constants
	Asked string
	Got   string // what was read back, never empty
	Why   string // why it was not granted; empty when it was
	Hint  string // what the user can do about it; an action, or empty
}

// Granted tells whether the system gave what was asked.
func (g Grant) Granted() bool { return g.Why == "" }

// The items.
const (
	ItemPriority   = "priority"
	ItemCPU        = "cpu"
	ItemMemory     = "memory"
	ItemIdle       = "idle states"
	ItemSlack      = "timer slack"
	ItemSignals    = "signals"
	ItemCollector  = "garbage collection"
	ItemProcessors = "Go processors"
	ItemResolution = "timer resolution"
	ItemThrottling = "power throttling"
	ItemAwake      = "sleep of the machine"
)

// Request is what to ask for.
type Request struct {
	// Priority: realtime (80), realtime:N (1 to 99), high, normal or low;
	// "" is normal. On Linux they are SCHED_FIFO N and nice -10, 0 and 10; on
	// Windows REALTIME_PRIORITY_CLASS (80 and more: TIME_CRITICAL, base
	// priority 31, as in 1998; less: in proportion, down to 16), HIGH, NORMAL
	// and BELOW_NORMAL.
	Priority string
	// CPU to bind hot threads to; -1 for none.
	CPU int
	// LockMemory keeps all of the process in memory.
	LockMemory bool
	// TimerResolution of Windows: see CheckTimerResolution. Only Windows has
	// one to set: elsewhere anything but "" and "default" is refused.
	TimerResolution string
	// Threads is how many threads will be locked: the scheduler gets two
	// processors more than that.
	Threads int
}

// Level is the class of a priority.
type Level int

// The levels, highest first.
const (
	Realtime Level = iota
	High
	Normal
	Low
)

// Priority is a parsed priority.
type Priority struct {
	Level Level
	N     int // of realtime, 1 to 99; 0 for the other levels
}

// DefaultRealtime is the priority that plain "realtime" asks for on Linux:
// above the threaded interrupts (50), below the watchdogs (99).
const DefaultRealtime = 80

// ParsePriority reads realtime[:N], high, normal or low.
func ParsePriority(s string) (Priority, error) {
	switch s {
	case "realtime":
		return Priority{Realtime, DefaultRealtime}, nil
	case "high":
		return Priority{Level: High}, nil
	case "normal", "":
		return Priority{Level: Normal}, nil
	case "low":
		return Priority{Level: Low}, nil
	}
	if digits, ok := strings.CutPrefix(s, "realtime:"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 99 {
			return Priority{}, fmt.Errorf("priority %q: realtime takes a number from 1 to 99", s)
		}
		return Priority{Realtime, n}, nil
	}
	return Priority{}, fmt.Errorf("unknown priority %q: there are realtime, realtime:N, high, normal, low", s)
}

// String gives the priority as ParsePriority reads it.
func (p Priority) String() string {
	switch p.Level {
	case Realtime:
		return "realtime:" + strconv.Itoa(p.N)
	case High:
		return "high"
	case Low:
		return "low"
	}
	return "normal"
}

// Session is a prepared process.
type Session struct {
	request  Request
	priority Priority
	grants   []Grant
	undo     []func()
	makeRoom sync.Once
	changed  []func() (Grant, bool) // see Changed
}

// Prepare asks for everything that concerns the process. The error is for a
// request that makes no sense; a refusal of the system is a grant.
//
// Call it before the hot threads start and after the big allocations: memory
// that exists then is brought in and locked at once.
func Prepare(r Request) (*Session, error) {
	p, err := ParsePriority(r.Priority)
	if err != nil {
		return nil, err
	}
	if r.CPU < -1 || r.Threads < 0 {
		return nil, fmt.Errorf("cpu %d, %d threads: below what can be asked for", r.CPU, r.Threads)
	}
	if err := CheckTimerResolution(r.TimerResolution); err != nil {
		return nil, err
	}
	s := &Session{request: r, priority: p}
	s.processors()
	s.collector()
	if r.LockMemory {
		s.add(s.lockMemory())
	}
	s.add(s.prepareSystem()...)
	s.add(s.timerResolution()...)
	return s, nil
}

func (s *Session) add(g ...Grant) { s.grants = append(s.grants, g...) }

// onRestore remembers how to take something back.
func (s *Session) onRestore(f func()) { s.undo = append(s.undo, f) }

// processors makes room for the rest of the program beside threads that never
// come back to the scheduler. Setting the number, even to what it was, also
// keeps the runtime from changing it during the run (Go 1.25 follows the
// container's limit), which would stop the world.
func (s *Session) processors() {
	before := runtime.GOMAXPROCS(0)
	want := max(before, s.request.Threads+2)
	runtime.GOMAXPROCS(want)
	s.onRestore(func() { runtime.GOMAXPROCS(before) })
	s.add(Grant{Item: ItemProcessors, Asked: strconv.Itoa(want), Got: strconv.Itoa(runtime.GOMAXPROCS(0))})
}

// Grants are the answers that concern the process, in the order of the
// requests. [Session.LockThread] gives those of each hot thread.
func (s *Session) Grants() []Grant { return append([]Grant(nil), s.grants...) }

// LockThread locks the calling goroutine to its thread and prepares that
// thread: scheduler, processor, timer slack, signals. It gives what was
// granted.
//
// The goroutine should be made for the hot loop and end with it: the runtime
// then ends the thread, and nothing of its state is left. (runtime.Unlock-
// OSThread would put a real-time thread back into the ordinary pool.)
func (s *Session) LockThread() []Grant {
	runtime.LockOSThread()
	grants := s.prepareThread()
	s.makeRoom.Do(func() { s.stepBack(grants) })
	return grants
}

// stepBack makes the program's ordinary threads nicer once real time was
// granted. The kernel hands characters on in a worker of ordinary priority, and
// on one processor our own log and runtime threads would keep it waiting:
// measured in virtual time on one processor, a 5 ms stream had p1 and p99 at
// 4.73 and 5.27 ms without, 4.95 and 5.04 ms with it.
func (s *Session) stepBack(grants []Grant) {
	if s.priority.Level != Realtime {
		return
	}
	for _, g := range grants {
		if g.Item == ItemPriority && !g.Granted() {
			return
		}
	}
	s.ordinaryNice(niceBehind)
}

// niceBehind is what ordinary threads get beside real-time ones.
const niceBehind = 10

// Restore takes back what Prepare changed, in reverse order. It is harmless
// to call it twice.
func (s *Session) Restore() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.undo[i]()
	}
	s.undo = nil
}
