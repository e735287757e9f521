package audit

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the items for people: level, area, name and value in a line,
// effect and remedy below it. The caller has sorted them.
func Text(w io.Writer, items []Item) error {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%-7s %-8s %s: %s\n", i.Level, i.Area, i.Name, i.Value)
		if i.Effect != "" {
			fmt.Fprintf(&b, "%16s %s\n", "", i.Effect)
		}
		if i.Remedy != "" {
			fmt.Fprintf(&b, "%16s -> %s\n", "", i.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
