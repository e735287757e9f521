package assemble

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"serialtiming/results"
)

// manyRuns is a log of n runs of three characters.
func manyRuns(n int) []byte {
	var log bytes.Buffer
	log.WriteString("# serialtiming log 1\n# granted: priority | realtime | SCHED_FIFO 80\nrun,arrived_ns,byte,batch,flags\n")
	for r := range n {
		at := int64(r+1) * 1e9
		fmt.Fprintf(&log, "# run %d announced: before\n# run %d label: phase %d\n# run %d period_ns: 5000000\n", r+1, r+1, r, r+1)
		fmt.Fprintf(&log, "%d,%d,20,1,\n%d,%d,21,1,\n%d,%d,22,1,\n", r+1, at, r+1, at+5e6, r+1, at+10e6)
		fmt.Fprintf(&log, "# end %d sent: 3\n# end %d reason: closed\n", r+1, r+1)
	}
	return log.Bytes()
}

// heap is the size of what is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What is kept of a run is its report, not the tables that it was made with.
func TestARunTakesTheMemoryOfItsReport(t *testing.T) {
	const n = 1000
	log := manyRuns(n)
	before := heap()
	runs := replayed(t, log, Options{Table: oneMS, Quantum: 1})
	each := int64(heap()-before) / n
	if len(runs) != n || *runs[n-1].Period.AnnouncedNS != 5e6 {
		t.Fatalf("%d runs, the last %+v", len(runs), runs[n-1].Period)
	}
	if each > 10_000 {
		t.Errorf("a run keeps %d bytes", each)
	}
	runtime.KeepAlive(runs)
}

func TestTooManyRunsAreRefused(t *testing.T) {
	l, err := results.NewLogReader(bytes.NewReader(manyRuns(maxRuns + 600)))
	if err != nil {
		t.Fatal(err)
	}
	err = New(Options{Table: oneMS, Quantum: 1}).Replay(l, "test.csv")
	if err == nil || !strings.Contains(err.Error(), "more than 20000 runs") {
		t.Errorf("error %v", err)
	}
}

// Rows of one instant that never end are several events.
func TestABatchHasAnEnd(t *testing.T) {
	const rows = maxBatch + 5
	log := []byte("# serialtiming log 1\nrun,arrived_ns,byte,batch,flags\n1,5,20,1,\n" + strings.Repeat("1,5,20,0,\n", rows-1))
	runs := replayed(t, log, Options{Table: oneMS, Quantum: 1})
	if r := runs[0]; r.Characters != rows || r.Events != 2 || r.Steps.Zero != 1 {
		t.Errorf("%d characters, %d events, %d zero steps", r.Characters, r.Events, r.Steps.Zero)
	}
}
