package load

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// fakeDisk is a disk of total bytes of which others have used some.
type fakeDisk struct {
	total, used, file int64
	fails             error
	writes            int
}

func (d *fakeDisk) WriteAt(b []byte, off int64) (int, error) {
	d.writes++
	if end := off + int64(len(b)); end > d.file {
		if d.fails != nil {
			return 0, d.fails
		}
		d.file = end
	}
	return len(b), nil
}

func (d *fakeDisk) free() (int64, int64, error) { return d.total - d.used - d.file, d.total, nil }

func TestDiskWriterStopsGrowing(t *testing.T) {
	for _, c := range []struct {
		name         string
		total, used  int64
		size, record int64
		want         int64 // the file's end; 0: it does not start
		note         string
	}{
		{"its size", 1000, 0, 100, 30, 100, ""},
		{"its size, whole records", 1000, 0, 90, 30, 90, ""},
		{"a tenth stays free", 1000, 500, 1000, 30, 390, "stopped growing at 390 of 1000"},
		{"the last tenth is not touched", 1000, 900, 100, 10, 0, ""},
		{"to the byte", 1000, 890, 100, 10, 10, "stopped growing at 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := &fakeDisk{total: c.total, used: c.used}
			var notes []string
			started := 0
			d := &diskWriter{
				file: disk, size: c.size, record: make([]byte, c.record), free: disk.free,
				note:  func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) },
				first: func() { started++ },
			}
			for range 100 {
				if err := d.write(); err != nil {
					if c.want != 0 || !errors.Is(err, errDiskFull) {
						t.Fatal(err)
					}
					return
				}
			}
			if disk.file != c.want || disk.writes < 90 || started != 1 {
				t.Errorf("the file is %d after %d writes, want %d; started %d times", disk.file, disk.writes, c.want, started)
			}
			if free := c.total - c.used - disk.file; free < c.total/keepFree {
				t.Errorf("only %d of %d are free", free, c.total)
			}
			if text := strings.Join(notes, "; "); (text == "") != (c.note == "") || !strings.Contains(text, c.note) || len(notes) > 1 {
				t.Errorf("notes %q, want %q once", notes, c.note)
			}
		})
	}
}

func TestDiskWriterEndsWithOtherErrors(t *testing.T) {
	disk := &fakeDisk{total: 1000, fails: errors.New("broken")}
	d := &diskWriter{file: disk, size: 100, record: make([]byte, 10), free: disk.free}
	if err := d.write(); err == nil || err.Error() != "broken" {
		t.Errorf("%v", err)
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var e tail
	for i := range 1000 {
		fmt.Fprintf(&e, "line %d\x1b[31m %s\n\n", i, strings.Repeat("x", i))
	}
	fmt.Fprint(&e, "no end")
	lines, dropped := e.take()
	if len(lines) != tailLines || lines[tailLines-1] != "no end" || !strings.HasPrefix(lines[0], "line 991[31m xxx") {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if len(l) > tailWidth+len("…") || strings.ContainsAny(l, "\x1b\n") {
			t.Errorf("kept %q", l)
		}
	}
	if dropped < 400000 {
		t.Errorf("dropped %d", dropped)
	}
}
