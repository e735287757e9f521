package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The JSON reports of cyclictest (--json) and jitterdebugger are small and of
// one shape: a histogram for each thread or CPU.

// jsonReport is what both write.
type jsonReport struct {
	Resolution int64 `json:"resolution_in_ns"` // cyclictest: 0 means µs
	Sysinfo    struct {
		Resolution int64 `json:"resolution_in_ns"` // jitterdebugger
	} `json:"sysinfo"`
	Thread map[string]jsonThread `json:"thread"`
	CPU    map[string]jsonThread `json:"cpu"`
}

type jsonThread struct {
	Histogram map[string]int64 `json:"histogram"`
	Cycles    int64            `json:"cycles"` // cyclictest: all values
	Count     int64            `json:"count"`  // jitterdebugger
	Min       *float64         `json:"min"`
	Max       *float64         `json:"max"`
	Avg       *float64         `json:"avg"`
}

func detectCyclictestJSON(h head) string {
	return detectJSON(h, `"rt_test_version`, `"thread"`)
}

func detectJitterdebugger(h head) string {
	return detectJSON(h, `"resolution_in_ns"`, `"cpu"`)
}

func detectJSON(h head, keys ...string) string {
	if !strings.HasPrefix(strings.TrimSpace(h.first()), "{") {
		return "it does not begin with {"
	}
	for _, k := range keys {
		if !strings.Contains(string(h.raw), k) {
			return "it has no key " + strings.Trim(k, `"`)
		}
	}
	return ""
}

// maxJSON is the largest report that is read: a number of its text takes
// about ten times as much memory.
const maxJSON = 16 << 20

func readJSONHistogram(in *input) ([]Histogram, error) {
	var r jsonReport
	if err := json.NewDecoder(io.LimitReader(in.br, maxJSON)).Decode(&r); err != nil {
		return nil, &Refusal{Why: "its JSON cannot be read: " + err.Error()}
	}
	unit := max(r.Resolution, r.Sysinfo.Resolution)
	if unit <= 0 {
		unit = 1000
	}
	var list []Histogram
	for _, of := range []struct {
		label   string
		threads map[string]jsonThread
	}{{"thread", r.Thread}, {"CPU", r.CPU}} {
		for name, t := range of.threads {
			h, err := t.histogram(unit)
			if err != nil {
				return nil, err
			}
			h.Label = of.label + " " + name
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Histogram) int { return compareNumbered(a.Label, b.Label) })
	return list, nil
}

// compareNumbered puts "CPU 2" before "CPU 10".
func compareNumbered(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func (t jsonThread) histogram(unit int64) (Histogram, error) {
	h := Histogram{Width: unit, Min: scaled(t.Min, unit), Max: scaled(t.Max, unit), Mean: -1}
	if t.Avg != nil {
		h.Mean = *t.Avg * float64(unit)
	}
	in := int64(0)
	for key, count := range t.Histogram {
		v, err := strconv.ParseInt(key, 10, 64)
		if err != nil || v < 0 || v > math.MaxInt64/unit || count < 0 {
			return h, &Refusal{Why: fmt.Sprintf("%.20q is no value of a histogram", key)}
		}
		h.Rows = append(h.Rows, Bucket{v * unit, count})
		in += count
	}
	// What cyclictest counted beyond its histogram is in its cycles only.
	if all := max(t.Cycles, t.Count); all > in && t.Cycles > 0 {
		h.Over = all - in
	}
	return h, nil
}

func scaled(v *float64, unit int64) int64 {
	if v == nil || *v < 0 || *v > math.MaxInt64/2/float64(unit) {
		return -1
	}
	return int64(*v) * unit
}
