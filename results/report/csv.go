package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"serialtiming/results"
)

// CSV writes the tables: run, label, msec (the row's key in milliseconds, or
// "over") and count.
func CSV(w io.Writer, r results.Report) error {
	c := csv.NewWriter(w)
	c.Write([]string{"run", "label", "msec", "count"})
	for i := range r.Runs {
		run := &r.Runs[i]
		write := func(key string, n int64) {
			c.Write([]string{strconv.Itoa(i + 1), results.OneLine(run.Label), key, strconv.FormatInt(n, 10)})
		}
		for _, row := range run.Table.Rows {
			write(Key(row.Key, run.Table.BinNS), row.Count)
		}
		if run.Table.Over > 0 {
			write("over", run.Table.Over)
		}
	}
	c.Flush()
	return c.Error()
}
