package realtime

import (
	"runtime/metrics"
	"time"
)

// Counters are what may have disturbed a run, counted since the process (or
// thread) began. A run's own are a difference: after.Sub(before).
type Counters struct {
	GC                  int64         // garbage collections, of the process
	PageFaults          int64         // minor and major ones
	MajorFaults         int64         // those that waited for a disk
	InvoluntarySwitches int64         // the processor was taken away
	CPU                 time.Duration // processor time used
}

// Sub gives what happened since an earlier reading.
func (c Counters) Sub(before Counters) Counters {
	return Counters{
		GC:                  c.GC - before.GC,
		PageFaults:          c.PageFaults - before.PageFaults,
		MajorFaults:         c.MajorFaults - before.MajorFaults,
		InvoluntarySwitches: c.InvoluntarySwitches - before.InvoluntarySwitches,
		CPU:                 c.CPU - before.CPU,
	}
}

// Usage reads the counters of the process. It does not stop the world. ok is
// false where the system does not count faults and switches; GC always
// counts.
func Usage() (c Counters, ok bool) {
	c, ok = usage(false)
	c.GC = collections()
	return c, ok
}

// ThreadUsage reads the counters of the calling thread (GC: of the process).
// The goroutine must be locked to it. ok is false where the system does not
// count by thread.
func ThreadUsage() (c Counters, ok bool) {
	c, ok = usage(true)
	c.GC = collections()
	return c, ok
}

// collections counts without stopping the world, as runtime.ReadMemStats
// would.
func collections() int64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
