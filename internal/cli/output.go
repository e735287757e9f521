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

// Write writes the text to stdout unless JSON or CSV take its place, and the
// files that were asked for.
func (r *ReportFlags) Write(stdout io.Writer, f Forms) error {
	if r.JSON != "-" && r.CSV != "-" {
		if err := f.Text(stdout); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	if err := writeTo(r.JSON, stdout, f.JSON); err != nil {
		return err
	}
	return writeTo(r.CSV, stdout, f.CSV)
}

// writeTo writes to a file, or to stdout for "-", or nothing for "".
func writeTo(path string, stdout io.Writer, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(stdout)
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
