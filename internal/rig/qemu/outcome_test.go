package qemu

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// results writes a guest's tar, cut to a length (0: whole).
func results(t *testing.T, files map[string]string, cut int) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	if cut > 0 {
		out = out[:cut]
	}
	path := filepath.Join(t.TempDir(), "results.tar")
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const record = `[{"step":{"do":"start","name":"x","args":["/bin/x"]},"value":"42"},` +
	`{"step":{"do":"wait","name":"x"},"value":"timeout","err":"did not happen in time"},` +
	`{"step":{"do":"count","name":"before","path":"/dev/ttyS1"},"value":"{\"RX\":7,\"Overrun\":1}"}]`

func TestReadOutcome(t *testing.T) {
	o, err := readOutcome(results(t, map[string]string{"steps.json": record, "x.stderr": "boom"}, 0))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := o.Step("start", "x"); err != nil || r.Value != "42" {
		t.Errorf("start x: %q, %v", r.Value, err)
	}
	if _, err := o.Step("wait", "x"); err == nil {
		t.Error("a step that failed gave no error")
	}
	if _, err := o.Step("wait", "y"); err == nil {
		t.Error("a step that was not done gave no error")
	}
	if c, err := o.Counters("before"); err != nil || c.RX != 7 || c.Overrun != 1 {
		t.Errorf("counters %+v, %v", c, err)
	}
	for _, want := range []string{"did not happen in time", "boom", "/bin/x"} {
		if !strings.Contains(o.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, o)
		}
	}
}

func TestReadOutcomeIncomplete(t *testing.T) {
	tests := []struct {
		name string
		path string
	}{
		{"no file", filepath.Join(t.TempDir(), "none")},
		{"no record", results(t, map[string]string{"x.stderr": "boom"}, 0)},
		{"torn", results(t, map[string]string{"x.stderr": strings.Repeat("x", 5000)}, 1000)},
	}
	for _, tt := range tests {
		if o, err := readOutcome(tt.path); err == nil || o == nil {
			t.Errorf("%s: outcome %v, error %v; want both", tt.name, o, err)
		}
	}
}
