package realtime

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The collector's own collections come when so much lies on the heap: the
// program's garbage of hours. It looks once a second.
const (
	collectAbove = 256 << 20
	collectLook  = time.Second
)

// collector collects once, then turns the garbage collector off and watches
// the heap in its place: a collection takes processors, also those that the
// kernel's workers need to hand the characters on. One that is made here is
// counted like any other.
func (s *Session) collector() {
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	end := make(chan struct{})
	go collectWhen(heapBytes, collectAbove, collectLook, end)
	s.onRestore(func() {
		close(end)
		debug.SetGCPercent(percent)
	})
	off := fmt.Sprintf("off below %d MiB", collectAbove>>20)
	s.add(Grant{Item: ItemCollector, Asked: "off", Got: off})
}

// collectWhen collects whenever heap gives more than above, until end.
func collectWhen(heap func() uint64, above uint64, every time.Duration, end <-chan struct{}) {
	look := time.NewTicker(every)
	defer look.Stop()
	for {
		select {
		case <-end:
			return
		case <-look.C:
			if heap() > above {
				runtime.GC()
			}
		}
	}
}

// heapBytes is what lies on the heap, garbage included. It does not stop the
// world.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
