package realtime

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Observed is a hot thread as another thread sees it.
type Observed struct{ observed }

// Observe begins to observe the calling thread, to which its goroutine is
// locked. The result may be used from anywhere until Close.
func Observe() *Observed {
	o := &Observed{}
	o.open()
	return o
}

// RunDelay gives how long the thread has waited for a processor since it
// began, although it was ready to run; ok is false where the system does not
// count that (Linux: /proc/PID/task/TID/schedstat).
func (o *Observed) RunDelay() (d time.Duration, ok bool) { return o.runDelay() }

// Usage gives the thread's own counters (GC: of the process); ok is false
// where the system does not count them for another thread.
func (o *Observed) Usage() (c Counters, ok bool) {
	c, ok = o.usage()
	c.GC = collections()
	return c, ok
}

// Close ends the observation.
func (o *Observed) Close() { o.close() }

var errShape = errors.New("not in the expected form")

// parseRunDelay reads a schedstat: time on the processor, time waiting for
// one (both ns), slices.
func parseRunDelay(text string) (time.Duration, error) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return 0, errShape
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	return time.Duration(n), err
}

// parseThreadUsage reads the page faults out of a thread's stat (fields 10 and
// 12, proc(5)) and the involuntary switches out of its status.
func parseThreadUsage(stat, status string) (c Counters, err error) {
	// The command in parentheses may hold anything; the last one ends it.
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return c, errShape
	}
	f := strings.Fields(stat[i+1:])
	if len(f) < 10 {
		return c, errShape
	}
	minor, err1 := strconv.ParseInt(f[7], 10, 64)
	major, err2 := strconv.ParseInt(f[9], 10, 64)
	_, rest, found := strings.Cut(status, "nonvoluntary_ctxt_switches:")
	line, _, _ := strings.Cut(rest, "\n")
	switches, err3 := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if !found {
		err3 = errShape
	}
	c.PageFaults, c.MajorFaults, c.InvoluntarySwitches = minor+major, major, switches
	return c, errors.Join(err1, err2, err3)
}
