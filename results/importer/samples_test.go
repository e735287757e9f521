package importer

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"serialtiming/results"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew; read the difference before you keep it")

// sampleOptions are those that a sample is read with beside none.
var sampleOptions = map[string][]Options{
	"saleae_two.csv":         {{Channel: "Line B"}, {Channel: "nobody"}},
	"sigrok_hex.txt":         {{SampleRate: 625000}},
	"sigrok_class.txt":       {{SampleRate: 625000, Channel: "tx"}, {SampleRate: 625000, Channel: "uart-1 RX"}},
	"sigrok_torn.txt":        {{SampleRate: 625000}},
	"sigrok_space.txt":       {{SampleRate: 24000000}},
	"pulseview.txt":          {{SampleRate: 1000000}},
	"dsview_v13.csv":         {{Channel: "1:UART: RX/TX"}},
	"socat_xv.log":           {{Channel: "<"}, {Channel: "tx"}},
	"strace_ttt.log":         {{Channel: "fd 1 tx"}},
	"strace_streams.log":     {{Channel: "fd 3 rx stream 1"}},
	"jpnevulator.log":        {{Channel: "/dev/ttyS1"}},
	"ftrace.txt":             {{Channel: "irq_handler_entry: irq=4 name=ttyS1"}},
	"usbmon.txt":             {{Channel: "rx"}},
	"script_advanced.timing": {{Channel: "rx"}},
	"ts.log":                 {{Format: "table"}, {Deltas: true}},
	"table_channels.tsv":     {{Channel: "rx"}},
	"table_samples.csv":      {{SampleRate: 1000000}},
	"table_unknown_unit.csv": {{TimeUnit: "us"}, {TimeUnit: "us", TimeColumn: 1}},
	"table_jitter.csv":       {{TimeColumn: 3, TimeUnit: "us", Deltas: true}},
	"ftdi.pcapng":            {{Channel: "rx"}},
	"usbpcap.pcap":           {{Channel: "rx"}},
}

// TestSamples holds what each sample gives to testdata/golden.txt.
func TestSamples(t *testing.T) {
	var out bytes.Buffer
	for _, s := range samples(t) {
		for _, opt := range append([]Options{{}}, sampleOptions[s.name]...) {
			fmt.Fprintf(&out, "== %s%s\n", s.name, describeOptions(opt))
			describe(&out, s, opt)
		}
	}
	const golden = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	compareText(t, out.String(), string(want))
}

func compareText(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "== "), strings.Split(want, "== ")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) {
			t.Fatalf("%d samples, want %d", len(g), len(w))
		}
		if g[i] != w[i] {
			t.Errorf("got\n%s\nwant\n%s", g[i], w[i])
		}
	}
}

// sample is one small file in the shape of a real one.
type sample struct {
	name string
	data []byte
}

// samples are the files of testdata and those that are built here.
func samples(t testing.TB) []sample {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no testdata: ", err)
	}
	var out []sample
	for _, p := range paths {
		if filepath.Base(p) == "golden.txt" {
			continue
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{filepath.Base(p), data})
	}
	return append(out, binarySamples(t)...)
}

func describeOptions(o Options) string {
	if o == (Options{}) {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprintf(" %+v", o), `Format: `, "")
}

func describe(out *bytes.Buffer, s sample, opt Options) {
	src, err := Open(bytes.NewReader(s.data), s.name, opt)
	if err != nil {
		fmt.Fprintf(out, "refused: %v\n", err)
		if IsHistogram(err) {
			describeHistograms(out, s)
		}
		return
	}
	fmt.Fprintf(out, "%s, %s, %s\n", src.Format, src.Class, src.TimeSource)
	for n := 0; ; n++ {
		e, err := src.Next()
		if err != nil {
			fmt.Fprintf(out, "end: %v\n", err)
			break
		}
		if n < 12 {
			waited := ""
			if e.Stale {
				waited = " waited"
			}
			fmt.Fprintf(out, "%d %x %s %s%s\n", e.At, e.Bytes[:min(len(e.Bytes), 80)], src.Step(), e.Flags, waited)
		}
	}
	fmt.Fprintf(out, "channel %q, zero %d, quantum %d, marks %q\n%+v\n", src.Channel(), src.Zero(), src.Quantum(), src.Marks(), src.Report())
}

func describeHistograms(out *bytes.Buffer, s sample) {
	list, err := OpenHistogram(bytes.NewReader(s.data), s.name, Options{})
	if err != nil {
		fmt.Fprintf(out, "histogram: %v\n", err)
	}
	for _, h := range list {
		fmt.Fprintf(out, "%+v\n", h)
	}
}

// binarySamples builds what cannot stand in a text file.
func binarySamples(t testing.TB) []sample {
	t.Helper()
	return []sample{
		{"rtac.pcapng", rtacSample(t)},
		{"usbmon_be.pcap", usbmonSample()},
		{"ftdi.pcapng", ftdiSample()},
		{"usbpcap.pcap", usbpcapSample()},
		{"udp.pcap", udpSample()},
		{"user0.pcap", pcapFile(binary.LittleEndian, pcapNano, linkUser0, rtacRecord(rtacRxStart, "A"), rtacRecord(rtacBreak, ""), rtacRecord(rtacTxStart, "B"))},
		{"torn.pcap", usbmonSample()[:150]},
		{"log.hlog", hlogSample(t)},
		{"samples.raw", jitterSample()},
	}
}

