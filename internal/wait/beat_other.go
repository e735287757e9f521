//go:build !linux

package wait

import "time"

// beatLoop gives a loop for a goroutine of its own, which calls beat at that
// interval until it says false.
func beatLoop(every time.Duration) func(beat func() bool) {
	return func(beat func() bool) {
		for beat() {
			time.Sleep(every)
		}
	}
}
