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
// included. Then the ordinary goroutine that beats stands still too. The loop
// sees it and gives way once, which costs one late character instead of the
// program.
type Beat struct {
	count   atomic.Uint32
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

// Start starts the goroutine that beats, and gives the function that ends it.
func (b *Beat) Start() (stop func()) {
	end := make(chan struct{})
	go func() {
		t := time.NewTicker(beatEvery)
		defer t.Stop()
		for {
			select {
			case <-end:
				return
			case <-t.C:
				b.count.Add(1)
			}
		}
	}()
	return func() { close(end) }
}

// Watch takes the last reading of the clock, and gives way when the rest of
// the program has stood still for half a second: first to the program's other
// goroutines, then, when that was in vain, to the whole machine, for 50 ms of
// each half second. So a loop that spins on the only processor never hangs the
// machine for good, whatever the kernel's own limits are set to.
//
//go:nosplit
func (b *Beat) Watch(now clock.Instant) {
	if n := b.count.Load(); n != b.seen {
		b.seen, b.movedAt, b.inVain = n, now, false
		return
	}
	if now-b.movedAt <= clock.Instant(beatLost) {
		return
	}
	if b.inVain {
		Pause(beatSleep)
	}
	b.movedAt, b.inVain = now, true
	b.gaveWay++
	giveWay()
}

// giveWay is the one place of a hot loop with a stack check.
//
//go:noinline
func giveWay() { runtime.Gosched() }

// GaveWay is how often the loop gave way.
func (b *Beat) GaveWay() int64 { return b.gaveWay }
