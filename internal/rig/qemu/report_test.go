package qemu

import (
	"strings"
	"testing"
)

const wholeLog = `# serialtiming log 1
# port: /dev/ttyS1
# zero_ns: 12345
# run 1 label: no interface operations
# run 1 granted: priority | realtime:80 | SCHED_FIFO 80
run,arrived_ns,byte,batch,flags
1,1843200,20,1,
1,11843290,22,2,
1,11843290,23,0,o
# end 1 sent: 4
`

func TestParseLog(t *testing.T) {
	l, err := parseLog([]byte(wholeLog))
	if err != nil {
		t.Fatal(err)
	}
	if l.Int("zero_ns") != 12345 || l.Int("port") != -1 || l.Keys["port"] != "/dev/ttyS1" {
		t.Errorf("keys %v", l.Keys)
	}
	if got := l.Runs["run 1"]["label"]; got != "no interface operations" {
		t.Errorf("label %q", got)
	}
	if got := l.Runs["end 1"]["sent"]; got != "4" {
		t.Errorf("sent %q", got)
	}
	want := []LogRow{
		{Run: 1, Seq: -1, Due: -1, Woke: -1, Wrote: -1, Arrived: 1843200, Byte: ' ', Batch: 1},
		{Run: 1, Seq: -1, Due: -1, Woke: -1, Wrote: -1, Arrived: 11843290, Byte: '"', Batch: 2},
		{Run: 1, Seq: -1, Due: -1, Woke: -1, Wrote: -1, Arrived: 11843290, Byte: '#', Batch: 0, Flags: "o"},
	}
	if len(l.Events) != len(want) {
		t.Fatalf("%d rows, want %d", len(l.Events), len(want))
	}
	for i, w := range want {
		if l.Events[i] != w {
			t.Errorf("row %d is %+v, want %+v", i, l.Events[i], w)
		}
	}
	if l.Tail != "" {
		t.Errorf("tail %q of a whole log", l.Tail)
	}
}

func TestParseLogRefuses(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"another version", "# serialtiming log 2\n", "first line"},
		{"nothing", "", "first line"},
		{"no instant", "# serialtiming log 1\nrun,byte\n", "no instant"},
		{"short row", "# serialtiming log 1\nrun,arrived_ns\n1\n", "line 3"},
		{"no number", "# serialtiming log 1\nrun,arrived_ns\n1,x\n", "arrived_ns"},
	}
	for _, tt := range tests {
		if _, err := parseLog([]byte(tt.log)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func TestParseLogTorn(t *testing.T) {
	l, err := parseLog([]byte("# serialtiming log 1\nrun,arrived_ns\n1,5\n1,1"))
	if err != nil || len(l.Events) != 1 || l.Tail != "1,1" {
		t.Errorf("rows %v, tail %q, error %v; want one row and the tail", l.Events, l.Tail, err)
	}
}

// FuzzParseLog: whatever comes, no panic, and no row that was not there.
func FuzzParseLog(f *testing.F) {
	f.Add([]byte(wholeLog))
	f.Add([]byte("# serialtiming log 1\r\nwrote_ns\r\n1\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLog(b)
		if err == nil && len(l.Events) > strings.Count(string(b), "\n") {
			t.Errorf("%d rows of %d lines", len(l.Events), strings.Count(string(b), "\n"))
		}
	})
}
