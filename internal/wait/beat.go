package wait

import (
	"runtime"
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
)

// Beat is the watchdog of a hot loop. The rest of the program may need the
// loop's processor: a garbage collection, or anything else that stops the
// world, waits for every goroutine, and one in raw calls is never
// interrupted; on one processor a spinning loop starves everyone, Ctrl-C
// included. Then the goroutine that beats stands still too. The loop sees it
// and gives way once, which costs one late character instead of the program.
type Beat struct {
	count   atomic.Uint32
	started bool
	seen    uint32
	movedAt clock.Instant
	inVain  bool // gave way, and it did not move since
	gaveWay int64
}

const (
	beatEvery = 100 * time.Millisecond
	beatLost  = 500 * time.Millisecond
	beatSleep = 50 * time.Millisecond
)

// Begin sets the watch to now; the loop's thread calls it before the loop.
func (b *Beat) Begin(now clock.Instant) { b.movedAt = now }

// Start starts what beats, and gives the function that ends it. The hot loop's
// own thread calls it. A beat that was never started watches nothing.
//
// Load alone must not silence the beat: giving way on a machine where ordinary
// threads wait for their turn costs hundreds of milliseconds (measured: 300 to
// 370 ms at a load of 30). So on Linux it has a thread of its own, one priority
// below the hot one's; only a stopped world, or the lack of any free processor
// of the Go scheduler, keeps that one from beating.
func (b *Beat) Start() (stop func()) {
	b.started = true
	var end atomic.Bool
	run := beatLoop(beatEvery)
	go run(func() bool {
		b.count.Add(1)
		return !end.Load()
	})
	return func() { end.Store(true) }
}

// Watch takes the last reading of the clock, and gives way when the rest of
// the program has stood still for half a second: first to the program's other
// goroutines, then, when that was in vain, to the whole machine, for 50 ms of
// each half second. So a loop that spins on the only processor never hangs the
// machine for good, whatever the kernel's own limits are set to. During
// [GiveWayWhile] it gives way each time.
//
//go:nosplit
func (b *Beat) Watch(now clock.Instant) {
	if b.started && needed.Load() != 0 {
		b.gaveWay++
		giveWay()
		return
	}
	if n := b.count.Load(); n != b.seen {
		b.seen, b.movedAt, b.inVain = n, now, false
		return
	}
	if !b.started || now-b.movedAt <= clock.Instant(beatLost) {
		return
	}
	if b.inVain {
		Pause(beatSleep)
	}
	b.movedAt, b.inVain = now, true
	b.gaveWay++
	giveWay()
}

// needed is how many want every hot loop of the process to give way now.
var needed atomic.Int32

// GiveWayWhile calls f, and meanwhile every hot loop of this process gives way
// at each character, or ten times a second: a garbage collection has to find
// each goroutine at a point where it can look at its stack, and only stops the
// world before and after that. Without this, a collection waits for the end of
// the run, and whoever allocates waits with it.
func GiveWayWhile(f func()) {
	needed.Add(1)
	defer needed.Add(-1)
	f()
}

// giveWay is the one place of a hot loop with a stack check.
//
//go:noinline
func giveWay() { runtime.Gosched() }

// GaveWay is how often the loop gave way.
func (b *Beat) GaveWay() int64 { return b.gaveWay }
