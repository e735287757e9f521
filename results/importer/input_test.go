package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"serialtiming/results"
)

// pipe hides that a reader could seek.
type pipe struct{ io.Reader }

// A file gives the same however it is packed and handed over.
func TestSameHoweverPacked(t *testing.T) {
	for _, name := range []string{"saleae.csv", "strace_ttt.log", "tio.log", "socat_backlog.log"} {
		plain, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want := eventsOf(t, bytes.NewReader(plain))
		for packed, r := range map[string]io.Reader{
			"gzip": bytes.NewReader(gzipped(t, plain)), "zstd": bytes.NewReader(zstandard(t, plain)),
			"pipe": pipe{bytes.NewReader(plain)}, "gzip on a pipe": pipe{bytes.NewReader(gzipped(t, plain))},
			"UTF-16LE":                bytes.NewReader(utf16(t, plain, unicode.LittleEndian, unicode.ExpectBOM)),
			"UTF-16BE":                bytes.NewReader(utf16(t, plain, unicode.BigEndian, unicode.ExpectBOM)),
			"UTF-16LE without a mark": bytes.NewReader(utf16(t, plain, unicode.LittleEndian, unicode.IgnoreBOM)),
			"CRLF":                    bytes.NewReader(bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))),
			"no last line end":        bytes.NewReader(bytes.TrimSuffix(plain, []byte("\n"))),
			"one byte at a time":      &oneByte{plain},
		} {
			if got := eventsOf(t, r); got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", name, packed, got, want)
			}
		}
	}
}

type oneByte struct{ rest []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		return 0, io.EOF
	}
	p[0] = o.rest[0]
	o.rest = o.rest[1:]
	return 1, nil
}

func eventsOf(t *testing.T, r io.Reader) string {
	t.Helper()
	s, err := Open(r, "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for {
		e, err := s.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.Join([]string{s.Step().String(), e.Flags.String(), string(e.Bytes)}, " "))
		b.WriteByte('\n')
	}
}

func gzipped(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return out.Bytes()
}

func zstandard(t testing.TB, b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

func utf16(t testing.TB, b []byte, order unicode.Endianness, mark unicode.BOMPolicy) []byte {
	out, err := unicode.UTF16(order, mark).NewEncoder().Bytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTornGzip(t *testing.T) {
	plain, _ := os.ReadFile("testdata/saleae.csv")
	plain = append(plain, bytes.Repeat(plain[len(plain)/2:], 50)...)
	z := gzipped(t, plain)
	s, err := Open(bytes.NewReader(z[:len(z)-12]), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t, s)
	if err != nil || got.events == 0 || len(got.report.Warnings) == 0 {
		t.Errorf("%d events, error %v, warnings %q", got.events, err, got.report.Warnings)
	}
}

func TestOwnLog(t *testing.T) {
	_, err := Open(strings.NewReader("# serialtiming log 1\n# port: x\nrun,arrived_ns,byte,batch,flags\n1,5,20,1,\n"), "x", Options{})
	if !errors.Is(err, ErrOwnLog) {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"no format is called":  {Format: "nonsense"},
		"must be positive":     {SampleRate: -1},
		"counted from 1":       {TimeColumn: -1},
		"the time unit is":     {TimeUnit: "days"},
		"no column start_time": {Format: "saleae"},
	} {
		if _, err := Open(strings.NewReader("x\n"), "x", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

func TestMoreThanHalfUnreadable(t *testing.T) {
	text := "name,start_time\nA,0.001\nA,0.002\nA,x\nA,x\nA,x\nA,x\n"
	s, err := Open(strings.NewReader(text), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(t, s)
	var r *Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Why, "4 of 7") || !strings.Contains(r.Why, "x:4: ") {
		t.Errorf("%v", err)
	}
}

// A file of 100 MB takes no more memory than a small one.
func TestConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: long")
	}
	row := []byte("\"Async 1\",\"data\",0.000592672,0.000082464,0x31\n")
	r := io.MultiReader(strings.NewReader("name,type,start_time,duration,\"data\"\n"), io.LimitReader(&repeat{row: row}, 100<<20))
	s, err := Open(r, "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for {
		if _, err := s.Next(); err != nil {
			break
		}
		n++
	}
	runtime.ReadMemStats(&after)
	if n < 2000000 {
		t.Fatalf("only %d events", n)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated for %d events", grown, n)
	}
}

type repeat struct {
	row  []byte
	rest []byte
}

func (r *repeat) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		r.rest = r.row
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// What the writer wrote, tshark shows: link type, direction, error, bytes.
func TestPcapngInTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("NOT RUN: tshark is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.pcapng")
	if err := os.WriteFile(path, rtacSample(t), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch",
		"-e", "rtacser.eventtype", "-e", "data.data", "-e", "_ws.malformed").Output()
	if err != nil {
		t.Fatal(err)
	}
	const want = `1796039122.000000000	0x02	41
1796039122.005000123	0x02	42
1796039122.005000123	0x07
1796039122.010000246	0x02	43
1796039122.015000369	0x02	44
1796039122.015000369	0x08
1796039122.015000369	0x09
1796039122.020000492	0x02	45
1796039122.020000492	0x0a
`
	var got strings.Builder
	for line := range strings.Lines(string(out)) {
		got.WriteString(strings.TrimRight(line, "\t\n") + "\n")
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// The writer's file reads back as what was written.
func TestPcapngRoundTrip(t *testing.T) {
	s, err := Open(bytes.NewReader(rtacSample(t)), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []results.Event{
		{At: 0, Bytes: []byte("A")}, {At: 5000123, Bytes: []byte("B"), Flags: results.Framing},
		{At: 10000246, Bytes: []byte("C")}, {At: 15000369, Bytes: []byte("D"), Flags: results.Parity | results.Break},
		{At: 20000492, Bytes: []byte("E"), Flags: results.Overrun},
	}
	for _, w := range want {
		e, err := s.Next()
		if err != nil || e.At != w.At || !bytes.Equal(e.Bytes, w.Bytes) || e.Flags != w.Flags {
			t.Errorf("%+v, %v; want %+v", e, err, w)
		}
	}
	if _, err := s.Next(); err != io.EOF {
		t.Error(err)
	}
}

// The table of formats is what --formats prints: nothing in it may be missing.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Example == "" || seen[f.Name] {
			t.Errorf("%+v: no name, no example or twice", f)
		}
		seen[f.Name] = true
		im := lookup(f.Name)
		if (im.open == nil) != (f.Refused != "") || (im.histogram != nil) != (f.Class == ClassHistogram) ||
			im.open != nil && (f.TimeSource == "" || f.Quantum == "") {
			t.Errorf("%s: what it says and what it does differ", f.Name)
		}
	}
}
