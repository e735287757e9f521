package report

import (
	"fmt"

	"serialtiming/results"
)

// Limit writes a limit in the units of the command line: "max-interval 20 ms:
// 19.531 ms, pass".
func Limit(l results.Limit) string {
	measured := "unknown"
	if l.Measured != nil {
		measured = limitValue(l.Limit, *l.Measured)
	}
	return fmt.Sprintf("%s %s: %s, %s", l.Limit, limitValue(l.Limit, l.Set), measured, l.Verdict)
}

func limitValue(limit string, v float64) string {
	switch limit {
	case results.MaxInterval, results.MaxLateness:
		return Span(v)
	case results.MaxLateShare:
		return fmt.Sprintf("%.4g %%", v*100)
	}
	return fmt.Sprintf("%.0f", v)
}
