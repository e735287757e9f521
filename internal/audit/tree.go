package audit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// tree reads what Linux shows in files below a root, "/" on a real machine. It
// is built everywhere, so that it is tested everywhere.
type tree struct{ root string }

// path gives where a file of the tree is.
func (t tree) path(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// bytes reads a whole file of at most 4 MiB; ok is false if it cannot be read.
func (t tree) bytes(name string) (b []byte, ok bool) {
	const most = 4 << 20
	b, err := os.ReadFile(t.path(name))
	if err != nil || len(b) > most {
		return nil, false
	}
	return b, true
}

// line reads the first line of a file, cleaned of what does not print.
func (t tree) line(name string) (string, bool) {
	b, ok := t.bytes(name)
	if !ok {
		return "", false
	}
	s, _, _ := strings.Cut(string(b), "\n")
	return cleaned(s), true
}

// number reads a decimal number.
func (t tree) number(name string) (int64, bool) {
	s, ok := t.line(name)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, ok && err == nil
}

// glob gives the names in the tree that match, without the root.
func (t tree) glob(pattern string) []string {
	found, _ := filepath.Glob(t.path(pattern))
	for i, f := range found {
		if rel, err := filepath.Rel(t.root, f); err == nil {
			found[i] = filepath.ToSlash(rel)
		}
	}
	return found
}

// cleaned keeps what prints of a text that a device or firmware has written.
func cleaned(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}
