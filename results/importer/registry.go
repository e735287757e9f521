package importer

import "strings"

// The classes of a source: what one event of it is.
const (
	ClassCharacter = "character" // one character, stamped at the wire
	ClassChunk     = "chunk"     // what one read or packet brought: no interval inside
	ClassLine      = "line"      // one line of text: intervals between lines only
	ClassHistogram = "histogram" // no events: what OpenHistogram reads
)

// Format describes one format for people.
type Format struct {
	Name       string
	Class      string // of its events; "" where there are none
	TimeSource string // what a stamp is the time of
	Quantum    string // the step of the stamps as the tool writes them
	Example    string // one line of it
	Refused    string // why it gives no events, "" when it does
}

// importer is a format with the code that knows it.
type importer struct {
	Format
	hint      string                               // what to do when Refused
	detect    func(h head) string                  // why the head is not of this format, "" when it is
	open      func(in *input) (reader, error)      // nil when Refused
	histogram func(in *input) ([]Histogram, error) // of ClassHistogram
}

// Formats lists all formats in the order in which they are tried.
func Formats() []Format {
	out := make([]Format, len(registry))
	for i := range registry {
		out[i] = registry[i].Format
	}
	return out
}

func lookup(name string) *importer {
	for i := range registry {
		if strings.EqualFold(registry[i].Name, name) {
			return &registry[i]
		}
	}
	return nil
}

func names() []string {
	var out []string
	for _, f := range Formats() {
		out = append(out, f.Name)
	}
	return out
}

const (
	noOrder  = "a histogram holds no order of events"
	hintLoad = "lay it over a run with compare"
)

