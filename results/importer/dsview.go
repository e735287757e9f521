package importer

import (
	"bytes"
	"strings"
)

// dsview reads the protocol export of DSView in its three dialects: seconds
// with six significant digits (before 2020-05), nanoseconds with twenty
// decimals, nanoseconds with two (from 1.3.0). Its text is not quoted: a comma
// that was received gives an empty field more, a space a field of one space.
type dsview struct {
	in     *input
	lines  *lineReader
	titles []*channel
	unit   int
	radix  radix
	one    [1]byte
	header bool
}

func detectDSView(h head) string {
	line := h.first()
	if !strings.HasPrefix(line, "Id,Time[s],") && !strings.HasPrefix(line, "Id,Time[ns],") {
		return "its first line does not begin with Id,Time[s], or Id,Time[ns],"
	}
	return ""
}

func openDSView(in *input) (reader, error) {
	if why := detectDSView(in.head); why != "" {
		return nil, &Refusal{Why: why}
	}
	d := &dsview{in: in, lines: newLineReader(in), unit: unitS}
	names := strings.Split(in.head.first(), ",")[1:]
	if names[0] == "Time[ns]" {
		d.unit = unitNs
	}
	for _, name := range names[1:] {
		d.titles = append(d.titles, in.ch.add(strings.TrimSpace(name), false))
	}
	var cells []string
	for _, l := range in.head.rows() {
		part := strings.SplitN(l, ",", 3)
		if len(part) < 3 {
			continue
		}
		if cell := strings.Trim(part[2], ","); dsviewNote(cell) == "" {
			cells = append(cells, cell)
		} else {
			in.marks = decoderMarks
		}
	}
	d.radix = guessRadix(cells)
	return d, nil
}

// dsviewNote gives the text of an annotation that is no character, "" for a
// character.
func dsviewNote(cell string) string {
	for _, note := range []string{"Start bit", "Stop bit", "Parity bit", "Frame error", "Parity error", "Break condition"} {
		if cell == note {
			return note
		}
	}
	return ""
}

func (d *dsview) next(rec *record) error {
	for {
		line, err := d.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		if !d.header {
			d.header = true
			continue
		}
		if d.row(line, rec) {
			return nil
		}
	}
}

func (d *dsview) row(line []byte, rec *record) bool {
	_, rest, _ := bytes.Cut(line, comma)
	cell, rest, found := bytes.Cut(rest, comma)
	t, ok := parseTimeCell(cell, '.', d.unit)
	if !ok || !found {
		d.in.sink.badOrTorn(d.lines.torn, "the time is no number: %.40q", cell)
		return false
	}
	rec.at, rec.step = t.ns, d.step(t)
	rec.data = nil
	title, text := d.cell(rest)
	if text == nil {
		return false
	}
	rec.ch = d.titles[title]
	if note := dsviewNote(string(text)); note != "" {
		rec.flags = errorFlags([]byte(note))
		return rec.flags != 0
	}
	cut := d.lines.cut(text, d.radix)
	v, ok := d.radix.decode(text)
	if !ok || cut {
		rec.data = d.in.sink.placeholders(1)
		return true
	}
	d.one[0] = v
	rec.data = d.one[:]
	return true
}

// step is the place value of the sixth significant digit in seconds, whatever
// zeros were dropped behind it; of nanoseconds the last digit written.
func (d *dsview) step(t timeCell) int64 {
	if d.unit == unitNs {
		return t.step
	}
	step := int64(1)
	for ns := max(t.ns, -t.ns); ns >= 1e6*step; {
		step *= 10
	}
	return step
}

var comma = []byte{','}

// cell finds the one cell of a row that is not empty, and its title. An empty
// cell more than there are titles was a comma.
func (d *dsview) cell(rest []byte) (int, []byte) {
	if len(d.titles) == 1 {
		if len(rest) == 0 {
			return 0, nil
		}
		return 0, rest
	}
	cells := bytes.Split(rest, comma)
	for i, c := range cells {
		if len(c) > 0 && i < len(d.titles) {
			return i, c
		}
	}
	if len(cells) > len(d.titles) {
		// Which title the comma belongs to is not written; the first is a guess.
		d.in.sink.warn("commas in a table of several decoders are taken for the first one's")
		return 0, comma
	}
	return 0, nil
}
