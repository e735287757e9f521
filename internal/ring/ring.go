// Package ring carries records from a hot loop to an ordinary goroutine: one
// producer, one consumer, a fixed capacity, no lock and no allocation.
//
// It promises that the producer is never held up: when the ring is full the
// record is dropped and counted, and the count is part of the run's report.
// Nothing that was committed is lost, changed or seen twice. The consumer
// polls; there is no wake-up, since waking another thread would cost the hot
// loop a system call.
package ring

import "sync/atomic"

// line is the distance at which two words do not share a cache line, also
// where the processor fetches lines in pairs.
const line = 128

// Ring is a queue of T for one producer and one consumer. T should hold no
// pointers: the producer's store would need a write barrier and the collector
// would have to scan the ring.
//
// The zero value is not usable; see [New].
type Ring[T any] struct {
	slots []T
	mask  uint64
	_     [line]byte

	// The producer's line.
	head    atomic.Uint64 // records committed since the start
	seen    uint64        // the tail as the producer last saw it
	dropped atomic.Uint64
	_       [line]byte

	// The consumer's line.
	tail atomic.Uint64 // records taken since the start
	_    [line]byte
}

// New makes a ring for at least capacity records (rounded up to a power of
// two, at least 2) and touches all of its memory, so that the hot loop meets
// no page fault in it.
func New[T any](capacity int) *Ring[T] {
	size := 2
	for size < capacity {
		size *= 2
	}
	r := &Ring[T]{slots: make([]T, size), mask: uint64(size - 1)}
	var zero T
	for i := range r.slots {
		r.slots[i] = zero
	}
	return r
}

// Slot gives the producer the next free record to fill, or nil when the ring
// is full; it then belongs to the producer until [Ring.Commit]. It holds what
// an earlier record left there.
//
//go:nosplit
func (r *Ring[T]) Slot() *T {
	head := r.head.Load()
	if head-r.seen > r.mask {
		r.seen = r.tail.Load()
		if head-r.seen > r.mask {
			return nil
		}
	}
	return &r.slots[head&r.mask]
}

// Commit hands the record of the last [Ring.Slot] to the consumer.
//
//go:nosplit
func (r *Ring[T]) Commit() {
	r.head.Store(r.head.Load() + 1)
}

// Drop counts n records (or whatever the producer counts by) that found no
// room.
//
//go:nosplit
func (r *Ring[T]) Drop(n int) {
	r.dropped.Store(r.dropped.Load() + uint64(n))
}

// Next copies committed records into dst, oldest first, frees their slots and
// gives how many there were: at most len(dst), 0 when the ring is empty.
// Only the consumer calls it.
func (r *Ring[T]) Next(dst []T) int {
	tail := r.tail.Load()
	n := min(int(r.head.Load()-tail), len(dst))
	for i := range n {
		dst[i] = r.slots[(tail+uint64(i))&r.mask]
	}
	r.tail.Store(tail + uint64(n))
	return n
}

// Peek gives the consumer the oldest record in place, nil when the ring is
// empty. It stays valid until [Ring.Advance].
func (r *Ring[T]) Peek() *T {
	tail := r.tail.Load()
	if r.head.Load() == tail {
		return nil
	}
	return &r.slots[tail&r.mask]
}

// Advance frees the record that [Ring.Peek] gave.
func (r *Ring[T]) Advance() {
	r.tail.Store(r.tail.Load() + 1)
}

// Len is how many records wait for the consumer.
func (r *Ring[T]) Len() int {
	tail := r.tail.Load()
	return int(r.head.Load() - tail)
}

// Cap is how many records the ring holds at most.
func (r *Ring[T]) Cap() int { return len(r.slots) }

// Dropped is the sum of what [Ring.Drop] counted.
func (r *Ring[T]) Dropped() int64 { return int64(r.dropped.Load()) }
