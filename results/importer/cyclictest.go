package importer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Text histograms of cyclictest (-h, --histfile) and rtla timerlat hist: a
// value in the first column, a count for each thread in the others.

// textHistogram collects the columns of such a file.
type textHistogram struct {
	in   *input
	list []Histogram
	unit int64 // ns
	rows int   // of all columns
}

// grow makes room for n columns.
func (t *textHistogram) grow(n int) {
	for len(t.list) < min(n, maxChannels) {
		t.list = append(t.list, Histogram{Label: fmt.Sprintf("thread %d", len(t.list)),
			Width: t.unit, Min: -1, Max: -1, Mean: -1})
	}
}

// bucket adds a row: its value, then the counts.
func (t *textHistogram) bucket(f [][]byte) bool {
	if len(f) < 2 {
		return false
	}
	value, ok := parseUint(f[0])
	if !ok || value > 1e15 {
		return false
	}
	t.grow(len(f) - 1)
	for i, cell := range f[1:] {
		n, ok := parseUint(cell)
		if !ok && string(cell) != "-" {
			return false
		}
		if i < len(t.list) && n > 0 {
			t.rows++
			t.list[i].Rows = append(t.list[i].Rows, Bucket{value * t.unit, n})
		}
	}
	return true
}

// each gives the numbers behind a label to the columns; `-` is no number.
func (t *textHistogram) each(cells [][]byte, set func(h *Histogram, v int64)) {
	t.grow(len(cells))
	for i, cell := range cells {
		d, n := parseDecimal(cell, '.')
		v, ok := d.ns(unitNs)
		if n > 0 && ok && i < len(t.list) {
			set(&t.list[i], v)
		}
	}
}

func setMin(unit int64) func(*Histogram, int64) {
	return func(h *Histogram, v int64) { h.Min = v * unit }
}
func setMax(unit int64) func(*Histogram, int64) {
	return func(h *Histogram, v int64) { h.Max = v * unit }
}
func setMean(unit int64) func(*Histogram, int64) {
	return func(h *Histogram, v int64) { h.Mean = float64(v * unit) }
}
func setOver(h *Histogram, v int64) { h.Over = v }

func detectCyclictest(h head) string {
	rows := 0
	for i, l := range h.full() {
		if l == "" || l[0] == '#' {
			continue
		}
		f := bytes.Fields([]byte(l))
		if len(f) < 2 || len(f[0]) != 6 || len(f[1]) != 6 || !allOf(f[0], "0123456789") || !allOf(f[1], "0123456789") {
			return fmt.Sprintf("line %d is no row of six-digit numbers", i+1)
		}
		rows++
	}
	if rows == 0 {
		return "no rows of six-digit numbers"
	}
	return ""
}

// readCyclictest reads the rows and the figures in comments below them. A sum
// column (-H) becomes a histogram of its own and is taken off again.
func readCyclictest(in *input) ([]Histogram, error) {
	t := &textHistogram{in: in, unit: 1000}
	lines := newLineReader(in)
	threads := 0
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			if !t.bucket(bytes.Fields(line)) {
				in.sink.badOrTorn(lines.torn, "no row of a histogram: %.40q", line)
			}
			if t.rows > maxValues {
				return nil, tooManyValues()
			}
			continue
		}
		label, rest, _ := strings.Cut(strings.TrimSpace(string(line[1:])), ":")
		cells := bytes.Fields([]byte(rest))
		switch label {
		case "Min Latencies":
			threads = len(cells)
			t.each(cells, setMin(t.unit))
		case "Max Latencies":
			t.each(cells, setMax(t.unit))
		case "Avg Latencies":
			t.each(cells, setMean(t.unit))
		case "Histogram Overflows":
			t.each(cells, setOver)
		}
	}
	if threads > 0 && threads < len(t.list) {
		t.list = t.list[:threads]
	}
	return t.list, nil
}

func detectRtla(h head) string {
	if !strings.HasPrefix(h.first(), "# RTLA ") || !strings.Contains(h.first(), "histogram") {
		return "it does not begin with # RTLA … histogram"
	}
	return ""
}

// readRtla reads `Index   IRQ-000   Thr-000`, rows, and the summary below them
// up to the block ALL:, which repeats it.
func readRtla(in *input) ([]Histogram, error) {
	t := &textHistogram{in: in, unit: 1000}
	lines := newLineReader(in)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return t.list, nil
		}
		if err != nil {
			return nil, err
		}
		f := bytes.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch label := string(f[0]); {
		case label == "#":
			if bytes.Contains(line, []byte("nanosecond")) {
				t.unit = 1
			}
		case label == "Index":
			t.grow(len(f) - 1)
			for i := range min(len(t.list), len(f)-1) {
				t.list[i].Label = string(f[1+i])
			}
		case strings.HasPrefix(label, "ALL"):
			return t.list, nil
		case strings.HasSuffix(label, ":"):
			t.summary(label, f[1:])
		default:
			if !t.bucket(f) {
				in.sink.badOrTorn(lines.torn, "no row of a histogram: %.40q", line)
			}
			if t.rows > maxValues {
				return nil, tooManyValues()
			}
		}
	}
}

func (t *textHistogram) summary(label string, cells [][]byte) {
	switch label {
	case "over:":
		t.each(cells, setOver)
	case "min:":
		t.each(cells, setMin(t.unit))
	case "max:":
		t.each(cells, setMax(t.unit))
	case "avg:":
		t.each(cells, setMean(t.unit))
	}
}
