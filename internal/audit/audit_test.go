package audit

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"serialtiming/internal/serialport"
)

var update = flag.Bool("update", false, "write the golden files")

// planted makes testdata/NAME.txt real.
func planted(t *testing.T, name string) tree {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED on Windows: the tree has names with colons and is made of links")
	}
	top := t.TempDir()
	text, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if err := plant(top, strings.TrimSuffix(line, "\n")); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return tree{top}
}

func plant(top, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	path, rest, _ := strings.Cut(line, " ")
	kind, content, _ := strings.Cut(rest, " ")
	full := filepath.Join(top, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if kind == "->" {
		return os.Symlink(content, full)
	}
	s, err := strconv.Unquote(`"` + content + `\n"`)
	if err != nil {
		return err
	}
	b := []byte(s)
	if kind == "gz" {
		b = gzipped(s)
	}
	return os.WriteFile(full, b, 0o644)
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.Bytes()
}

func TestTreesAreJudged(t *testing.T) {
	for _, c := range []struct {
		tree  string
		facts kernelFacts
		ports []serialport.Info
	}{
		{"server", kernelFacts{tickNS: 4e6, resolutionNS: 1}, []serialport.Info{
			{Name: "/dev/ttyS0", Driver: "serial", UART: "16450", TriggerBytes: 8, LatencyTimer: -1},
			{Name: "/dev/ttyUSB0", Driver: "ftdi_sio", USB: "0403:6001", Manufacturer: "FTDI", LatencyTimer: 16},
		}},
		{"realtime", kernelFacts{}, []serialport.Info{
			{Name: "/dev/ttyS1", Driver: "serial", UART: "16550A", TriggerBytes: 1, LatencyTimer: -1},
		}},
		{"nothing", kernelFacts{}, []serialport.Info{{Name: "/dev/ttyX", LatencyTimer: -1}}},
	} {
		t.Run(c.tree, func(t *testing.T) {
			here := planted(t, c.tree)
			var out bytes.Buffer
			Text(&out, Sorted(append(append(here.kernel(c.facts), here.cpus()...), here.machine()...)))
			for _, p := range c.ports {
				out.WriteString("\n" + p.Name + "\n")
				Text(&out, Sorted(append(portItems(p), here.port(p.Name)...)))
			}
			golden(t, c.tree, out.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s (%v)", got, want, err)
	}
}

// wellFormed says what is wrong with an item, "" if nothing.
func wellFormed(i Item) string {
	for _, s := range []string{i.Area, i.Name, i.Value, i.Effect, i.Remedy} {
		if s != cleaned(s) {
			return "holds what does not print"
		}
	}
	switch {
	case i.Area == "" || i.Name == "" || i.Value == "":
		return "lacks its area, name or value"
	case i.Effect == "":
		return "does not say what it does to timing"
	case i.Level > Green && i.Remedy == "":
		return "is not green and says nothing of what to do"
	}
	return ""
}

func TestThisMachine(t *testing.T) {
	items := System()
	if runtime.GOOS == "linux" && len(items) < 5 {
		t.Errorf("only %d items", len(items))
	}
	for k, i := range items {
		if why := wellFormed(i); why != "" {
			t.Errorf("%+v %s", i, why)
		}
		if k > 0 && i.Level > items[k-1].Level {
			t.Errorf("%s item %q behind a %s one", i.Level, i.Name, items[k-1].Level)
		}
	}
	for _, i := range Port(serialport.Info{Name: "/dev/does-not-exist", LatencyTimer: -1}) {
		if why := wellFormed(i); why != "" {
			t.Errorf("%+v %s", i, why)
		}
	}
}

func TestPortOfACable(t *testing.T) {
	info, ok := Find("cable:a")
	items := Port(info)
	if !ok || len(items) != 1 || items[0].Level != Green || wellFormed(items[0]) != "" {
		t.Errorf("%v %+v", ok, items)
	}
	if _, ok := Find("/dev/does-not-exist"); ok {
		t.Error("a port that is not there was found")
	}
}

func TestLevelsInOrder(t *testing.T) {
	items := Sorted([]Item{{Name: "a"}, {Name: "b", Level: Red}, {Name: "c", Level: Yellow}, {Name: "d", Level: Red}, {Name: "e"}})
	var names string
	for _, i := range items {
		names += i.Name
	}
	if names != "bdcae" {
		t.Errorf("%s", names)
	}
	for l, want := range map[Level]string{Green: "green", Yellow: "yellow", Red: "red", 7: "red", -1: "green"} {
		if l.String() != want {
			t.Errorf("%d is %s", l, l)
		}
	}
}
