//go:build !windows && !darwin

package clock

// The Go runtime reads CLOCK_MONOTONIC on Linux and the BSDs. NTP may slew it
// by up to 500 ppm; it never steps.
func name() string { return "CLOCK_MONOTONIC" }
