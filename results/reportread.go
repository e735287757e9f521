package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxReport bounds the memory that a hostile report can take; the widest table
// (ten million rows of a microsecond) takes less than half of it.
const maxReport = 1 << 30

// ErrNotReport says that a file is no JSON report of this tool.
var ErrNotReport = errors.New("not a JSON report: it has no " + `"format":"` + ReportFormat + `"`)

// NewerReportError says that a report was written by a later program.
type NewerReportError struct{ Version int }

func (e *NewerReportError) Error() string {
	return fmt.Sprintf("report of version %d, this program reads up to version %d", e.Version, ReportVersion)
}

// IsReport says whether a file that begins so may be a JSON report.
func IsReport(head []byte) bool {
	return bytes.Contains(head, []byte(`"`+ReportFormat+`"`))
}

// ReadReport reads what --json wrote. It gives ErrNotReport for another JSON,
// *NewerReportError for a later version, and a sentence where figures
// contradict each other or cannot be.
func ReadReport(r io.Reader) (Report, error) {
	var report Report
	data, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	switch {
	case err != nil:
		return report, err
	case len(data) > maxReport:
		return report, errors.New("the report is longer than 1 GiB")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	// A later version may have other types behind these two.
	if err := json.Unmarshal(data, &head); err != nil {
		return report, fmt.Errorf("the JSON cannot be read: %w", err)
	}
	switch {
	case head.Format != ReportFormat || head.Version < 1:
		return report, ErrNotReport
	case head.Version > ReportVersion:
		return report, &NewerReportError{head.Version}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return report, fmt.Errorf("the JSON cannot be read: %w", err)
	}
	for i := range report.Runs {
		if err := report.Runs[i].sane(); err != nil {
			return report, fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return report, nil
}

// mostCounted is more than any run can count; sums of such counts cannot
// overflow.
const mostCounted = 1 << 39

// sane says what in a run that came from a file cannot be.
func (r *Run) sane() error {
	r.Label = OneLine(r.Label)
	for _, n := range []int64{r.Characters, r.Events, r.Steps.Zero, r.Steps.Backward, r.Steps.Stale, r.Table.Over} {
		if n < 0 || n > mostCounted {
			return fmt.Errorf("a count of %d", n)
		}
	}
	for _, n := range []*int64{r.Sent, r.Lost, r.BeforeStart, r.Duplicated, r.Extra, r.Corrupted, r.Late.Count,
		r.Errors.Framing, r.Errors.Parity, r.Errors.Overrun, r.Errors.Break, r.FloorNS, r.Late.ByNS} {
		if n != nil && (*n < 0 || *n > mostCounted) {
			return fmt.Errorf("a count of %d", *n)
		}
	}
	if s := r.Late.Share; s != nil && (*s < 0 || *s > 1) {
		return fmt.Errorf("a late share of %g", *s)
	}
	for _, d := range []*Dist{r.Interval, r.Lateness} {
		if d != nil && (d.Count < 0 || d.Count > mostCounted) {
			return fmt.Errorf("a count of %d", d.Count)
		}
	}
	if err := r.Table.sane(); err != nil {
		return err
	}
	return r.intervalsAgree()
}

// intervalsAgree holds the identity of Check that a report never breaks; a
// broken balance is a finding of its run.
func (r *Run) intervalsAgree() error {
	only := *r
	only.Sent = nil
	return only.Check()
}

func (t *TableData) sane() error {
	if len(t.Rows) == 0 {
		return nil
	}
	kind, most := "bin", int64(Longest)
	if t.TickHz != nil {
		kind, most = "tick", int64(Longest/1e6)+1
		if *t.TickHz < 1 || *t.TickHz > 1e6 {
			return fmt.Errorf("a tick of %d Hz", *t.TickHz)
		}
	} else if t.BinNS < int64(MinBin) || t.BinNS > int64(Longest) {
		return fmt.Errorf("a bin of %d ns", t.BinNS)
	} else {
		most = most/t.BinNS + 1
	}
	before := int64(-1)
	for _, row := range t.Rows {
		if row.Key <= before || row.Key > most || row.Count < 1 || row.Count > mostCounted {
			return fmt.Errorf("a row %d with %d in a table of %ss", row.Key, row.Count, kind)
		}
		before = row.Key
	}
	return nil
}

// Coarser gives the table with wider rows, ok is false where that needs to cut
// a row in two: only an odd multiple of the bin has its edges on edges.
func (t *TableData) Coarser(binNS int64) (c TableData, ok bool) {
	if t.TickHz != nil || t.BinNS <= 0 || binNS%t.BinNS != 0 || binNS/t.BinNS%2 == 0 {
		return TableData{}, false
	}
	m := binNS / t.BinNS
	c = TableData{BinNS: binNS, Over: t.Over, Rows: RowsJSON{}}
	for _, row := range t.Rows {
		k := (row.Key + m/2) / m // row K holds the m rows around K·m
		if n := len(c.Rows); n > 0 && c.Rows[n-1].Key == k {
			c.Rows[n-1].Count += row.Count
			continue
		}
		c.Rows = append(c.Rows, Row{k, row.Count})
	}
	return c, true
}
