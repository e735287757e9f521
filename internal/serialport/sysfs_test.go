package serialport

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fakeTree makes testdata/sysfs.txt real.
func fakeTree(t *testing.T) sysfs {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED on Windows: sysfs has names with colons and is made of links")
	}
	top := t.TempDir()
	text, err := os.ReadFile("testdata/sysfs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if err := plant(top, strings.TrimSuffix(line, "\n")); err != nil {
			t.Fatal(err)
		}
	}
	return sysfs{sys: filepath.Join(top, "sys"), dev: filepath.Join(top, "dev")}
}

func plant(top, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	path, content, isFile := strings.Cut(line, " =")
	if !isFile {
		path, content, _ = strings.Cut(line, " -> ")
	}
	full := filepath.Join(top, path)
	if strings.HasSuffix(path, "/") {
		return os.MkdirAll(full, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if !isFile {
		return os.Symlink(content, full)
	}
	s, err := strconv.Unquote(`"` + strings.TrimPrefix(content, " ") + `\n"`)
	if err != nil {
		return err
	}
	return os.WriteFile(full, []byte(s), 0o644)
}

func TestSysfsList(t *testing.T) {
	s := fakeTree(t)
	got, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b Info) int { return compareNames(a.Name, b.Name) })
	dev := func(name string) string { return filepath.Join(s.dev, name) }
	want := []Info{
		{Name: dev("ttyACM2"), Driver: "cdc_acm", USB: "2341:0043", LatencyTimer: -1},
		{Name: dev("ttyACM10"), Driver: "cdc_acm", USB: "2341:0043", LatencyTimer: -1},
		{Name: dev("ttyS1"), Driver: "serial", UART: "16550A", TriggerBytes: 8, LatencyTimer: -1},
		{Name: dev("ttyUSB0"), Driver: "ftdi_sio", USB: "0403:6001", Serial: "A6008isP",
			Manufacturer: "FTDI", Product: "[31mFT232R USB UART", LatencyTimer: 16},
	}
	if len(got) != len(want) {
		t.Fatalf("%d ports: %+v", len(got), got)
	}
	for k := range want {
		if !equalInfo(got[k], want[k]) {
			t.Errorf("got  %+v\nwant %+v", got[k], want[k])
		}
	}
}

func equalInfo(a, b Info) bool {
	if len(a.Warnings)+len(b.Warnings) > 0 {
		return false
	}
	a.Warnings, b.Warnings = nil, nil
	return a.Name == b.Name && a.Virtual == b.Virtual && a.Driver == b.Driver && a.UART == b.UART &&
		a.USB == b.USB && a.Serial == b.Serial && a.Manufacturer == b.Manufacturer &&
		a.Product == b.Product && a.LatencyTimer == b.LatencyTimer && a.TriggerBytes == b.TriggerBytes
}

func TestCompareNames(t *testing.T) {
	names := []string{"COM10", "COM2", "/dev/ttyUSB0", "/dev/ttyS10", "/dev/ttyS9", "COM"}
	slices.SortFunc(names, compareNames)
	want := []string{"/dev/ttyS9", "/dev/ttyS10", "/dev/ttyUSB0", "COM", "COM2", "COM10"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
