package probe

import (
	"bytes"
	"strings"
	"testing"

	"serialtiming/sender/probe/system"
)

// walk makes the table of a Windows whose interrupt follows the other process
// and whose Sleep(1) takes what sleep says.
func walk(current, sleep func(ms int64) float64) (rows []ResolutionRow) {
	for ms := int64(0); ms <= lastResolution; ms++ {
		c, s := int64(current(ms)*1e6), sleep(ms)*1e6
		rows = append(rows, ResolutionRow{AskedMS: ms, CurrentNS: &c, SleepNS: &s, Sleeps: 100})
	}
	return rows
}

func TestVerdict2004(t *testing.T) {
	follows := func(ms int64) float64 {
		if ms == 0 {
			return 15.625
		}
		return float64(ms)
	}
	constant := func(v float64) func(int64) float64 { return func(int64) float64 { return v } }
	for _, c := range []struct {
		name        string
		rows        []ResolutionRow
		runtimeAsks bool
		want        string
	}{
		// The two columns of the seed: before, Sleep(1) took the interval of the
		// interrupt (2.0 at 1 ms in some versions), since then about 15 ms.
		{"version 1909", walk(follows, func(ms int64) float64 { return max(2, follows(ms)) }), false, no},
		{"version 2004", walk(follows, constant(15.6)), false, yes},
		{"two interrupts a sleep", walk(follows, func(ms int64) float64 { return 16 }), false, yes},
		{"the interrupt stands still", walk(constant(15.625), constant(15.6)), false, undecidable},
		{"somebody else asks for less", walk(constant(0.5), constant(1)), false, undecidable},
		{"the interrupt is always 1 ms", walk(constant(1), constant(1.1)), false, undecidable},
		{"the runtime asks", walk(follows, constant(1)), true, undecidable},
		{"no table", nil, false, undecidable},
		{"half and half", walk(follows, func(ms int64) float64 {
			if ms < 3 {
				return 2
			}
			return 15
		}), false, undecidable},
	} {
		got, why := verdict2004(c.rows, c.runtimeAsks)
		if got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, why, c.want)
		}
	}
}

// The process that asks answers every line, and ends with its pipe.
func TestAskForResolutions(t *testing.T) {
	var out bytes.Buffer
	if status := askForResolutions(strings.NewReader("0\n5\nx\n300\n0\n"), &out); status != 0 {
		t.Errorf("status %d", status)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || lines[0] != "ok" || lines[2] == "ok" || lines[3] == "ok" || lines[4] != "ok" {
		t.Fatalf("%q", lines)
	}
	if (lines[1] == "ok") != system.HasTimerResolution {
		t.Errorf("it says %q", lines[1])
	}
	for _, args := range [][]string{nil, {"probe"}, {"load-child"}} {
		if handled, _ := Child(args); handled {
			t.Errorf("%q is not for it", args)
		}
	}
}
