package importer_test

import (
	"fmt"
	"io"
	"strings"

	"serialtiming/results/importer"
)

// A caller takes the steps that are intervals, and the report behind the end.
func ExampleOpen() {
	const log = `[23:59:59.980] a
[00:00:00.000] b
[00:00:00.000] c
[00:00:00.021] d
`
	s, err := importer.Open(strings.NewReader(log), "night.log", importer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	before := int64(0)
	for {
		e, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil { // a *ChannelsError or *Refusal: forget what came before
			fmt.Println(err)
			return
		}
		if s.Step() == importer.Interval {
			fmt.Println(e.At-before, "ns")
		}
		before = e.At
	}
	r := s.Report()
	fmt.Println(s.Format, s.Class, "quantum", s.Quantum(), "zero steps", r.Zero, "wraps", r.Wraps)
	// Output:
	// 20000000 ns
	// 21000000 ns
	// tio line quantum 1000000 zero steps 1 wraps 1
}

func ExampleOpenHistogram() {
	const file = "# Histogram\n000041 000003\n000042 000001\n# Total: 000000004\n" +
		"# Min Latencies: 00041\n# Avg Latencies: 00050\n# Max Latencies: 00080\n# Histogram Overflows: 00001\n"
	list, err := importer.OpenHistogram(strings.NewReader(file), "hist.txt", importer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range list {
		fmt.Println(h.Label, h.Rows, "over", h.Over, "of", h.Total, "max", h.Max)
	}
	// Output:
	// thread 0 [{41000 3} {42000 1}] over 1 of 5 max 80000
}
