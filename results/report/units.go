package report

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Span writes nanoseconds in the unit that shows them best: "65.3 µs", "5.000 ms".
func Span(ns float64) string {
	a := math.Abs(ns)
	switch {
	case a < 100 && a != math.Trunc(a):
		return strconv.FormatFloat(ns, 'f', 1, 64) + " ns"
	case a < 1e3:
		return strconv.FormatFloat(ns, 'f', 0, 64) + " ns"
	case a < 1e6:
		return strconv.FormatFloat(ns/1e3, 'f', 1, 64) + " µs"
	case a < 1e9:
		return strconv.FormatFloat(ns/1e6, 'f', 3, 64) + " ms"
	}
	return strconv.FormatFloat(ns/1e9, 'f', 3, 64) + " s"
}

// spanOr writes a figure that may be unknown.
func spanOr(ns *int64, unknown string) string {
	if ns == nil {
		return unknown
	}
	return Span(float64(*ns))
}

func countOr(n *int64, unknown string) string {
	if n == nil {
		return unknown
	}
	return strconv.FormatInt(*n, 10)
}

// Key writes a row's first column in milliseconds: whole for ticks and whole
// milliseconds, else with the decimals that the bin has.
func Key(key, binNS int64) string {
	if binNS%int64(time.Millisecond) == 0 {
		return strconv.FormatInt(key*(binNS/int64(time.Millisecond)), 10)
	}
	ns, digits := key*binNS, 6
	for step := int64(10); digits > 1 && binNS%step == 0; step *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f", digits, float64(ns)/1e6)
}
