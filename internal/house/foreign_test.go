package house

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runsOf gives the runs of a JSON report without what a run log does not keep:
// remarks on the file.
func runsOf(t *testing.T, b []byte) string {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	for _, run := range r["runs"].([]any) {
		delete(run.(map[string]any), "warnings")
	}
	return fmt.Sprint(r)
}

// TestForeignLogsBecomeRunLogs replays every sample of the importers, writes
// it as a run log and as packets, and replays those.
func TestForeignLogsBecomeRunLogs(t *testing.T) {
	samples, err := filepath.Glob("../../results/importer/testdata/*")
	if err != nil || len(samples) < 20 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	replayed := 0
	for _, sample := range samples {
		if st, err := os.Stat(sample); err != nil || st.IsDir() || strings.HasPrefix(filepath.Base(sample), "golden") {
			continue
		}
		t.Run(filepath.Base(sample), func(t *testing.T) {
			log, packets := filepath.Join(t.TempDir(), "run.csv"), filepath.Join(t.TempDir(), "run.pcapng")
			first := start(t, "receiver", "replay", sample, "--json", "-", "--log", log, "--pcapng", packets)
			if s := first.wait(); s != 0 {
				if e := first.stderr.String(); s != 1 || !strings.Contains(e, ": error: ") || !strings.Contains(e, ": hint: ") {
					t.Errorf("status %d: %s", s, e)
				}
				return // a refusal, with what to do about it
			}
			replayed++
			identities(t, parse(t, first.stdout.Bytes()))
			again := start(t, "receiver", "replay", log, "--json", "-")
			if s := again.wait(); s != 0 {
				t.Fatalf("status %d: %s", s, again.stderr.String())
			}
			if a, b := runsOf(t, first.stdout.Bytes()), runsOf(t, again.stdout.Bytes()); a != b {
				t.Errorf("the run log gives another report:\n%s\n%s", a, b)
			}
			wire := start(t, "receiver", "replay", packets, "--json", "-")
			if s := wire.wait(); s != 0 {
				t.Fatalf("the packets: status %d: %s", s, wire.stderr.String())
			}
			if a, b := parse(t, first.stdout.Bytes()).Runs[0], parse(t, wire.stdout.Bytes()).Runs[0]; a.Characters != b.Characters {
				t.Errorf("%d characters became %d", a.Characters, b.Characters)
			}
		})
	}
	if replayed < 15 {
		t.Errorf("only %d samples replayed", replayed)
	}
}
