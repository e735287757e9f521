package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// contestant is one program: turn measures one round of it.
type contestant struct {
	name string
	turn func() (round, error)
}

// round is what one turn gave: samples in µs, whole ones rounded down, because
// cyclictest gives no others without disturbing itself.
type round struct {
	us  []int64
	cpu float64 // share of one processor, 0 to 1; below 0: not known
}

// figures are those of a round, in µs; over is the share above 100 µs.
type figures struct {
	p50, p99, p999, max, over, cpu float64
}

func (r round) figures() figures {
	slices.Sort(r.us)
	over, _ := slices.BinarySearch(r.us, 100)
	return figures{
		p50: quantile(r.us, 0.5), p99: quantile(r.us, 0.99), p999: quantile(r.us, 0.999),
		max:  float64(r.us[len(r.us)-1]),
		over: float64(len(r.us)-over) / float64(len(r.us)),
		cpu:  r.cpu,
	}
}

// quantile takes sorted whole µs and spreads each microsecond's samples evenly
// over it: the step of 1 µs would be 2 % of a usual median. Every contestant
// is treated the same way.
func quantile(us []int64, q float64) float64 {
	rank := min(int(q*float64(len(us))), len(us)-1)
	v := us[rank]
	first, _ := slices.BinarySearch(us, v)
	after, _ := slices.BinarySearch(us, v+1)
	return float64(v) + (float64(rank-first)+0.5)/float64(after-first)
}

// compete lets the contestants take turns and prints the table. The first one
// is what the others are compared with.
func compete(w io.Writer, title string, rounds int, all []contestant) error {
	results := make([][]figures, len(all))
	for range rounds {
		for i, c := range all {
			r, err := c.turn()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if len(r.us) == 0 {
				return fmt.Errorf("%s: no samples", c.name)
			}
			results[i] = append(results[i], r.figures())
			time.Sleep(50 * time.Millisecond)
		}
	}
	fmt.Fprintf(w, "%s\nEach figure: the best round, and the worst one in brackets; us.\n\n", title)
	fmt.Fprintf(w, "%-22s %18s %20s %22s %20s %9s %6s\n", "", "p50", "p99", "p99.9", "max", ">100us", "CPU")
	for i, c := range all {
		row(w, c.name, results[i])
	}
	fmt.Fprintln(w)
	for i := 1; i < len(all); i++ {
		ratio(w, all[i].name, all[0].name, results[i], results[0])
	}
	fmt.Fprintln(w)
	return nil
}

// span is the best and the worst of one figure.
func span(rounds []figures, of func(figures) float64) (best, worst float64) {
	best, worst = of(rounds[0]), of(rounds[0])
	for _, f := range rounds[1:] {
		best, worst = min(best, of(f)), max(worst, of(f))
	}
	return best, worst
}

func row(w io.Writer, name string, rounds []figures) {
	cell := func(of func(figures) float64) string {
		best, worst := span(rounds, of)
		return fmt.Sprintf("%.1f [%.1f]", best, worst)
	}
	over, _ := span(rounds, func(f figures) float64 { return f.over })
	cpu := "-"
	if share, _ := span(rounds, func(f figures) float64 { return f.cpu }); share >= 0 {
		cpu = fmt.Sprintf("%.1f%%", 100*share)
	}
	fmt.Fprintf(w, "%-22s %18s %20s %22s %20s %8.2f%% %6s\n", name,
		cell(func(f figures) float64 { return f.p50 }), cell(func(f figures) float64 { return f.p99 }),
		cell(func(f figures) float64 { return f.p999 }), cell(func(f figures) float64 { return f.max }),
		100*over, cpu)
}

// ratio prints best over best.
func ratio(w io.Writer, name, other string, rounds, others []figures) {
	of := func(f func(figures) float64) float64 {
		a, _ := span(rounds, f)
		b, _ := span(others, f)
		return a / b
	}
	fmt.Fprintf(w, "%s / %s: p50 %.2f, p99 %.2f, p99.9 %.2f (best round over best round)\n", name, other,
		of(func(f figures) float64 { return f.p50 }), of(func(f figures) float64 { return f.p99 }),
		of(func(f figures) float64 { return f.p999 }))
}
