package results

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// Keys that repeat without end must not become memory: a thousand items of the
// log and of each run are given, the others are counted as bad lines.
func TestItemsHaveAnEnd(t *testing.T) {
	var log strings.Builder
	log.WriteString("# serialtiming log 1\n")
	for i := range 1500 {
		fmt.Fprintf(&log, "# granted: item %d\n# run 1 granted: item %d\n# end 1 changed: %d\n", i, i, i)
	}
	log.WriteString("# run 2 label: another\n# run 2 label: " + strings.Repeat("x", 17<<10) + "\n# mark 5: here\n")
	l, err := NewLogReader(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]int{}
	for {
		_, item, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		given[fmt.Sprintf("%d of run %d", item.Section, item.Run)]++
	}
	want := map[string]int{"0 of run 0": 1000, "1 of run 1": 500, "2 of run 1": 500, "1 of run 2": 1, "3 of run 0": 1}
	if fmt.Sprint(given) != fmt.Sprint(want) {
		t.Errorf("given %v, want %v", given, want)
	}
	if bad, lines := l.Bad(); bad != 500+2000+1 || len(lines) != 10 {
		t.Errorf("%d bad lines, %d shown; want 2501 and 10", bad, len(lines))
	}
}

// Two logs in one file are two clocks: they are not read as one.
func TestAnotherLogIsNotReadOn(t *testing.T) {
	const log = "# serialtiming log 1\nrun,arrived_ns\n1,5\n1,6\n"
	l, err := NewLogReader(strings.NewReader(log + log))
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := l.Next()
	if len(rows) != 2 || err != nil {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for range 2 {
		if rows, item, err := l.Next(); rows != nil || item != nil || err == nil || !strings.Contains(err.Error(), "line 5") {
			t.Errorf("%v %v %v", rows, item, err)
		}
	}
}
