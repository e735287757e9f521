package importer

import (
	"fmt"
	"io"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// What a number in a file says does not become memory.
func TestUnknownBytesAreFew(t *testing.T) {
	for format, file := range map[string]string{
		"strace": "1796039122.116921 read(3, \"a\", 9999999999) = 9999999999 <0.1>\n1796039123.116921 read(3, \"\", 5) = 5 <0.1>\n",
		"script": "O 0.500000 9999999999\nO 0.100000 5\n",
		"socat":  "> 2026/11/30 11:42:44.100037  length=9999999999 from=0 to=1\n> 2026/11/30 11:42:44.200037  length=1 from=0 to=1\n 41\n",
		"ftrace": "cat-1 [000] .....  1.472104: sys_read -> 0xfffffffff\ncat-1 [000] .....  2.472104: sys_read -> 0x1\n",
		"usbmon": "ffff88003d1c2a80 3575914555 C Bi:3:028:1 0 9999999999 = 41\nffff88003d1c2a80 3575914999 C Bi:3:028:1 0 1 = 41\n",
	} {
		s, err := Open(strings.NewReader(file), format, Options{Format: format})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		e, err := s.Next()
		if n := len(e.Bytes); err != nil || n == 0 || n > maxUnknown+1 {
			t.Errorf("%s: %d bytes, %v", format, n, err)
		}
		if got, err := readAll(t, s); err != nil || got.events != 1 || !got.report.BytesUnknown {
			t.Errorf("%s: %d events behind it, %+v, %v", format, got.events, got.report, err)
		}
	}
}

// Names without end are no channels, and an error lists some of them.
func TestChannelsAreFew(t *testing.T) {
	var file strings.Builder
	file.WriteString("name,type,start_time,duration,\"data\"\n")
	for i := range 3000 {
		fmt.Fprintf(&file, "\"%d %s\",\"data\",%d.0000001,0.00008,0x31\n", i, strings.Repeat("x", i%2*1000), i)
	}
	_, err := openAndRead(t, file.String(), Options{})
	refused, ok := err.(*ChannelsError)
	if !ok || len(refused.Channels) > maxChannels+1 {
		t.Fatalf("%v", err)
	}
	if n := strings.Count(err.Error(), "\n"); n != shownChannels+1 || !strings.Contains(err.Error(), "and 980 more") {
		t.Errorf("%d lines: %.3000s", n, err)
	}
}

func openAndRead(t *testing.T, file string, opt Options) (tally, error) {
	t.Helper()
	s, err := Open(strings.NewReader(file), "x", opt)
	if err != nil {
		return tally{}, err
	}
	return readAll(t, s)
}

// A histogram that could hold millions of values takes the memory of those
// that it holds.
func TestWideHistogramsAreSparse(t *testing.T) {
	h := hdr.NewPacked(1, 1<<62, 5)
	if err := h.RecordValue(1 << 40); err != nil {
		t.Fatal(err)
	}
	payload, err := h.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	line := "0.127,1.007,2.769," + string(payload) + "\n"
	before := allocated()
	list, err := OpenHistogram(strings.NewReader(strings.Repeat(line, 100)), "x", Options{})
	if err != nil || len(list) != 1 || list[0].Total != 100 {
		t.Fatalf("%+v, %v", list, err)
	}
	if n := allocated() - before; n > 32<<20 {
		t.Errorf("%d bytes for %d of text", n, 100*len(line))
	}
}

func TestTooManyValuesAreNoHistogram(t *testing.T) {
	file, w := io.Pipe()
	go func() {
		for i := range maxValues + 2 {
			fmt.Fprintf(w, "%8d:%8d:%8d\n", 0, i, i)
		}
		w.Close()
	}()
	if _, err := OpenHistogram(file, "x", Options{}); err == nil || !strings.Contains(err.Error(), "more than a million") {
		t.Errorf("%v", err)
	}
	file.Close()
}
