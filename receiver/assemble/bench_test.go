package assemble

import (
	"bytes"
	"testing"
	"time"

	"serialtiming/protocol"
	"serialtiming/results"
)

func BenchmarkReplay(b *testing.B) {
	var log bytes.Buffer
	w := results.NewLogWriter(&log, results.ReceiverColumns)
	w.RunKey(1, "announced", "before")
	w.RunKey(1, "period_ns", "5000000")
	w.RunKey(1, "timer", "absolute")
	const n = 1 << 20
	for i := range int64(n) {
		w.Row(results.LogRow{Run: 1, Arrived: i*5_000_000 + i*7919%50_000, Byte: int16(protocol.Printable.Char(i)), Batch: 1})
	}
	w.EndKey(1, "sent", "1048576")
	w.Flush()
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		l, err := results.NewLogReader(bytes.NewReader(log.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		a := New(Options{Table: results.TableKind{Bin: time.Millisecond}})
		if err := a.Replay(l, "log"); err != nil || a.done[0].Characters != n || *a.done[0].Lost != 0 {
			b.Fatal(err, a.done)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mchars/s")
}
