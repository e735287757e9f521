package results

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// long makes the calibration larger: SERIALTIMING_LONG=1.
func long() bool { return os.Getenv("SERIALTIMING_LONG") != "" }

// TestCleanRunsHaveNoFindings: at most 1 % of simulated clean runs get any
// one code.
func TestCleanRunsHaveNoFindings(t *testing.T) {
	runs := 1000
	if long() {
		runs = 20_000
	}
	count := map[string]int{}
	for i := range runs {
		r := rand.New(rand.NewPCG(uint64(i), 77))
		w := clean(r, []int{300, 2500, 2500, 2500, 6000}[i%5])
		for _, f := range w.findings() {
			count[f.Code]++
			if count[f.Code] <= 3 {
				t.Logf("run %d, %v: %s: %s", i, w, f.Code, f.Text)
			}
		}
	}
	for code, n := range count {
		t.Logf("%-22s %d of %d clean runs (%.2f %%)", code, n, runs, 100*float64(n)/float64(runs))
		if n*100 > runs {
			t.Errorf("%s in %d of %d clean runs", code, n, runs)
		}
	}
}

// TestCulpritsAreFound: at least 95 % of the runs with a culprit get its code
// from 2500 intervals on.
func TestCulpritsAreFound(t *testing.T) {
	runs, sizes := 50, []int{1000, 2500}
	if long() {
		runs, sizes = 1000, []int{500, 1000, 2500, 10_000}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-38s %-22s", "culprit", "code")
	for _, n := range sizes {
		fmt.Fprintf(&table, " %6d", n)
	}
	for k, c := range culprits {
		fmt.Fprintf(&table, "\n%-38s %-22s", c.name, c.code)
		for _, n := range sizes {
			found, missed := 0, ""
			for i := range runs {
				r := rand.New(rand.NewPCG(uint64(i), uint64(k*7+n)))
				w := clean(r, n+1)
				c.set(w)
				all := w.findings()
				if has(all, c.code) {
					found++
				} else {
					missed = fmt.Sprintf("%v: %v", w, all)
				}
			}
			share := 100 * float64(found) / float64(runs)
			fmt.Fprintf(&table, " %5.0f%%", share)
			if n >= 2500 && share < 95 {
				t.Errorf("%s: found in %.0f %% of runs of %d; e.g. %s", c.name, share, n, missed)
			}
		}
	}
	t.Log(table.String())
}

func has(all []Finding, code string) bool {
	for _, f := range all {
		if f.Code == code {
			return true
		}
	}
	return false
}

func BenchmarkEvidence(b *testing.B) {
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, CharNS: 86_800})
	i := int64(0)
	for b.Loop() {
		e.Event(i*5_000_000+i*7919%50_000, 1, 0)
		i++
	}
}

func BenchmarkFindings(b *testing.B) {
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, CharNS: 86_800})
	for i := range int64(1_000_000) {
		e.Event(i*5_000_000+i*7919%50_000, 1, 0)
	}
	for b.Loop() {
		Findings(&Run{}, e)
	}
}
