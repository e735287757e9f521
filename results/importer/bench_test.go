package importer

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The benchmarks read a generated file from the disk's cache, as the other
// program does: rows (or packets) per second, and with -v the ratio to the
// best of five runs of that program on the same file.
//
//	go test -run '^$' -bench . -benchtime 5x ./results/importer

const benchRows = 3_000_000

func BenchmarkSaleae(b *testing.B) {
	path := benchFile(b, "saleae.csv", saleaeRow("name,type,start_time,duration,\"data\"\n"))
	benchmark(b, path, benchRows, "mawk", "-F,", "{s+=$3-p;p=$3}END{print s}", path)
}

func BenchmarkPcapng(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rtac.pcapng")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const packets = 1_000_000
	if err := writeBenchPcapng(f, packets); err != nil {
		b.Fatal(err)
	}
	benchmark(b, path, packets, "tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch")
}

func saleaeRow(header string) func(w *bytes.Buffer, i int) {
	return func(w *bytes.Buffer, i int) {
		if i == 0 {
			w.WriteString(header)
		}
		ns := int64(i)*86806 + int64(i*7919%2000)
		fmt.Fprintf(w, "\"Async 1\",\"data\",%d.%09d,0.000082464,0x%02X\n", ns/1e9, ns%1e9, i&255)
	}
}

func benchFile(b *testing.B, name string, row func(*bytes.Buffer, int)) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var w bytes.Buffer
	for i := range benchRows {
		row(&w, i)
		if w.Len() > 1<<20 {
			f.Write(w.Bytes())
			w.Reset()
		}
	}
	if _, err := f.Write(w.Bytes()); err != nil {
		b.Fatal(err)
	}
	return path
}

func benchmark(b *testing.B, path string, rows int, program string, args ...string) {
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		if n := countEvents(b, path); n != rows {
			b.Fatalf("%d events, want %d", n, rows)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(rows)/best.Seconds()/1e6, "best-Mrows/s")
	if _, err := exec.LookPath(program); err != nil {
		b.Logf("NO COMPARISON: %s is not installed", program)
		return
	}
	other := time.Hour
	for range 5 {
		cmd := exec.Command(program, args...)
		cmd.Stdout = io.Discard
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatalf("%s: %v", program, err)
		}
		other = min(other, time.Since(start))
	}
	b.ReportMetric(other.Seconds()/best.Seconds(), "times-"+program)
}

func countEvents(b *testing.B, path string) int {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s, err := Open(f, path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for {
		if _, err := s.Next(); err == io.EOF {
			return n
		} else if err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func writeBenchPcapng(w io.Writer, n int) error {
	p := NewPcapngWriter(w)
	for i := range n {
		if err := p.Write(int64(i)*86806, []byte{byte(i)}, 0); err != nil {
			return err
		}
	}
	return p.Close()
}
