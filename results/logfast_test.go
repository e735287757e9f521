package results

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlainRowReadsWhatTheGeneralReaderReads(t *testing.T) {
	pad := strings.Repeat("x", maxPlainRow)
	for _, at := range []int64{0, 7, 12, 99999999, 100000000, 1843200, 6843311, 123456789012, 9999999999999999, 123456789012345678} {
		for _, run := range []int{1, 12, 99999} {
			line := fmt.Sprintf("%d,%d,7e,1,\n", run, at)
			var row LogRow
			if n := plainRow([]byte(line+pad), &row); n != len(line) {
				t.Fatalf("%q: took %d bytes", line, n)
			}
			if row.Arrived != at || row.Run != int32(run) || row.Byte != 0x7e || row.Batch != 1 {
				t.Errorf("%q: %+v", line, row)
			}
		}
	}
	for _, line := range []string{
		"1,,20,1,\n", "1,-5,20,1,\n", "1,5,2x,1,\n", "1,5,20,1,o\n", "1,5,20,10,\n", "0,5,20,1,\n", ":,5,20,1,\n",
		"1,1234567890123456789,20,1,\n", "1,5,20,1\n", "1,5 ,20,1,\n", "# run 1 label: x\n", "1,5,FF,1,\n",
	} {
		var row LogRow
		if n := plainRow([]byte(line+pad), &row); n != 0 {
			t.Errorf("%q: taken as plain: %+v", line, row)
		}
	}
}
