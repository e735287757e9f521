package qemu

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"serialtiming/internal/rig/qemu/script"
)

// Outcome is what a guest brought back.
type Outcome struct {
	Name    string
	Took    time.Duration // of host time, boot included
	CPU     time.Duration // of the host's processors
	Console string
	Files   map[string][]byte // what programs wrote to /out, and their outputs
	Steps   []script.Result
}

// readOutcome reads the tar that the guest sent; a torn one gives what is
// whole, and an error.
func readOutcome(path string) (*Outcome, error) {
	o := &Outcome{Files: map[string][]byte{}}
	f, err := os.Open(path)
	if err != nil {
		return o, err
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return o, fmt.Errorf("results: %w", err)
		}
		if o.Files[h.Name], err = io.ReadAll(r); err != nil {
			return o, fmt.Errorf("results: %s: %w", h.Name, err)
		}
	}
	if o.Files["steps.json"] == nil {
		return o, errors.New("results: the guest brought back no record (see its console)")
	}
	return o, json.Unmarshal(o.Files["steps.json"], &o.Steps)
}

// Step finds the step with this verb and name (of a program, a value or a
// path), the first of several.
func (o *Outcome) Step(do, name string) (script.Result, error) {
	for _, r := range o.Steps {
		if r.Step.Do == do && (r.Step.Name == name || r.Step.Name == "" && r.Step.Path == name) {
			if r.Err != "" {
				return r, fmt.Errorf("%s %s: %s", do, name, r.Err)
			}
			return r, nil
		}
	}
	return script.Result{}, fmt.Errorf("%s %s: the guest did not come so far", do, name)
}

// Counters gives the counts that a step recorded under a name.
func (o *Outcome) Counters(name string) (c script.Counters, err error) {
	r, err := o.Step("count", name)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal([]byte(r.Value), &c)
}

// String is the whole story of a guest, for a scenario that failed.
func (o *Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "guest %s, %.1f s\n--- console\n%s", o.Name, o.Took.Seconds(), lastLines(o.Console, 60))
	for _, r := range o.Steps {
		fmt.Fprintf(&b, "--- %9.3f s %s %s%s %v: %q %s\n", float64(r.From)/1e9,
			r.Step.Do, r.Step.Name, r.Step.Path, r.Step.Args, clip(r.Value), r.Err)
	}
	names := make([]string, 0, len(o.Files))
	for n := range o.Files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if strings.HasSuffix(n, ".stdout") || strings.HasSuffix(n, ".stderr") {
			fmt.Fprintf(&b, "--- %s\n%s", n, lastLines(string(o.Files[n]), 60))
		}
	}
	return b.String()
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// lastLines ends with a line feed unless empty.
func lastLines(s string, n int) string {
	lines := slices.Collect(strings.Lines(s))
	if len(lines) > n {
		lines = append([]string{"…\n"}, lines[len(lines)-n:]...)
	}
	s = strings.Join(lines, "")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