// registry is the one table of formats. Order matters: a format that is known
// by a magic number or a header stands before those that are told by the shape
// of their lines, and the looser ones come last.
var registry = []importer{
	// Magic numbers.
	{Format: Format{"pcapng", ClassChunk, "packet captured: USB transfer completed, UDP datagram, RTAC record", "1 µs or 1 ns (if_tsresol)", "(binary)", ""},
		detect: detectPcapng, open: openPcapng},
	{Format: Format{"pcap", ClassChunk, "packet captured: USB transfer completed, UDP datagram, RTAC record", "1 µs or 1 ns (magic)", "(binary)", ""},
		detect: detectPcap, open: openPcap},

	// Histograms.
	{Format: Format{"hdrhistogram", ClassHistogram, "", "", "Tag=A,0.127,1.007,2.769,HISTFAAAA…", noOrder},
		hint: hintLoad, detect: detectHlog, histogram: readHlog},
	{Format: Format{"rtla", ClassHistogram, "", "1 µs or 1 ns", "# RTLA timerlat histogram", noOrder},
		hint: hintLoad, detect: detectRtla, histogram: readRtla},
	{Format: Format{"cyclictest", ClassHistogram, "", "1 µs", "000042 000014\t000007", noOrder},
		hint: hintLoad, detect: detectCyclictest, histogram: readCyclictest},
	{Format: Format{"cyclictest-json", ClassHistogram, "", "1 µs", `"thread": {"0": {"histogram": {"24": 1}}}`, noOrder},
		hint: hintLoad, detect: detectCyclictestJSON, histogram: readJSONHistogram},
	{Format: Format{"jitterdebugger", ClassHistogram, "", "1 µs", `"cpu": {"0": {"histogram": {"7": 1}}}`, noOrder},
		hint: hintLoad, detect: detectJitterdebugger, histogram: readJSONHistogram},

	{Format: Format{"cyclictest-list", ClassHistogram, "", "1 µs", "       0:     297:      61", noOrder},
		hint: hintLoad, detect: detectCyclictestList, histogram: readCyclictestList},
	{Format: Format{"jitterdebugger-raw", ClassHistogram, "", "1 µs", "(binary)", noOrder},
		hint: hintLoad, detect: detectJitterRaw, histogram: readJitterRaw},

	// Tables with a header.
	{Format: Format{"saleae", ClassCharacter, "start bit", "sample clock; older versions nine significant digits", `"Async 1","data",0.000592672,0.000082464,0x31`, ""},
		detect: detectSaleae2, open: openSaleae2},
	{Format: Format{"saleae1", ClassCharacter, "start bit", "sample clock", "0.000592672000000,0x31,,", ""},
		detect: detectSaleae1, open: openSaleae1},
	{Format: Format{"saleae-digital", "", "", "sample clock", "2022-06-24T18:51:08.852112100+00:00,0,1", "a raw digital export holds the edges of lines and no characters"},
		hint: "export the analyzer's data table", detect: detectDigital},
	{Format: Format{"dsview", ClassCharacter, "first data bit", "sample clock; before 2020-05 six significant digits", "5,313223000.00,U", ""},
		detect: detectDSView, open: openDSView},

	// Lines of a shape of their own.
	{Format: Format{"sigrok-json", ClassCharacter, "first data bit", "one sample", `{"ph": "B", "ts": 380.000000, "pid": "uart-1", "tid": "TX", "name": "1"},`, ""},
		detect: detectSigrokJSON, open: openSigrokJSON},
	{Format: Format{"sigrok", ClassCharacter, "first data bit", "one sample (--samplerate)", "120-640 uart-1: 48", ""},
		detect: detectSigrok, open: openSigrok},
	{Format: Format{"socat", ClassChunk, "read returned", "1 µs", "> 2026/11/30 11:42:44.000037608  length=1 from=61 to=61", ""},
		detect: detectSocat, open: openSocat},
	{Format: Format{"strace", ClassChunk, "read returned", "1 µs", `1796039122.116921 read(3, "\37", 131072) = 1 <0.0198>`, ""},
		detect: detectStrace, open: openStrace},
	{Format: Format{"ftrace", ClassChunk, "read returned", "1 µs", "cat-28712   [000] .....  1167.472104: sys_read -> 0x1", ""},
		detect: detectFtrace, open: openFtrace},
	{Format: Format{"jpnevulator", ClassChunk, "read returned", "1 µs", "2026-11-30 11:43:48.979939:", ""},
		detect: detectJpnevulator, open: openJpnevulator},
	{Format: Format{"usbmon", ClassChunk, "USB transfer completed", "1 µs", "ffff88003d1c2a80 3575914555 C Bi:3:028:1 0 3 = 515806", ""},
		detect: detectUsbmonText, open: openUsbmonText},
	{Format: Format{"portmon", "", "", "", "184\t11:26:50\tapp\tIRP_MJ_READ\tSerial0\tSUCCESS\tLength 1: 68", "its second column is the duration of a request or a clock of whole seconds: no arrival times"},
		hint: "capture with another tool", detect: detectPortmon},
	{Format: Format{"eltima", "", "", "1 s", "[25/10/2018 10:15:36] Read data (COM2)", "its stamps are whole seconds: there is no interval between characters in them"},
		hint: "capture with another tool", detect: detectEltima},
	{Format: Format{"interceptty", "", "", "", "> \t0x41 (A)", "it holds no times"},
		hint: "capture with another tool", detect: detectIntercept},
	{Format: Format{"script", ClassChunk, "bytes written to the terminal", "1 µs", "O 0.019428 1", ""},
		detect: detectScript, open: openScript},

	// Lines with a stamp before them.
	{Format: Format{"arduino", ClassLine, "the line was shown", "1 ms (screen updates of 33 to 45 ms)", "13:42:32.662 -> $GPGGA", ""},
		detect: lineDetect(likeArduino), open: openLines(likeArduino)},
	{Format: Format{"platformio", ClassLine, "the read that began the line", "1 ms", "13:42:32.662 > $GPGGA", ""},
		detect: lineDetect(likePlatformIO), open: openLines(likePlatformIO)},
	{Format: Format{"grabserial", ClassLine, "first character of the line", "1 µs", "[0.019157 0.019156] text", ""},
		detect: lineDetect(likeGrabserial), open: openLines(likeGrabserial)},
	{Format: Format{"tio", ClassLine, "first character of the line", "1 ms or 1 µs", "[11:45:03.719] text", ""},
		detect: lineDetect(likeTio), open: openLines(likeTio)},
	{Format: Format{"minicom", ClassLine, "first character of the line", "1 ms; 1 s is refused", "[2026-11-30 11:51:26.580] text", ""},
		detect: lineDetect(likeMinicom), open: openLines(likeMinicom)},
	{Format: Format{"teraterm", ClassLine, "first character of the line", "1 ms (15.6 ms for elapsed time)", "[0 00:01:02.345] text", ""},
		detect: lineDetect(likeTeraTerm), open: openLines(likeTeraTerm)},
	{Format: Format{"esp-idf", ClassLine, "the device's own clock", "1 ms or 10 ms", "I (1234) tag: text", ""},
		detect: lineDetect(likeESP), open: openLines(likeESP)},
	{Format: Format{"ts", ClassLine, "end of the line", "1 µs; 1 s is refused", "1796039736.829533 text", ""},
		detect: detectTs, open: openLines(likeTs)},
	{Format: Format{tableName, ClassCharacter, "as the table's writer meant it", "last digit written", "0.005000;41", ""},
		detect: detectTable, open: openTable},
}
