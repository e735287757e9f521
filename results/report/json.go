package report

import (
	"encoding/json"
	"io"

	"serialtiming/results"
)

// JSON writes the report for programs, in the form that results.Report
// documents, with a line end behind it.
func JSON(w io.Writer, r results.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
