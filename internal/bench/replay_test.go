package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatchPrintsTheRatioOrWhatIsMissing(t *testing.T) {
	nothing, err := exec.LookPath("true")
	if err != nil {
		t.Skip("NOT RUN: no program true here")
	}
	for _, tt := range []struct{ theirs, want string }{
		{"true", "of its speed"},
		{"no-such-program", "no comparison: no-such-program is not installed (build it)"},
	} {
		file := filepath.Join(t.TempDir(), "file")
		m := match{what: "a file", unit: "rows", count: 1000, theirs: []string{tt.theirs}, hint: "build it",
			write: func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }}
		var out bytes.Buffer
		if err := m.play(nothing, file, 2, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tt.want) || !strings.Contains(out.String(), "a file of 1000 rows on one processor, best of 2") {
			t.Errorf("%s", out.String())
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the file is left behind")
		}
	}
}