func rtacSample(t testing.TB) []byte {
	var b bytes.Buffer
	w := NewPcapngWriter(&b)
	w.Epoch = 1796039122 * second
	for i, f := range []results.Flags{0, results.Framing, 0, results.Parity | results.Break, results.Overrun} {
		if err := w.Write(int64(i)*5000123, []byte{byte(0x41 + i)}, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pcapFile lays packets 5 ms apart.
func pcapFile(order binary.AppendByteOrder, magic, link uint32, packets ...[]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = order.AppendUint64(b, 0)
	b = order.AppendUint32(b, 65535)
	b = order.AppendUint32(b, link)
	unit := uint32(1)
	if magic == pcapNano {
		unit = 1000
	}
	for i, p := range packets {
		us := uint32(985000 + i*5000)
		b = order.AppendUint32(b, 1615717798+us/1000000)
		b = order.AppendUint32(b, us%1000000*unit)
		b = order.AppendUint32(b, uint32(len(p)))
		b = order.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

func rtacRecord(event byte, data string) []byte {
	b := make([]byte, rtacHeader)
	b[8] = event
	return append(b, data...)
}

// usbmonPacket has the 48 bytes of usbmon.
func usbmonPacket(order binary.AppendByteOrder, event, kind, endpoint byte, data string) []byte {
	b := order.AppendUint64(nil, 0xffff88003d1c2a80)
	b = append(b, event, kind, endpoint, 28)
	b = order.AppendUint16(b, 3)
	b = append(b, '-', 0)
	b = append(b, make([]byte, 16)...)
	b = order.AppendUint32(b, uint32(len(data)))
	b = order.AppendUint32(b, uint32(len(data)))
	b = append(b, make([]byte, 8)...)
	return append(b, data...)
}

func usbmonSample() []byte {
	be := binary.BigEndian
	return pcapFile(be, pcapMicro, linkUSBLinux,
		usbmonPacket(be, 'S', 3, 0x81, ""), usbmonPacket(be, 'C', 3, 0x81, "A"),
		usbmonPacket(be, 'C', 1, 0x82, "not serial"), usbmonPacket(be, 'C', 3, 0x81, "BC"),
		usbmonPacket(be, 'C', 3, 0x81, "D"))
}

// ftdiSample is high speed pcapng with a header of 64 bytes: status-only
// packets, then data with a framing error, then what was sent.
func ftdiSample() []byte {
	le := binary.LittleEndian
	long := "\x01\x60" + strings.Repeat("x", 62) + "\x01\x60yz"
	b := ngBlock(ngSection, le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, ngMagic), 1), 1<<64-1))
	iface := le.AppendUint32(le.AppendUint32(nil, linkUSBMmap), 0)
	b = append(b, ngBlock(ngInterface, append(iface, 9, 0, 1, 0, 9, 0, 0, 0))...)
	for i, p := range [][]byte{
		usbmonPacket(le, 'C', 3, 0x81, "\x01\x60"), usbmonPacket(le, 'C', 3, 0x81, "\x01\x60A"),
		usbmonPacket(le, 'C', 3, 0x81, "\x01\x68B"), usbmonPacket(le, 'S', 3, 0x02, "out"),
		usbmonPacket(le, 'C', 3, 0x81, long),
	} {
		p = append(append(p[:48:48], make([]byte, 16)...), p[48:]...)
		body := le.AppendUint32(nil, 0)
		ns := uint64(1796039122*second + int64(i)*16000000)
		body = le.AppendUint32(body, uint32(ns>>32))
		body = le.AppendUint32(body, uint32(ns))
		body = le.AppendUint32(body, uint32(len(p)))
		body = le.AppendUint32(body, uint32(len(p)))
		b = append(b, ngBlock(ngPacket, append(body, p...))...)
	}
	return b
}

func ngBlock(kind uint32, body []byte) []byte {
	le := binary.LittleEndian
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 12)
	b := le.AppendUint32(le.AppendUint32(nil, kind), n)
	return le.AppendUint32(append(b, body...), n)
}

func usbpcapPacket(endpoint, info byte, data string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, 27)
	b = append(b, make([]byte, 14)...)
	b = append(b, info)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 7)
	b = append(b, endpoint, 3)
	b = le.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func usbpcapSample() []byte {
	return pcapFile(binary.LittleEndian, pcapMicro, linkUSBPcap,
		usbpcapPacket(0x81, 0, ""), usbpcapPacket(0x81, 1, "A"), usbpcapPacket(0x02, 0, "out"),
		usbpcapPacket(0x02, 1, ""), usbpcapPacket(0x81, 1, "B"))
}

func udpSample() []byte {
	datagram := func(data string) []byte {
		b := []byte{0x45, 0, 0, byte(28 + len(data)), 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1,
			422 >> 8, 422 & 255, 1422 >> 8, 1422 & 255, 0, byte(8 + len(data)), 0, 0}
		return append(b, data...)
	}
	return pcapFile(binary.LittleEndian, pcapMicro, linkIPv4, datagram("A"), datagram("BC"), datagram("D"))
}

func hlogSample(t testing.TB) []byte {
	var b bytes.Buffer
	b.WriteString("#[Histogram log format version 1.2]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n")
	for i, tag := range []string{"", "Tag=A,", ""} {
		h := hdr.New(1, 3600*second, 2)
		for v := range int64(4) {
			if err := h.RecordValue((v + 1) * 100000); err != nil {
				t.Fatal(err)
			}
		}
		payload, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s%d.127,1.000,0.400,%s\n", tag, i, payload)
	}
	b.WriteString("1.0,2.0,3.0,HISTbroken\n")
	return b.Bytes()
}

func jitterSample() []byte {
	var b []byte
	le := binary.LittleEndian
	for i := range uint64(5) {
		b = le.AppendUint32(b, uint32(i%2))
		b = le.AppendUint64(b, 1796039122)
		b = le.AppendUint64(b, i*1000000)
		b = le.AppendUint64(b, 60+i)
	}
	return b
}
