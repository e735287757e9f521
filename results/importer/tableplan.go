package importer

import (
	"fmt"
	"strconv"
	"strings"
)

// planTable finds the layout of a table in a head, or says why it is none.
func planTable(h head, opt Options) (p tablePlan, why string) {
	if !h.text {
		return p, "not text"
	}
	rows := tableRows(h)
	if len(rows) == 0 {
		return p, "it has no rows"
	}
	p.columns = headerColumns(rows[0])
	p.point = '.'
	p.spaced = !strings.ContainsAny(rows[0], separators)
	p.time, p.value, p.channel, p.unit = -1, -1, -1, -1
	p.readHeader(rows[0])
	if p.header {
		rows = rows[1:]
	} else if len(p.names) > 1 && p.sep == ',' && looksGerman(rows) {
		p.sep, p.spaced = ' ', true // 0,005 41
	}
	if opt.TimeColumn > 0 {
		p.time = opt.TimeColumn - 1
		if p.header && p.time < len(p.names) {
			_, p.unit, _ = timeHeader(p.names[p.time])
		}
	}
	p.deltas = p.deltas || opt.Deltas
	if why := p.findTime(rows); why != "" {
		return p, why
	}
	if why := p.settleUnit(rows, opt); why != "" {
		return p, why
	}
	p.findValue(rows)
	return p, ""
}

// tableRows gives the lines that count: no comments, no blank ones.
func tableRows(h head) []string {
	var rows []string
	for _, l := range h.full() {
		if l != "" && l[0] != '#' {
			rows = append(rows, l)
		}
	}
	return rows
}

// looksGerman says whether commas are decimal points between spaces.
func looksGerman(rows []string) bool {
	for _, r := range rows {
		f := strings.Fields(r)
		if len(f) < 2 || strings.Count(f[0], ",") != 1 {
			return false
		}
	}
	return true
}

// readHeader looks for names in the first row; a row that begins with a number
// in any cell is no header.
func (p *tablePlan) readHeader(row string) {
	cells := p.cutText(row)
	for _, c := range cells {
		if _, n := parseDecimal([]byte(c), '.'); n > 0 && n == len(c) {
			return
		}
	}
	for i, c := range cells {
		name, unit, is := timeHeader(c)
		if is && p.time < 0 {
			p.time, p.unit, p.header = i, unit, true
			p.samples = strings.HasPrefix(name, "sample")
			p.deltas = strings.HasPrefix(name, "delta") || name == "dt" || name == "interval"
		}
	}
	p.names = cells
	p.value, p.channel = p.find(valueNames...), p.find(channelNames...)
	p.header = p.header || p.value >= 0 || len(cells) > 1
	if p.value == p.time {
		p.value = -1
	}
}

func (p *tablePlan) cutText(row string) []string {
	fields := make([][]byte, 64)
	n := p.cut([]byte(row), fields)
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Trim(string(fields[i]), `" `)
	}
	return out
}

// column gives one cell of each row that has it.
func (p *tablePlan) column(rows []string, k int) []string {
	var out []string
	for _, r := range rows {
		if cells := p.cutText(r); k < len(cells) {
			out = append(out, cells[k])
		}
	}
	return out
}

// findTime checks the time column, or finds one: the first that rises, else
// the first of numbers; differences need not rise.
func (p *tablePlan) findTime(rows []string) (why string) {
	if p.time >= 0 {
		if numbers, _ := p.try(rows, p.time); numbers || len(rows) == 0 && p.header {
			return ""
		}
		return fmt.Sprintf("column %d does not hold numbers in most rows", p.time+1)
	}
	width := 0
	if len(rows) > 0 {
		width = min(len(p.cutText(rows[0])), 16)
	}
	for k := range width {
		numbers, rising := p.try(rows, k)
		if rising && !p.deltas {
			p.time = k
			break
		}
		if numbers && p.time < 0 {
			p.time = k
		}
	}
	if p.time < 0 {
		return "no column holds numbers in most rows"
	}
	p.try(rows, p.time) // its decimal point is the one that counts
	return ""
}

// try finds the decimal point of a column, and says whether it holds numbers
// in most rows and whether these rise.
func (p *tablePlan) try(rows []string, k int) (numbers, rising bool) {
	p.point = '.'
	if p.spaced {
		p.spacedPoint(rows, k)
	} else {
		p.findPoint(rows, k)
	}
	good, rises, before := 0, 0, int64(0)
	for _, c := range p.column(rows, k) {
		cell, ok := parseTimeCell([]byte(c), p.point, max(p.unit, unitNs))
		if !ok {
			continue
		}
		// In nanoseconds a fraction is lost: compare what is left of seconds.
		if full, ok := parseTimeCell([]byte(c), p.point, unitS); ok {
			cell = full
		}
		if good++; good > 1 && cell.ns > before {
			rises++
		}
		before = cell.ns
	}
	return good*2 > len(rows), good*2 > len(rows) && good > 2 && rises*10 >= (good-1)*9
}

// spacedPoint is findPoint for columns parted by spaces.
func (p *tablePlan) spacedPoint(rows []string, k int) {
	for _, c := range p.column(rows, k) {
		if strings.Contains(c, ".") {
			return
		}
		if strings.Contains(c, ",") {
			p.point = ','
		}
	}
}

// settleUnit takes the unit from the options, the header or the numbers.
func (p *tablePlan) settleUnit(rows []string, opt Options) (why string) {
	switch {
	case opt.TimeUnit != "":
		p.unit, p.samples = unitOf(opt.TimeUnit), false
		return ""
	case p.unit >= 0 || p.samples:
		return ""
	}
	for _, c := range p.column(rows, p.time) {
		if d, n := parseDecimal([]byte(c), p.point); n == len(c) && n > 0 && d.mant != 0 {
			if d.exp > 0 {
				return "a spreadsheet rounded its times (" + c + "): their last digits are gone"
			}
			if p.unit, p.guess = guessUnit(d); p.unit >= 0 {
				return ""
			}
		} else if s, n := parseStamp([]byte(c)); n == len(c) && n > 0 && s.kind == dateTime {
			p.unit = unitS
			return ""
		}
	}
	if len(rows) == 0 {
		p.unit = unitS
		return ""
	}
	return "the unit of its time column is not written, and whole numbers do not show it"
}

// findValue takes the column that the header calls so, else the one behind the
// time when it looks like byte values.
func (p *tablePlan) findValue(rows []string) {
	k := p.value
	if k < 0 && !p.header {
		k = p.time + 1
	}
	if k < 0 {
		return
	}
	cells := p.column(rows, k)
	r := guessRadix(cells)
	good := 0
	for _, c := range cells {
		if _, ok := r.decode([]byte(c)); ok && !tooLarge(c, r) {
			good++
		}
	}
	if p.value >= 0 || len(cells) > 0 && good == len(cells) {
		p.value, p.radix = k, r
	}
}

// tooLarge says whether a decimal cell is beyond nine data bits.
func tooLarge(cell string, r radix) bool {
	n, err := strconv.Atoi(cell)
	return r == radixDec && (err != nil || n > 511 || n < -256)
}
