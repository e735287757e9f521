package importer

import (
	"bytes"
	"io"
	"math"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The log of HdrHistogram: interval histograms, which are added up for each
// tag. Its payload is decoded by the project's own Go library; the lines
// around it are read here, since that library's reader knows no tags.
//
//	Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzM…
//
// The sums keep three digits, as the project's own log processor does.
// Values are nanoseconds by convention (the maximum column is the value
// divided by 1e6).

const maxTags = 64 // a sum takes half a megabyte

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

func readHlog(in *input) ([]Histogram, error) {
	sums := map[string]*hdr.Histogram{}
	var tags []string
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
		h, err := hdr.Decode(payload)
		if err != nil {
			in.sink.bad("its payload cannot be decoded: %v", err)
			continue
		}
		if sums[tag] == nil {
			if len(tags) == maxTags {
				in.sink.warn("more than %d tags: the others are left out", maxTags)
				continue
			}
			sums[tag] = hdr.New(1, math.MaxInt64/2, 3)
			tags = append(tags, tag)
		}
		if lost := sums[tag].Merge(h); lost > 0 {
			in.sink.warn("%d values are beyond 146 years", lost)
		}
	}
	if in.sink.report.Bad > 0 && len(tags) == 0 {
		return nil, &Refusal{Why: in.sink.report.BadLines[0].String(in.name)}
	}
	return hlogHistograms(sums, tags), nil
}

func hlogHistograms(sums map[string]*hdr.Histogram, tags []string) []Histogram {
	var list []Histogram
	for _, tag := range tags {
		sum := sums[tag]
		h := Histogram{Label: strings.TrimSpace("histogram " + tag), Width: 1,
			Min: sum.Min(), Max: sum.Max(), Mean: sum.Mean()}
		for _, bar := range sum.Distribution() {
			if bar.Count > 0 {
				h.Rows = append(h.Rows, Bucket{bar.From, bar.Count})
			}
		}
		list = append(list, h)
	}
	return list
}
