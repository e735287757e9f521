package importer

import (
	"bytes"
	"errors"
	"io"
	"testing"
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
		checkAnyInput(t, data, Options{Format: format, SampleRate: 1000003})
	})
}

// checkAnyInput reads whatever it is given and holds what every caller relies
// on: no event without bytes, no more events than there are bytes, each step
// counted once, and an end that stays.
func checkAnyInput(t *testing.T, data []byte, opt Options) {
	s, err := Open(bytes.NewReader(data), "x", opt)
	if err != nil {
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
		if len(e.Bytes) == 0 {
			t.Fatal("an event without bytes")
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
