package importer

import (
	"bytes"
	"errors"
	"io"
	"runtime/metrics"
	"testing"
	"time"
)

// Every importer has a target; its seeds are the samples that are of its
// format. What all of them hold is in checkAnyInput.

func FuzzPcap(f *testing.F)           { fuzzFormat(f, "pcap") }
func FuzzPcapng(f *testing.F)         { fuzzFormat(f, "pcapng") }
func FuzzSaleae(f *testing.F)         { fuzzFormat(f, "saleae") }
func FuzzSaleae1(f *testing.F)        { fuzzFormat(f, "saleae1") }
func FuzzDSView(f *testing.F)         { fuzzFormat(f, "dsview") }
func FuzzSigrok(f *testing.F)         { fuzzFormat(f, "sigrok") }
func FuzzSigrokJSON(f *testing.F)     { fuzzFormat(f, "sigrok-json") }
func FuzzSocat(f *testing.F)          { fuzzFormat(f, "socat") }
func FuzzStrace(f *testing.F)         { fuzzFormat(f, "strace") }
func FuzzFtrace(f *testing.F)         { fuzzFormat(f, "ftrace") }
func FuzzJpnevulator(f *testing.F)    { fuzzFormat(f, "jpnevulator") }
func FuzzUsbmon(f *testing.F)         { fuzzFormat(f, "usbmon") }
func FuzzScript(f *testing.F)         { fuzzFormat(f, "script") }
func FuzzTable(f *testing.F)          { fuzzFormat(f, "table") }
func FuzzHdrHistogram(f *testing.F)   { fuzzFormat(f, "hdrhistogram") }
func FuzzRtla(f *testing.F)           { fuzzFormat(f, "rtla") }
func FuzzCyclictest(f *testing.F)     { fuzzFormat(f, "cyclictest") }
func FuzzCyclictestJSON(f *testing.F) { fuzzFormat(f, "cyclictest-json") }
func FuzzJitterdebugger(f *testing.F) { fuzzFormat(f, "jitterdebugger") }
func FuzzCyclictestList(f *testing.F) { fuzzFormat(f, "cyclictest-list") }
func FuzzJitterRaw(f *testing.F)      { fuzzFormat(f, "jitterdebugger-raw") }
func FuzzArduino(f *testing.F)        { fuzzFormat(f, "arduino") }
func FuzzPlatformIO(f *testing.F)     { fuzzFormat(f, "platformio") }
func FuzzGrabserial(f *testing.F)     { fuzzFormat(f, "grabserial") }
func FuzzTio(f *testing.F)            { fuzzFormat(f, "tio") }
func FuzzMinicom(f *testing.F)        { fuzzFormat(f, "minicom") }
func FuzzTeraTerm(f *testing.F)       { fuzzFormat(f, "teraterm") }
func FuzzESP(f *testing.F)            { fuzzFormat(f, "esp-idf") }
func FuzzTs(f *testing.F)             { fuzzFormat(f, "ts") }

// FuzzOpen has no format given: the recognition itself, all samples as seeds.
func FuzzOpen(f *testing.F) { fuzzFormat(f, "") }

func fuzzFormat(f *testing.F, format string) {
	n := 0
	for _, s := range samples(f) {
		in, err := newInput(bytes.NewReader(s.data), s.name, Options{})
		if err != nil {
			f.Fatal(err)
		}
		im, err := choose(in)
		if format == "" || err == nil && im.Name == format {
			f.Add(s.data)
			n++
		}
	}
	if n == 0 {
		f.Fatalf("no sample is of format %q", format)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer time.AfterFunc(hang, func() { panic("it hangs") }).Stop()
		before := allocated()
		checkAnyInput(t, data, Options{Format: format, SampleRate: 1000003})
		if n := allocated() - before; !packed(data) && n > allocatedAtMost(data) {
			t.Fatalf("%d bytes allocated for %d", n, len(data))
		}
	})
}

// hang is far beyond what the longest input takes on a busy machine.
const hang = time.Minute

// allocatedAtMost allows what every file takes (buffers, the first chunks) and
// what a line may: a row of text becomes strings and numbers, but no number in
// it may become memory.
func allocatedAtMost(data []byte) uint64 {
	return 64<<20 + 2000*uint64(len(data))
}

// allocated is what was ever allocated.
func allocated() uint64 {
	s := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s[:])
	return s[0].Value.Uint64()
}

// checkAnyInput reads whatever it is given and holds what every caller relies
// on: no event without bytes, no more events than there are bytes, no more
// bytes in one than there are or than a read brings, each step counted once,
// short lists of what was wrong, and an end that stays.
func checkAnyInput(t *testing.T, data []byte, opt Options) {
	s, err := Open(bytes.NewReader(data), "x", opt)
	if err != nil {
		if refused := (*OptionError)(nil); opt.SampleRate > 0 && errors.As(err, &refused) {
			opt.SampleRate = 0
			checkAnyInput(t, data, opt)
			return
		}
		if IsHistogram(err) {
			checkAnyHistogram(t, data, opt)
		}
		return
	}
	var steps [5]int64
	var events int64
	for {
		e, err := s.Next()
		if err != nil {
			if _, again := s.Next(); again == nil || err == io.EOF && again != io.EOF {
				t.Fatalf("behind %v came %v", err, again)
			}
			if err != io.EOF {
				return
			}
			break
		}
		if n := len(e.Bytes); n == 0 || n > max(len(data), maxUnknown) && !packed(data) {
			t.Fatalf("an event of %d bytes from %d", n, len(data))
		}
		steps[s.Step()]++
		events++
	}
	r := s.Report()
	if events > int64(len(data)) && !packed(data) {
		t.Fatalf("%d events from %d bytes", events, len(data))
	}
	if steps[Zero] != r.Zero || steps[Backward] != r.Backward || steps[Stale] != r.Stale ||
		events > 0 && steps[First] != 1 || r.Resets > r.Backward {
		t.Fatalf("steps %v, report %+v", steps, r)
	}
	if s.Quantum() < 0 || events > 0 && s.Channel() == "" && len(r.Channels) == 0 {
		t.Fatalf("quantum %d, channel %q of %v", s.Quantum(), s.Channel(), r.Channels)
	}
	if len(r.BadLines) > shownBadLines || len(r.Warnings) > 20 || len(r.Channels) > maxChannels+1 {
		t.Fatalf("lists without end: %+v", r)
	}
	if r.Bad*2 > r.Lines {
		t.Fatalf("%d of %d lines are bad and it was not refused", r.Bad, r.Lines)
	}
}

func packed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5})
}

func checkAnyHistogram(t *testing.T, data []byte, opt Options) {
	list, err := OpenHistogram(bytes.NewReader(data), "x", opt)
	if err != nil {
		return
	}
	for _, h := range list {
		total, before := h.Over, int64(-1)
		for _, b := range h.Rows {
			if b.Count <= 0 || b.Value < before {
				t.Fatalf("%+v behind %d", b, before)
			}
			total, before = total+b.Count, b.Value
		}
		if total != h.Total {
			t.Fatalf("rows and over are %d, total %d", total, h.Total)
		}
	}
	if len(list) == 0 {
		t.Fatal(errors.New("no histogram and no error"))
	}
}
