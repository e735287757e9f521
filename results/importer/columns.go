package importer

import (
	"bytes"
	"strings"
)

// columns is the layout of a table: its separator and what its columns are
// called.
type columns struct {
	sep   byte
	point byte // of decimals
	names []string
}

// separators in the order in which they are believed.
const separators = "\t;,"

// headerColumns cuts a header at the separator that it holds most often.
func headerColumns(line string) columns {
	c := columns{sep: ',', point: '.'}
	most := 0
	for i := range len(separators) {
		if n := strings.Count(line, separators[i:i+1]); n > most {
			c.sep, most = separators[i], n
		}
	}
	for f := range strings.SplitSeq(line, string(c.sep)) {
		c.names = append(c.names, strings.Trim(f, `" `))
	}
	return c
}

// find gives the place of the first column with one of these names, in any
// case of letters, -1 for none.
func (c columns) find(names ...string) int {
	for i, have := range c.names {
		for _, name := range names {
			if strings.EqualFold(have, name) {
				return i
			}
		}
	}
	return -1
}

// findPoint tells the decimal point of a column from the rows below the
// header: a comma is one only where the separator is another character.
func (c *columns) findPoint(rows []string, column int) {
	if c.sep == ',' {
		return
	}
	comma, point := 0, 0
	for _, row := range rows {
		cells := strings.Split(row, string(c.sep))
		if column >= len(cells) {
			continue
		}
		// Where both occur the last one is the decimal point.
		k, p := strings.LastIndexByte(cells[column], ','), strings.LastIndexByte(cells[column], '.')
		if k > p {
			comma++
		} else if p > k {
			point++
		}
	}
	if comma > point {
		c.point = ','
	}
}

// cells gives a column of the rows in a head, unquoted.
func (c columns) cells(rows []string, column int) []string {
	var out []string
	fields := make([][]byte, column+2)
	for _, row := range rows {
		if n := split([]byte(row), c.sep, fields); n > column {
			out = append(out, string(fields[column]))
		}
	}
	return out
}

// timeCell is a cell of a time column.
type timeCell struct {
	ns, step    int64
	decimals    int // written, to see whether a torn one is whole
	significant int // digits
}

// parseTimeCell reads all of b: a number in units of 10^unit ns, with
// thousands separators if need be, or an ISO date and time.
func parseTimeCell(b []byte, point byte, unit int) (timeCell, bool) {
	d, n := parseDecimal(b, point)
	if n != len(b) || n == 0 {
		return parseOddTime(b, point, unit)
	}
	ns, ok := d.ns(unit)
	return timeCell{ns, d.step(unit), -d.exp, d.digits}, ok
}

func parseOddTime(b []byte, point byte, unit int) (timeCell, bool) {
	b = bytes.Trim(b, " ")
	if s, n := parseStamp(b); n == len(b) && n > 0 && s.kind == dateTime {
		return timeCell{s.ns, s.step, s.decimals, 0}, true
	}
	if len(b) > 40 {
		return timeCell{}, false
	}
	var plain [40]byte
	b, ok := dropThousands(plain[:0], b, point)
	if !ok {
		return timeCell{}, false
	}
	d, n := parseDecimal(b, point)
	if n != len(b) || n == 0 {
		return timeCell{}, false
	}
	ns, ok := d.ns(unit)
	return timeCell{ns, d.step(unit), -d.exp, d.digits}, ok
}

// dropThousands copies a number without its thousands separators (the other
// of point and comma, an apostrophe, a space); each must stand before three
// digits.
func dropThousands(dst, b []byte, point byte) ([]byte, bool) {
	other := byte(',')
	if point == ',' {
		other = '.'
	}
	for i, c := range b {
		if c != other && c != '\'' && c != ' ' {
			dst = append(dst, c)
			continue
		}
		group := b[i+1:]
		if i == 0 || len(group) < 3 || !allOf(group[:3], "0123456789") ||
			len(group) > 3 && group[3]-'0' <= 9 {
			return dst, false
		}
	}
	return dst, true
}

// unitOf gives the power of ten of a nanosecond of a unit's name, -1 for what
// is none.
func unitOf(name string) int {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "s", "sec", "secs", "second", "seconds":
		return unitS
	case "ms", "msec", "millisecond", "milliseconds", "millis":
		return unitMs
	case "us", "µs", "μs", "usec", "microsecond", "microseconds", "micros":
		return unitUs
	case "ns", "nsec", "nsecs", "nanosecond", "nanoseconds", "nanos":
		return unitNs
	}
	return -1
}
