package wait

import (
	"sync/atomic"
	"time"

	"serialtiming/internal/clock"
)

// Beat is the watchdog of a hot loop that may never sleep: one that spins, or
// sends what it missed at once, takes a whole processor at a priority above
// everything else. Where there is no other one, nobody else runs then, Ctrl-C
// included, and whatever the kernel's own limits are set to. What beats stands
// still too; the loop sees that and sleeps once, which costs one late
// character instead of the machine.
type Beat struct {
	count   atomic.Uint32
	started bool
	seen    uint32
	movedAt clock.Instant
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
// Load alone must not silence the beat, or a busy machine would look like a
// hung one. So on Linux it has a thread of its own, one priority below the hot
// one's.
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

// Watch takes the last reading of the clock, and sleeps for 50 ms when nothing
// has beaten for half a second.
//
//go:nosplit
func (b *Beat) Watch(now clock.Instant) {
	if n := b.count.Load(); n != b.seen {
		b.seen, b.movedAt = n, now
		return
	}
	if !b.started || now-b.movedAt <= clock.Instant(beatLost) {
		return
	}
	Pause(beatSleep)
	b.movedAt = clock.Now()
	b.gaveWay++
}

// Rested tells that the loop has slept in the kernel until now: a processor
// was free meanwhile. When nothing beats all the same, something else takes it,
// and the loop's sleep would not help.
//
//go:nosplit
func (b *Beat) Rested(now clock.Instant) { b.movedAt = now }

// GaveWay is how often the loop gave way.
func (b *Beat) GaveWay() int64 { return b.gaveWay }
