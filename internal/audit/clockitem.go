package audit

import (
	"fmt"
	"math"
)

// SlewPPM is by how much the clock of this machine is being slewed, for the
// error budget; ok is false where the system does not tell.
func SlewPPM() (ppm float64, ok bool) { return slewPPM() }

// slewItem judges by how much a time service bends the monotonic clock.
func slewItem(ppm float64, synchronised bool) Item {
	i := Item{Area: AreaClock, Name: "slew", Value: fmt.Sprintf("%+.1f ppm", ppm)}
	i.Effect = fmt.Sprintf("corrects the crystal: %.3g µs in each second, the same in all intervals", math.Abs(ppm))
	if !synchronised {
		i.Value += ", no time service"
		i.Effect = "the clock runs as its crystal does"
	}
	if math.Abs(ppm) > 100 {
		i.Level = Yellow
		i.Effect = fmt.Sprintf("a time service pulls the clock by %.3g µs in each second, and may change that during a run", math.Abs(ppm))
		i.Remedy = "wait until it has settled, or stop it for the time of the run"
	}
	return i
}
