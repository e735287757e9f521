package importer

import "serialtiming/results"

// saleae2 reads the data table of Saleae Logic 2 ("Export Table"), also after
// a spreadsheet re-saved it with semicolons and decimal commas. Columns are
// found by name: users hide and choose them, and only start_time is always
// there.
type saleae2 struct {
	in       *input
	lines    *lineReader
	cols     columns
	fields   [][]byte
	name     int // places of the columns, -1 for none
	start    int
	data     int
	failed   int
	radix    radix
	one      [1]byte
	only     *channel // where there is no name column
	decimals int      // of the row before
	fine     int64    // ns, the step that the durations in the head show
}

func detectSaleae2(h head) string {
	c := headerColumns(h.first())
	if c.find("start_time") < 0 {
		return "its first line has no column start_time"
	}
	return ""
}

func openSaleae2(in *input) (reader, error) {
	c := headerColumns(in.head.first())
	s := &saleae2{in: in, lines: newLineReader(in), name: c.find("name"),
		start: c.find("start_time"), data: c.find("data"), failed: c.find("error")}
	if s.start < 0 {
		return nil, &Refusal{Why: "its first line has no column start_time"}
	}
	rows := in.head.rows()
	c.findPoint(rows, s.start)
	s.cols, s.fine = c, finestStep(c, rows, c.find("duration"))
	s.fields = make([][]byte, max(s.name, s.start, s.data, s.failed)+2)
	// Without errors there is no column for them, unless the columns were chosen.
	if s.failed >= 0 || s.data >= 0 && c.find("type") >= 0 && c.find("duration") >= 0 {
		in.marks = results.Framing | results.Parity
	}
	if s.name < 0 {
		s.only = in.ch.add("table", false)
	}
	if s.data >= 0 {
		s.radix = tableRadix(c, rows, s.data)
	}
	if s.radix != radixHex && s.data >= 0 {
		in.sink.warn("the values are not exported in hexadecimal: some characters cannot be told apart")
	}
	return s, s.skipHeader()
}

// finestStep is the place value of the last digit in a column of the head,
// 0 when there is none.
func finestStep(c columns, rows []string, column int) int64 {
	if column < 0 {
		return 0
	}
	finest := int64(0)
	for _, cell := range c.cells(rows, column) {
		t, ok := parseTimeCell([]byte(cell), c.point, unitS)
		if ok && (finest == 0 || t.step < finest) {
			finest = t.step
		}
	}
	return finest
}

// tableRadix tells quoted cells, which are ASCII, from numbers.
func tableRadix(c columns, rows []string, column int) radix {
	cells := c.cells(rows, column)
	hex := 0
	for _, cell := range cells {
		if len(cell) > 2 && cell[:2] == "0x" {
			hex++
		}
	}
	if hex*2 >= len(cells) {
		return radixHex
	}
	if r := guessRadix(cells); r == radixDec || r == radixBin {
		return r
	}
	return radixText
}

func (s *saleae2) skipHeader() error {
	for {
		line, err := s.lines.next()
		if err != nil || len(line) > 0 {
			return ignoreEOF(err)
		}
	}
}

func (s *saleae2) next(rec *record) error {
	for {
		line, err := s.lines.record()
		if err != nil {
			return err
		}
		if len(line) > 0 && s.row(line, rec) {
			return nil
		}
	}
}

// row reads one record; false when it is none.
func (s *saleae2) row(line []byte, rec *record) bool {
	n := split(line, s.cols.sep, s.fields)
	if n <= s.start {
		s.in.sink.badOrTorn(s.lines.torn, "no start_time")
		return false
	}
	t, ok := parseTimeCell(s.fields[s.start], s.cols.point, unitS)
	last := s.lines.torn && n == s.start+1
	if !ok || last && t.decimals < s.decimals {
		s.in.sink.badOrTorn(s.lines.torn, "start_time is no number: %.40q", s.fields[s.start])
		return false
	}
	rec.at, rec.step, s.decimals = t.ns, t.step, t.decimals
	rec.digits, rec.fine = t.significant, s.fine
	if rec.ch = s.only; rec.ch == nil {
		if n <= s.name {
			s.in.sink.badOrTorn(s.lines.torn, "no name")
			return false
		}
		rec.ch = s.in.ch.get(s.fields[s.name])
	}
	rec.data = s.value(n)
	if s.failed >= 0 && s.failed < n {
		rec.flags = errorFlags(s.fields[s.failed])
	}
	return true
}

// value gives the character of a row of n fields, a placeholder where it is
// not known.
func (s *saleae2) value(n int) []byte {
	if s.data >= 0 && s.data < n {
		cell := s.fields[s.data]
		cut := s.data == n-1 && s.lines.cut(cell, s.radix)
		if v, ok := s.radix.decode(cell); ok && !cut {
			s.one[0] = v
			return s.one[:]
		}
	}
	return s.in.sink.placeholders(1)
}

// errorFlags reads the words that tools use for line errors.
func errorFlags(b []byte) results.Flags {
	if len(b) == 0 {
		return 0
	}
	var f results.Flags
	for _, w := range errorWords {
		if containsFold(b, w.word) {
			f |= w.flag
		}
	}
	return f
}

var errorWords = []struct {
	word string
	flag results.Flags
}{
	{"framing", results.Framing}, {"frame error", results.Framing},
	{"parity", results.Parity}, {"break", results.Break}, {"overrun", results.Overrun},
}
