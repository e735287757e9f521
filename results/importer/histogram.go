package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Bucket is one row of a foreign histogram.
type Bucket struct {
	Value int64 // ns: the bucket's lower edge as the tool prints it
	Count int64
}

// A Histogram is what a tool kept that kept no order: an overlay for compare.
// A figure that the file does not hold is -1.
type Histogram struct {
	Format string
	Label  string   // thread, CPU, tag
	Rows   []Bucket // ascending, empty buckets left out
	Width  int64    // ns of a bucket; of .hlog the width at 1 ns, its buckets grow
	Over   int64    // values above the last bucket, whose size is not known
	Total  int64    // values: the rows and Over
	Min    int64    // ns, of all values
	Max    int64    // ns
	Mean   float64  // ns

	Warnings []string // about the file, the same for all of its histograms
}

// OpenHistogram reads a file of class "histogram": one histogram for each
// thread, CPU or tag. Compression, encoding and errors are as with Open.
func OpenHistogram(r io.Reader, name string, opt Options) ([]Histogram, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	in, err := newInput(r, name, opt)
	if err != nil {
		return nil, err
	}
	if err := in.foreign(); err != nil {
		return nil, err
	}
	im, err := choose(in)
	if err != nil {
		return nil, err
	}
	if im.histogram == nil {
		return nil, &Refusal{Name: name, Format: im.Name, Why: "it holds no histogram"}
	}
	list, err := im.histogram(in)
	if err != nil {
		return nil, named(err, name, im.Name)
	}
	if len(list) == 0 {
		return nil, &Refusal{Name: name, Format: im.Name, Why: "there is no histogram in it"}
	}
	warnings, err := in.sink.judgeLines()
	if err != nil {
		return nil, named(err, name, im.Name)
	}
	for i := range list {
		list[i].Format, list[i].Warnings = im.Name, warnings
		if err := list[i].complete(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, list[i].Label, err)
		}
	}
	return list, nil
}

// IsHistogram says whether err is Open's refusal of a file that OpenHistogram
// reads.
func IsHistogram(err error) bool {
	var r *Refusal
	if !errors.As(err, &r) {
		return false
	}
	im := lookup(r.Format)
	return im != nil && im.histogram != nil
}

// judgeLines refuses a file of which more than half is unreadable, and says
// what was not.
func (s *sink) judgeLines() ([]string, error) {
	r := &s.report
	if r.Bad > 0 {
		s.warn("%d of %d lines are not readable, the first: %s", r.Bad, s.line, r.BadLines[0].String(s.name))
	}
	if r.Bad*2 > s.line {
		return nil, &Refusal{Why: r.Warnings[len(r.Warnings)-1]}
	}
	if r.Torn {
		s.warn("the last line is torn")
	}
	return r.Warnings, nil
}

var errBadCount = errors.New("a count is negative or too large")

// complete sorts the rows and adds up what the file leaves out.
func (h *Histogram) complete() error {
	slices.SortFunc(h.Rows, func(a, b Bucket) int {
		return cmp.Compare(a.Value, b.Value)
	})
	h.Rows = slices.DeleteFunc(h.Rows, func(b Bucket) bool { return b.Count == 0 })
	h.Total = h.Over
	for _, b := range h.Rows {
		if b.Count < 0 || h.Total+b.Count < h.Total || b.Value < 0 {
			return errBadCount
		}
		h.Total += b.Count
	}
	return nil
}
