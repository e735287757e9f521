package clock

import "math/bits"

// countsToNs converts a counter of hz steps a second to nanoseconds, rounded
// down and exact over the whole range: the product has 128 bits. (The rounded
// length of one step would be 0.13 % wrong at 3 579 545 Hz.) A count or rate
// that is not positive gives 0.
func countsToNs(count, hz int64) int64 {
	if count <= 0 || hz <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(count), 1e9)
	if hi >= uint64(hz) {
		return 0 // more than 584 years
	}
	ns, _ := bits.Div64(hi, lo, uint64(hz))
	return int64(ns)
}
