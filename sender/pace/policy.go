package pace

import (
	"fmt"
	"strings"

	"serialtiming/internal/wait"
)

// Policy says what happens to periods that were missed, as on the command
// line.
type Policy string

// The policies.
const (
	Skip  Policy = "skip"  // stay on the grid, leave the missed ones out and count them
	Burst Policy = "burst" // stay on the grid, send the missed ones at once
	Shift Policy = "shift" // send late and go on from there: the grid moves
)

// Policies are all policies, in the order of the manual.
func Policies() []Policy { return []Policy{Skip, Burst, Shift} }

// ParsePolicy reads a policy as the command line has it.
func ParsePolicy(s string) (Policy, error) {
	names := make([]string, 0, len(Policies()))
	for _, p := range Policies() {
		if s == string(p) {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("unknown catch-up policy %q: there are %s", s, strings.Join(names, ", "))
}

// DefaultPolicy is what a timer does without --catch-up (the table in
// section 4 of the design): shift for sleep, skip for the others.
func DefaultPolicy(k wait.Kind) Policy {
	if k == wait.Sleep {
		return Shift
	}
	return Skip
}

// Compatible refuses a timer and a policy that cannot go together, with one
// sentence that says why.
func Compatible(k wait.Kind, p Policy) error {
	switch {
	case k == wait.Sleep && p != Shift:
		return fmt.Errorf("timer sleep cannot %s missed periods: it counts from the last character and has no grid to stay on", p)
	case k == wait.Periodic && p == Shift:
		return fmt.Errorf("timer periodic cannot shift: the system's periodic timer keeps its own grid")
	}
	return nil
}
