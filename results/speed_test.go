package results

import (
	"bytes"
	"io"
	"testing"
	"time"
)

func sampleLog(n int64) []byte {
	var log bytes.Buffer
	w := NewLogWriter(&log, ReceiverColumns)
	for i := range n {
		w.Row(LogRow{Run: 1, Arrived: i*5_000_000 + i*7919%50_000, Byte: int16(' ' + i%95), Batch: 1})
	}
	w.Flush()
	return log.Bytes()
}

func BenchmarkLogReader(b *testing.B) {
	const n = 1 << 20
	log := sampleLog(n)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		l, err := NewLogReader(bytes.NewReader(log))
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for {
			r, _, err := l.Next()
			if err == io.EOF {
				break
			}
			rows += len(r)
		}
		if rows != n {
			b.Fatal(rows)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

func BenchmarkTally(b *testing.B) {
	t := NewTally(TallyOptions{Table: TableKind{Bin: time.Millisecond}, PeriodNS: 5e6, Announced: 5e6, Grid: true})
	i := int64(0)
	for b.Loop() {
		at := i*5_000_000 + i*7919%50_000
		t.Event(at, 1, 0)
		t.Place(at, i, true, false)
		i++
	}
}

func BenchmarkGrid(b *testing.B) {
	g := newGrid(5e6, true, func(int64, *gridPoint) {})
	i := int64(0)
	for b.Loop() {
		g.add(i*5_000_000+i*7919%50_000, i, false, false)
		i++
	}
}
