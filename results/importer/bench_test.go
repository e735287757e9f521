package importer

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// The benchmarks are for profiles; `make bench` measures the whole receiver
// beside other programs.
//
//	go test -run '^$' -bench . -cpu 1 -cpuprofile cpu.out ./results/importer

const benchRows = 1_000_000

func BenchmarkSaleae(b *testing.B) {
	var file bytes.Buffer
	file.WriteString("name,type,start_time,duration,\"data\"\n")
	for i := range benchRows {
		ns := int64(i)*86806 + int64(i*7919%2000)
		fmt.Fprintf(&file, "\"Async 1\",\"data\",%d.%09d,0.000082464,0x%02X\n", ns/1e9, ns%1e9, i&255)
	}
	benchmark(b, file.Bytes())
}

func BenchmarkPcapng(b *testing.B) {
	var file bytes.Buffer
	p := NewPcapngWriter(&file)
	for i := range benchRows {
		if err := p.Write(int64(i)*86806, []byte{byte(i)}, 0); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		b.Fatal(err)
	}
	benchmark(b, file.Bytes())
}

func benchmark(b *testing.B, file []byte) {
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		s, err := Open(bytes.NewReader(file), "x", Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = s.Next()
		}
		if err != io.EOF || n-1 != benchRows {
			b.Fatalf("%d events, %v", n-1, err)
		}
	}
	b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
