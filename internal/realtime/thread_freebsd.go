package realtime

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	niceForRealtime = 0 // a real-time thread has no nice value
	elevate         = "sudo (or as root)"
)

// Of sys/rtprio.h.
const (
	rtpSet      = 1 // RTP_SET
	rtpLookup   = 0
	rtpFIFO     = 10 // RTP_PRIO_FIFO
	rtpRealtime = 2  // RTP_PRIO_REALTIME, round robin
	rtpNormal   = 3
	rtpIdle     = 4
	rtpMax      = 31 // the lowest; 0 is the highest
)

// rtprio is struct rtprio.
type rtprio struct{ kind, prio uint16 }

// prepareThread prepares the calling thread. There is no timer slack to take
// away.
func (s *Session) prepareThread() []Grant {
	grants := []Grant{}
	if s.request.CPU >= 0 {
		grants = append(grants, affinity(s.request.CPU))
	}
	if s.priority.Level == Realtime {
		return append(grants, s.schedule())
	}
	return append(grants, s.grantNice())
}

// rtprioOf puts Linux' 1 to 99 on FreeBSD's 31 to 0.
func rtprioOf(n int) uint16 { return uint16(rtpMax - (n-1)*rtpMax/98) }

// schedule sets this thread's scheduler (rtprio_thread(2), thread 0 is the
// calling one), and reads it back.
func (s *Session) schedule() Grant {
	g := Grant{Item: ItemPriority, Asked: s.priority.String()}
	want := rtprio{rtpFIFO, rtprioOf(s.priority.N)}
	err := rtprioThread(rtpSet, &want)
	var got rtprio
	if readErr := rtprioThread(rtpLookup, &got); readErr != nil {
		g.Got, g.Why = "unknown", "rtprio_thread: "+readErr.Error()
		return g
	}
	g.Got = got.String()
	if got == want {
		return g
	}
	g.Why = "the system gave another one"
	if err != nil {
		g.Why = "rtprio_thread: " + err.Error()
		g.Hint = "run it with " + elevate + "; or kldload mac_priority and join the group realtime"
	}
	return g
}

func rtprioThread(function uintptr, r *rtprio) error {
	_, _, errno := unix.Syscall(unix.SYS_RTPRIO_THREAD, function, 0, uintptr(unsafe.Pointer(r)))
	if errno != 0 {
		return errno
	}
	return nil
}

// String names a scheduler and its rtprio, 0 being the highest.
func (r rtprio) String() string {
	names := map[uint16]string{rtpFIFO: "RTP_PRIO_FIFO", rtpRealtime: "RTP_PRIO_REALTIME", rtpNormal: "RTP_PRIO_NORMAL", rtpIdle: "RTP_PRIO_IDLE"}
	name, ok := names[r.kind]
	if !ok {
		name = fmt.Sprintf("rtprio type %d", r.kind)
	}
	return name + " " + strconv.Itoa(int(r.prio))
}

// cpuset is a cpuset_t of 256 processors: the size that every release takes.
type cpuset [4]uint64

// Of sys/cpuset.h: this thread's own set.
const (
	cpuLevelWhich = 3 // CPU_LEVEL_WHICH
	cpuWhichTID   = 1 // CPU_WHICH_TID, -1 is the calling thread
)

// affinity binds this thread to one processor.
func affinity(cpu int) Grant {
	g := Grant{Item: ItemCPU, Asked: strconv.Itoa(cpu), Got: "any"}
	if bits.UintSize != 64 || cpu >= 256 {
		g.Why = "only processors 0 to 255 of a 64-bit system can be asked for"
		return g
	}
	var want, got cpuset
	want[cpu/64] = 1 << (cpu % 64)
	if err := cpusetCall(unix.SYS_CPUSET_SETAFFINITY, &want); err != nil {
		g.Why = "cpuset_setaffinity: " + err.Error()
		g.Hint = "name a processor that this process may use"
	}
	if err := cpusetCall(unix.SYS_CPUSET_GETAFFINITY, &got); err != nil {
		g.Got = "unknown"
		return g
	}
	g.Got = got.String()
	if g.Why == "" && got != want {
		g.Why = "the system gave others"
	}
	return g
}

func cpusetCall(number uintptr, set *cpuset) error {
	const thisThread = ^uintptr(0)
	_, _, errno := unix.Syscall6(number, cpuLevelWhich, cpuWhichTID, thisThread,
		unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// String lists the processors: 0,1,2.
func (c cpuset) String() string {
	var list []string
	for cpu := range 256 {
		if c[cpu/64]>>(cpu%64)&1 == 1 {
			list = append(list, strconv.Itoa(cpu))
		}
	}
	return strings.Join(list, ",")
}
