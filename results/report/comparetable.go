package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"serialtiming/results"
)

// mostRows is how long a table may be to stand in the text.
const mostRows = 60

// sideBySide writes the tables of a phase in the form of 1998, a count a
// column.
func (p *comparePrinter) sideBySide(ph *results.Phase) {
	counts, keys := p.counts(ph)
	title := label(&results.Run{Label: ph.Label})
	if len(keys) == 0 || len(keys) > mostRows || p.c.View.Quantity == results.OfLateness {
		p.line(" %s", title)
		if len(keys) > mostRows && p.c.View.Quantity != results.OfLateness {
			p.line("  the tables have %d rows: see --json", len(keys))
		}
		return
	}
	head := " M-Sec"
	for _, k := range p.c.Columns {
		head += fmt.Sprintf(" %6s", k.Mark)
	}
	p.line("%s (%s)", head, title)
	for _, key := range keys {
		line := fmt.Sprintf("%6s", Key(key, p.c.View.BinNS))
		for i := range counts {
			line += fmt.Sprintf(" %6s", rowText(counts[i], key))
		}
		p.line("%s", line)
	}
	p.over(ph)
}

// counts gathers the rows of the tables that are of the view's kind.
func (p *comparePrinter) counts(ph *results.Phase) (counts []map[int64]int64, keys []int64) {
	counts = make([]map[int64]int64, len(ph.Cells))
	for i, cell := range ph.Cells {
		if cell == nil || !p.c.View.Shows(&cell.Table) {
			continue
		}
		counts[i] = map[int64]int64{}
		for _, row := range cell.Table.Rows {
			counts[i][row.Key] = row.Count
			keys = append(keys, row.Key)
		}
	}
	slices.Sort(keys)
	return counts, slices.Compact(keys)
}

// rowText is a count; 0 where the table has no such row, "-" where there is
// no such table.
func rowText(counts map[int64]int64, key int64) string {
	if counts == nil {
		return "-"
	}
	return strconv.FormatInt(counts[key], 10)
}

func (p *comparePrinter) over(ph *results.Phase) {
	line, any := "  over", false
	for _, cell := range ph.Cells {
		text := "-"
		if cell != nil && p.c.View.Shows(&cell.Table) {
			text, any = strconv.FormatInt(cell.Table.Over, 10), any || cell.Table.Over > 0
		}
		line += fmt.Sprintf(" %6s", text)
	}
	if any {
		p.line("%s", line)
	}
}

// aligned writes rows in columns as wide as they need.
func (p *comparePrinter) aligned(rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line = "  " + cell + pad
				continue
			}
			line += "  " + pad + cell
		}
		p.line("%s", strings.TrimRight(line, " "))
	}
}

// CompareCSV writes a comparison for spreadsheets, a line a figure: label, run
// (the column's name), figure, value, and the difference from the first run
// with its bounds; below is the step that hides a difference. Values are ns,
// shares from 0 to 1, counts; what is not known is empty.
func CompareCSV(w io.Writer, c *results.Comparison) error {
	out := csv.NewWriter(w)
	out.Write([]string{"label", "run", "figure", "value", "difference", "low", "high", "below"})
	for i := range c.Phases {
		ph := &c.Phases[i]
		for k, cell := range ph.Cells {
			if cell == nil {
				continue
			}
			out.Write([]string{ph.Label, c.Columns[k].Name, "count", strconv.FormatInt(cell.Count, 10), "", "", "", ""})
			for _, name := range rowOrder {
				line := []string{ph.Label, c.Columns[k].Name, name, number(cell.Value(name)), "", "", "", ""}
				for _, d := range ph.Differences {
					if d.Column == k && d.Figure == name {
						copy(line[4:], []string{number(d.Difference), number(d.Low), number(d.High), number(d.BelowNS)})
					}
				}
				out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
