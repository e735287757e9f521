package main

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	tests := []struct {
		args string
		want int
		says string
	}{
		{"-h", 0, "rounds"},
		{"-rounds 1", 2, "at least 2"},
		{"-period 1500ns", 2, "whole microseconds"},
		{"-time 1ms", 2, "fewer than 100"},
		{"-priority 100", 2, "1 to 99"},
		{"-timers absolute,sundial", 2, "sundial"},
		{"-parts all", 2, "all"},
		{"extra", 2, "flags only"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		got := run(strings.Fields(tt.args), &stdout, &stderr)
		if got != tt.want || !strings.Contains(stderr.String(), tt.says) || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tt.args, got, stdout.String(), stderr.String())
		}
	}
}

func TestParseCyclictest(t *testing.T) {
	const out = `# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000
000012 000002
000013 000001
# Total: 000000003
# Min Latencies: 00012
# Histogram Overflows: 00001
# Histogram Overflow at cycle number:
# Thread 0: 00805
`
	us, err := parseCyclictest([]byte(out))
	if want := []int64{12, 12, 13, overflow}; err != nil || !slices.Equal(us, want) {
		t.Errorf("%v, %v; want %v", us, err, want)
	}
	for _, bad := range []string{"12 x", "x 12", "-1 3", "# Histogram Overflows: many"} {
		if us, err := parseCyclictest([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, us)
		}
	}
}

func FuzzParseCyclictest(f *testing.F) {
	f.Add([]byte("000012 000002\n# Histogram Overflows: 00001\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		if len(out) > 64 {
			return // a count of nine digits is a slice of as many
		}
		us, err := parseCyclictest(out)
		if err != nil && us != nil {
			t.Errorf("%d samples and an error", len(us))
		}
	})
}

func TestQuantile(t *testing.T) {
	tests := []struct {
		us   []int64
		q    float64
		want float64
	}{
		{[]int64{7}, 0.5, 7.5},
		{[]int64{7}, 0.999, 7.5},
		{[]int64{10, 10, 10, 10}, 0.5, 10.625}, // the third of four in [10, 11)
		{[]int64{1, 2, 3, 4}, 0.99, 4.5},
		{[]int64{1, 5, 5, 9}, 0.5, 5.75},
	}
	for _, tt := range tests {
		if got := quantile(tt.us, tt.q); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v at %v: %v, want %v", tt.us, tt.q, got, tt.want)
		}
	}
}

// The contestants take turns, and the best rounds are compared.
func TestCompete(t *testing.T) {
	var order []string
	fake := func(name string, rounds ...int64) contestant {
		n := 0
		return contestant{name, func() (round, error) {
			order = append(order, name)
			n++
			return round{us: []int64{rounds[n-1]}, cpu: -1}, nil
		}}
	}
	var out bytes.Buffer
	err := compete(&out, "title", 2, []contestant{fake("c", 200, 99), fake("go", 49, 150)})
	if err != nil || !slices.Equal(order, []string{"c", "go", "c", "go"}) {
		t.Errorf("%v, %v", order, err)
	}
	for _, want := range []string{"title", "99.5 [200.5]", "49.5 [150.5]", "go / c: p50 0.50, p99 0.50"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	broken := contestant{"broken", func() (round, error) { return round{}, errors.New("snapped") }}
	if err := compete(&out, "", 2, []contestant{broken}); err == nil || !strings.Contains(err.Error(), "broken: snapped") {
		t.Errorf("%v", err)
	}
	empty := contestant{"empty", func() (round, error) { return round{}, nil }}
	if err := compete(&out, "", 2, []contestant{empty}); err == nil {
		t.Error("a turn without samples was taken")
	}
}
