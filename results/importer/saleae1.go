package importer

import (
	"bytes"
	"strings"

	"serialtiming/results"
)

// saleae1 reads the three text exports of Saleae Logic 1 (Logic 2 still writes
// the first one for a single analyser):
//
//	Time [s],Value,Parity Error,Framing Error
//	Time [s],Packet ID,Address,Data,Framing Error
//	Time [s], Analyzer Name, Decoded Protocol Result
//
// Its text is not quoted: a value may be a lone quote mark or space, and a
// comma is written COMMA.
type saleae1 struct {
	in       *input
	lines    *lineReader
	cols     columns
	value    int // place of the value
	flags    int // place of the first error column
	search   bool
	radix    radix
	one      [1]byte
	only     *channel
	decimals int
	skipped  bool
}

func detectSaleae1(h head) string {
	c := headerColumns(h.first())
	if c.find("Time [s]") != 0 {
		return "its first line does not begin with Time [s]"
	}
	if c.find("Value", "Data", "Decoded Protocol Result") < 0 {
		return "its first line has no column Value, Data or Decoded Protocol Result"
	}
	return ""
}

func openSaleae1(in *input) (reader, error) {
	if why := detectSaleae1(in.head); why != "" {
		return nil, &Refusal{Why: why}
	}
	c := headerColumns(in.head.first())
	s := &saleae1{in: in, lines: newLineReader(in), value: c.find("Value", "Data"),
		flags: c.find("Parity Error", "Framing Error")}
	if s.value < 0 {
		s.search, s.value = true, c.find("Decoded Protocol Result")
		in.marks = results.Framing | results.Parity
	} else {
		s.only = in.ch.add("serial", false)
	}
	for _, name := range c.names {
		in.marks |= errorFlags([]byte(name))
	}
	rows := in.head.rows()
	c.findPoint(rows, 0)
	s.cols = c
	s.radix = guessRadix(c.cells(rows, s.value))
	return s, nil
}

func (s *saleae1) next(rec *record) error {
	for {
		line, err := s.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		if !s.skipped {
			s.skipped = true // the header
			continue
		}
		if s.row(line, rec) {
			return nil
		}
	}
}

func (s *saleae1) row(line []byte, rec *record) bool {
	cell, rest, found := bytes.Cut(line, []byte{s.cols.sep})
	t, ok := parseTimeCell(cell, s.cols.point, unitS)
	if !ok || s.lines.torn && !found && t.decimals < s.decimals {
		s.in.sink.badOrTorn(s.lines.torn, "the time is no number: %.40q", cell)
		return false
	}
	rec.at, rec.step, s.decimals = t.ns, t.step, t.decimals
	if s.search {
		s.result(rest, rec)
		return true
	}
	value := s.cell(rest)
	rec.ch = s.only
	if v, ok := s.radix.decode(value); ok {
		s.one[0] = v
		rec.data = s.one[:]
	} else {
		rec.data = s.in.sink.placeholders(1)
	}
	s.errors(rest, rec)
	return true
}

// cell gives the value's cell of a row without its time. What is too much for
// the columns belongs to the value: it was a separator itself.
func (s *saleae1) cell(rest []byte) []byte {
	for range s.value - 1 {
		_, rest, _ = bytes.Cut(rest, []byte{s.cols.sep})
	}
	for range len(s.cols.names) - 1 - s.value {
		i := bytes.LastIndexByte(rest, s.cols.sep)
		if i < 0 {
			break
		}
		rest = rest[:i]
	}
	return rest
}

// errors reads the columns behind the value.
func (s *saleae1) errors(rest []byte, rec *record) {
	for i := len(s.cols.names) - 1; s.flags > 0 && i >= s.flags; i-- {
		at := bytes.LastIndexByte(rest, s.cols.sep)
		if at < 0 {
			return
		}
		if len(bytes.TrimSpace(rest[at+1:])) > 0 {
			rec.flags |= errorFlags([]byte(strings.ToLower(s.cols.names[i])))
		}
		rest = rest[:at]
	}
}

// result reads `Async Serial,'225' (0xE1)` with errors as text behind it.
func (s *saleae1) result(rest []byte, rec *record) {
	name, text, _ := bytes.Cut(rest, []byte{s.cols.sep})
	rec.ch = s.in.ch.get(bytes.TrimSpace(name))
	rec.flags = errorFlags(text)
	value := bytes.TrimSpace(text)
	if i := bytes.Index(text, []byte("(0x")); i >= 0 {
		value, _, _ = bytes.Cut(text[i+1:], []byte{')'})
	} else if i := bytes.Index(value, []byte(" (")); i > 0 {
		value = value[:i]
	}
	v, ok := s.radix.decode(value)
	if !ok {
		rec.data = s.in.sink.placeholders(1)
		return
	}
	s.one[0] = v
	rec.data = s.one[:]
}

// detectDigital knows the raw export of a logic analyser: edges of lines.
func detectDigital(h head) string {
	c := headerColumns(h.first())
	if c.find("Time [s]", "Time[s]") != 0 || len(c.names) < 2 {
		return "its first line does not begin with Time [s]"
	}
	rows := h.rows()
	if len(rows) == 0 {
		return "it has no rows"
	}
	for _, row := range rows {
		for i, cell := range strings.Split(row, string(c.sep)) {
			if i > 0 && cell != "0" && cell != "1" {
				return "its columns hold more than 0 and 1"
			}
		}
	}
	return ""
}
