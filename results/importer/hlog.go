package importer

import (
	"bytes"
	"io"
	"math/bits"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The log of HdrHistogram: interval histograms, which are added up for each
// tag. Its payload is decoded by the project's own Go library; the lines
// around it are read here, since that library's reader knows no tags.
//
//	Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzM…
//
// Values are nanoseconds by convention (the maximum column is the value
// divided by 1e6).

const maxTags = 64

func detectHlog(h head) string {
	yes, _ := h.count(func(l []byte) bool {
		_, _, ok := parseHlog(l)
		return ok
	})
	if yes == 0 {
		return "no line is START,LENGTH,MAX,HIST…"
	}
	return ""
}

func parseHlog(line []byte) (tag string, payload []byte, ok bool) {
	if rest, is := bytes.CutPrefix(line, []byte("Tag=")); is {
		name, after, found := bytes.Cut(rest, comma)
		if !found {
			return "", nil, false
		}
		tag, line = string(name), after
	}
	f := bytes.SplitN(line, comma, 4)
	if len(f) != 4 || !bytes.HasPrefix(f[3], []byte("HIST")) {
		return "", nil, false
	}
	for _, cell := range f[:3] {
		if _, n := parseDecimal(cell, '.'); n == 0 || n != len(cell) {
			return "", nil, false
		}
	}
	return tag, bytes.TrimSpace(f[3]), true
}

// hlogSum adds up the histograms of one tag: counts by lowest value.
type hlogSum struct {
	tag    string
	counts map[int64]int64
	moment float64 // sum of the values, each taken in the middle of its bucket
	total  int64
}

func readHlog(in *input) ([]Histogram, error) {
	var sums []*hlogSum
	values := 0
	lines := newLineReader(in)
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 || line[0] == '#' || line[0] == '"' {
			continue
		}
		tag, payload, ok := parseHlog(line)
		if !ok {
			in.sink.badOrTorn(lines.torn, "not START,LENGTH,MAX,HIST…: %.40q", line)
			continue
		}
		h, err := hdr.DecodePacked(payload) // its memory grows with what is in it, not with its range
		if err != nil {
			in.sink.bad("its payload cannot be decoded: %v", err)
			continue
		}
		if sum := sumOf(&sums, tag); sum != nil {
			if values += sum.add(h); values > maxValues {
				return nil, tooManyValues()
			}
		} else {
			in.sink.warn("more than %d tags: the others are left out", maxTags)
		}
	}
	var list []Histogram
	for _, sum := range sums {
		list = append(list, sum.histogram())
	}
	return list, nil
}

func sumOf(sums *[]*hlogSum, tag string) *hlogSum {
	for _, s := range *sums {
		if s.tag == tag {
			return s
		}
	}
	if len(*sums) == maxTags {
		return nil
	}
	*sums = append(*sums, &hlogSum{tag: tag, counts: map[int64]int64{}})
	return (*sums)[len(*sums)-1]
}

// add says how many values are new.
func (s *hlogSum) add(h *hdr.PackedHistogram) int {
	before := len(s.counts)
	for value, count := range h.ForEachBucket {
		s.counts[value] += count
	}
	s.total += h.TotalCount()
	s.moment += h.Mean() * float64(h.TotalCount())
	return len(s.counts) - before
}

func (s *hlogSum) histogram() Histogram {
	h := Histogram{Label: strings.TrimSpace("histogram " + s.tag), Width: 1, Min: -1, Max: -1, Mean: -1}
	if s.total > 0 {
		h.Mean = s.moment / float64(s.total)
	}
	for value, count := range s.counts {
		h.Rows = append(h.Rows, Bucket{value, count})
		if h.Min < 0 || value < h.Min {
			h.Min = value
		}
		h.Max = max(h.Max, value)
	}
	if h.Max > 0 {
		h.Max = highestEquivalent(h.Max)
	}
	return h
}

// highestEquivalent is the largest value that three digits do not tell from v:
// the project's own log processor prints it as the maximum.
func highestEquivalent(v int64) int64 {
	width := int64(1) << max(0, bits.Len64(uint64(v))-11)
	return v - v%width + width - 1
}
