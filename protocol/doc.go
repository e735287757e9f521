// Package protocol is what crosses the wire: the cycle of characters, the line
// settings, the announcements before and after a run with the scanner that
// finds them between the characters, and the sequence check.
//
// It is pure: standard library only, no clock, no port, no goroutine. Instants
// are int64 nanoseconds on whatever monotonic clock the caller has, and are
// only ever subtracted from each other.
//
// What it promises: whatever bytes and instants it is fed, it neither panics
// nor grows, and what it counts balances:
//
//	sent + duplicated + extra = received + lost + before start
package protocol
