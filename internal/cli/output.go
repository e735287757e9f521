package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Forms are the ways to write one result.
type Forms struct {
	Text, JSON, CSV func(io.Writer) error
}

// Write writes the files that were asked for, then to stdout the text, unless
// JSON or CSV take its place: whoever closes stdout has the files all the same.
// The first error is given, when all has been tried.
func (r *ReportFlags) Write(stdout io.Writer, f Forms) error {
	err := writeTo(r.JSON, f.JSON)
	if failed := writeTo(r.CSV, f.CSV); err == nil {
		err = failed
	}
	out := f.Text
	switch {
	case r.JSON == "-":
		out = f.JSON
	case r.CSV == "-":
		out = f.CSV
	}
	if failed := out(stdout); failed != nil && err == nil {
		err = WithHint(fmt.Errorf("write the report: %w", failed), "see where standard output goes: it is full or closed")
	}
	return err
}

// writeTo writes to a file, unless that is "-" or "".
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return WithHint(err, "give a file in a folder that you may write to")
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return WithHint(fmt.Errorf("write %s: %w", path, err), "free some space, or give another file")
	}
	return nil
}

// Distinct refuses two files that are the same, whatever they are called: an
// output would take the place of another, or of the input.
func Distinct(outputs []string, inputs ...string) error {
	for i, a := range outputs {
		for _, b := range append(outputs[:i:i], inputs...) {
			if a == "" || a == "-" || b == "" || b == "-" {
				continue
			}
			x, err1 := os.Stat(a)
			y, err2 := os.Stat(b)
			same := filepath.Clean(a) == filepath.Clean(b) || err1 == nil && err2 == nil && os.SameFile(x, y)
			if same && (err1 != nil || x.Mode().IsRegular()) {
				return Misuse("give each a file of its own", "%s would be read and written, or written twice", a)
			}
		}
	}
	return nil
}

// CheckOutputs finds out before anything is opened whether the files of the
// report can be written.
func (r *ReportFlags) CheckOutputs() error {
	for _, path := range []string{r.JSON, r.CSV} {
		if err := Writable(path); err != nil {
			return err
		}
	}
	return nil
}

// Writable finds out whether a file can be written, without changing it: what
// it holds may be the run before, and this one may not begin.
func Writable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	st, missing := os.Stat(path)
	if missing == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil // opening a pipe would wait for its reader
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return WithHint(err, "give a file in a folder that you may write to")
	}
	f.Close()
	if missing != nil {
		os.Remove(path)
	}
	return nil
}
