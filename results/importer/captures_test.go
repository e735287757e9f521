package importer

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// figures are what a correct reader gets from a file: the stamps as they stand
// in it, all differences between neighbours included.
type figures struct {
	events         int64
	span, min, max int64 // ns
	mean           float64
}

// tally reads a source to its end.
type tally struct {
	figures
	bytes  int64
	steps  [5]int64
	errors int64
	report Report
	source *Source
}

func readAll(t testing.TB, s *Source) (tally, error) {
	t.Helper()
	out := tally{source: s}
	var before int64
	for {
		e, err := s.Next()
		if err != nil {
			out.report = s.Report()
			if out.events > 1 {
				out.mean = float64(out.span) / float64(out.events-1)
			}
			if err == io.EOF {
				err = nil
			}
			return out, err
		}
		if len(e.Bytes) == 0 {
			t.Fatal("an event without bytes")
		}
		if d := e.At - before; out.events == 1 {
			out.min, out.max = d, d
		} else if out.events > 1 {
			out.min, out.max = min(out.min, d), max(out.max, d)
		}
		out.steps[s.Step()]++
		out.events++
		out.bytes += int64(len(e.Bytes))
		if e.Flags != 0 {
			out.errors++
		}
		before, out.span = e.At, e.At
	}
}

type captureCase struct {
	file    string
	opt     Options
	format  string
	class   string
	want    figures
	bytes   int64 // 0: not looked at
	errors  int64
	quantum int64
	steps   [5]int64 // first, interval, zero, backward, stale; all zero: no special steps
	refused string   // part of the error, "" when it must be read
}

var captureCases = []captureCase{
	{file: "saleae2/logic2-automation_hla_spi_table.csv", refused: "choose one channel"},
	{file: "saleae2/logic2-automation_hla_spi_table.csv", opt: Options{Channel: "SPI (bits=8)"}, format: "saleae", class: "character",
		want: figures{135, 351210, 2020, 15980, 2621}, quantum: 10},
	{file: "saleae2/logic2-automation_hla_spi_table.csv", opt: Options{Channel: "my hla"}, format: "saleae", class: "character",
		want: figures{135, 351210, 2020, 15980, 2621}, quantum: 10},
	{file: "saleae2/logic2-automation_large_async_2_analyzers.csv", refused: `"Async 2"  28434 events`},
	{file: "saleae2/logic2-automation_large_async_2_analyzers.csv", opt: Options{Channel: "Async 1"}, format: "saleae", class: "character",
		want: figures{28434, 7614814204, 86542, 1705470, 267816}, bytes: 28434, quantum: 2},
	{file: "saleae2/logic2-automation_large_async_2_analyzers.csv", opt: Options{Channel: "async 2"}, format: "saleae", class: "character",
		want: figures{28434, 7614814204, 86542, 1705470, 267816}, quantum: 2},
	{file: "saleae2/logic2-automation_large_async_search_ascii_0x36.csv", format: "saleae", class: "character"},
	{file: "saleae2/logic2-automation_large_async_search_hex_0x36.csv", format: "saleae", class: "character",
		want: figures{1229, 7610803786, 86560, 18759778, 6197723}, quantum: 2},
	{file: "saleae2/logic2-automation_swd_start_only.csv", format: "saleae", class: "character",
		want: figures{21, 179001340, 288620, 51939160, 8950067}},
	{file: "saleae2/logic2-automation_cap1_iso8601_digital.csv", refused: "edges of lines"},
	{file: "derived/saleae2_bom_crlf.csv", format: "saleae", class: "character", want: derivedSaleae},
	{file: "derived/saleae2_truncated_last_line.csv", format: "saleae", class: "character", want: derivedSaleae},
	{file: "derived/saleae2_9sigdigits_late_capture.csv", format: "saleae", class: "character",
		want: figures{200, 52750000, 80000, 1710000, 265075}, quantum: 10000},
	{file: "derived/saleae2_error_column.csv", format: "saleae", class: "character",
		want: figures{4, 3000000, 1000000, 1000000, 1000000}, errors: 2},
	{file: "derived/saleae2_excel_de_semicolon_comma_bom.csv", format: "saleae", class: "character", want: derivedSaleae},
	{file: "saleae1/hf_splitter_short_times_excerpt.csv", format: "saleae1", class: "character",
		want: figures{19, 10222750, 8625, 9863562, 567931}, errors: 8},
	{file: "saleae1/picoctf_ascii_excerpt.txt", format: "saleae1", class: "character",
		want: figures{9, 8333440, 1041600, 1041760, 1041680}},
	{file: "dsview/TL-WR841N_readme.csv", format: "dsview", class: "character",
		want: figures{51, 262553000, 83000, 258476000, 5251060}, quantum: 1000},
	{file: "sigrok/ampel64_frame_errors.all.hex.samplenum.txt", refused: "no sample rate"},
	{file: "sigrok/ampel64_frame_errors.all.hex.samplenum.txt", opt: Options{SampleRate: 2000000}, format: "sigrok", class: "character",
		want: figures{8, 16556500, 2086000, 2920500, 2365214}, errors: 4, quantum: 500},
	{file: "sigrok/hello_world_8n1_9600.tx-data.hex.samplenum.txt", opt: Options{SampleRate: 625000}, format: "sigrok", class: "character",
		want: figures{56, 57291200, 1041600, 1043200, 1041658}, quantum: 1600},
	{file: "sigrok/mtk3339_gps.tx-data.ascii.samplenum.txt", opt: Options{SampleRate: 200000}, format: "sigrok", class: "character",
		want: mtk3339, quantum: 5000},
	{file: "sigrok/mtk3339_gps.tx-data.hex.l3.txt", opt: Options{SampleRate: 200000}, format: "sigrok", class: "character",
		want: mtk3339, quantum: 5000},
	{file: "sigrok/mtk3339_gps.jsontrace.json", format: "sigrok-json", class: "character", want: mtk3339, quantum: 5000},
	{file: "sigrok/uart_count_8n1.ascii.jsontrace.json", format: "sigrok-json", class: "character",
		want: figures{events: 365}, quantum: 2000},
	{file: "pulseview/pulseview_annotation_export_excerpt.txt", opt: Options{SampleRate: 1000000}, format: "sigrok", class: "character",
		want: figures{2, 207000, 207000, 207000, 207000}},
	{file: "socat/gen_socat1744_v.log", format: "socat", class: "chunk", want: figures{26, 499330000, 19483000, 20143000, 19973200}, bytes: 30, quantum: 1000},
	{file: "socat/gen_socat1744_x.log", format: "socat", class: "chunk", want: figures{26, 499043000, 18929000, 21054000, 19961720}, bytes: 30, quantum: 1000},
	{file: "socat/gen_socat1744_x_backlog.log", format: "socat", class: "chunk",
		want: figures{22, 1370591000, 19661000, 970963000, 65266238}, bytes: 50, steps: [5]int64{1, 20, 0, 0, 1}},
	{file: "socat/gen_socat1744_x_v_lu.log", format: "socat", class: "chunk", want: figures{100, 1979417000, 18663000, 21261000, 19994111}, bytes: 120},
	{file: "socat/larsks_tmv71_x_v_1.7.3.log", refused: "choose one channel"},
	{file: "socat/larsks_tmv71_x_v_1.7.3.log", opt: Options{Channel: ">"}, format: "socat", class: "chunk", want: figures{events: 1}, bytes: 10},
	{file: "socat/larsks_tmv71_x_v_1.7.3.log", opt: Options{Channel: "rx"}, format: "socat", class: "chunk",
		want: figures{3, 311616000, 102789000, 208827000, 155808000}, bytes: 3},
	{file: "grabserial/gen_T_nodelta.log", format: "grabserial", class: "line", want: figures{40, 779299000, 19598000, 20486000, 19982026}, quantum: 1000},
	{file: "grabserial/gen_t_m.log", format: "grabserial", class: "line",
		want: figures{40, 719912000, -39135000, 20286000, 18459282}, steps: [5]int64{1, 38, 0, 1, 0}},
	{file: "tio/gen_tio25_24hour-start.log", format: "tio", class: "line", want: figures{40, 777e6, 17e6, 22e6, 19923077}, quantum: 1e6},
	{file: "tio/gen_tio25_24hour.log", format: "tio", class: "line", want: figures{40, 779e6, 15e6, 25e6, 19974359}, quantum: 1e6},
	{file: "tio/gen_tio25_iso8601.log", format: "tio", class: "line", want: figures{40, 778e6, 14e6, 26e6, 19948718}, quantum: 1e6},
	{file: "derived/tio_24hour_utf16le.log", format: "tio", class: "line", want: figures{40, 779e6, 15e6, 25e6, 19974359}, quantum: 1e6},
	{file: "derived/tio_midnight_wrap.log", format: "tio", class: "line", want: figures{10, 180e6, 20e6, 20e6, 20e6}, quantum: 1e6},
	{file: "minicom/gen_delta.cap", format: "minicom", class: "line", want: figures{events: 38}, quantum: 1e6},
	{file: "minicom/gen_extended.cap", format: "minicom", class: "line", want: figures{38, 740e6, 19e6, 21e6, 20e6}, quantum: 1e6},
	{file: "minicom/gen_simple.cap", refused: "whole seconds"},
	{file: "ts/gen_ts_T_dots.log", format: "ts", class: "line", want: figures{40, 779460000, 19620000, 20333000, 19986154}, quantum: 1000},
	{file: "ts/gen_ts_dots.log", format: "ts", class: "line", want: figures{40, 779336000, 19372000, 20499000, 19982974}, quantum: 1000},
	{file: "ts/gen_ts_i_dots.log", opt: Options{Deltas: true}, format: "ts", class: "line", want: figures{40, 779474000, 19428000, 20378000, 19986513}},
	{file: "ts/gen_ts_i_dots.log", format: "ts", class: "line", want: figures{40, 779474000, 19428000, 20378000, 19986513}},
	{file: "ts/gen_ts_plain.log", refused: "whole seconds"},
	{file: "jpnevulator/gen_timing_default.log", format: "jpnevulator", class: "chunk", want: figures{events: 1}, bytes: 60},
	{file: "jpnevulator/gen_timing_delta1_ascii_bytecount.log", format: "jpnevulator", class: "chunk",
		want: figures{50, 979315000, 13368000, 26807000, 19986020}, bytes: 60, quantum: 1000},
	{file: "strace/gen_r_xx_T_yy.log", format: "strace", class: "chunk",
		want: figures{34, 658796000, 18819000, 20575000, 19963515}, bytes: 40},
	{file: "strace/gen_ttt.log", format: "strace", class: "chunk",
		want: figures{34, 659202000, 16867000, 22452000, 19975818}, bytes: 40},
	{file: "ftrace/gen_ftrace_sys_read.txt", format: "ftrace", class: "chunk",
		want: figures{26, 497902000, 18286000, 20293000, 19916080}, bytes: 30},
	{file: "arduino/ide1_nmea_excerpt.txt", format: "arduino", class: "line", want: figures{4, 135e6, 45e6, 45e6, 45e6}, quantum: 1e6},
	{file: "arduino/ide1_show_timestamp_excerpt.txt", format: "arduino", class: "line",
		want: figures{8, 32291e6, 0, 32256e6, 4613e6}, steps: [5]int64{1, 2, 5, 0, 0}},
	{file: "arduino/ide2rc_unpadded_issue905.txt", format: "arduino", class: "line",
		want: figures{5, 364642e6, 4691e6, 131016e6, 91160500000}},
	{file: "usbmon/qdmr_anytone_d878uv_cdcacm_first600.pcapng", refused: "choose one channel"},
	{file: "usbmon/qdmr_anytone_d878uv_cdcacm_first600.pcapng", opt: Options{Channel: "rx"}, format: "pcapng", class: "chunk",
		want: figures{145, 458819000, 1791000, 71993000, 458819000.0 / 144}, bytes: 185},
	{file: "usbmon/qdmr_anytone_d878uv_cdcacm_first600.pcapng", opt: Options{Channel: "tx"}, format: "pcapng", class: "chunk",
		want: figures{events: 146}, bytes: 3446},
	{file: "eltima/neoden_excerpt.txt", refused: "whole seconds"},
	{file: "portmon/clocktime_excerpt.log", refused: "no arrival times"},
	{file: "cyclictest/gen_h200_q.txt", refused: "no order"},
	{file: "cyclictest/gen_histfile.txt", refused: "no order"},
	{file: "cyclictest/gen_json.json", refused: "no order"},
	{file: "jitterdebugger/gen_results.json", refused: "no order"},
	{file: "hdrhistogram/jHiccup-2.0.7S.logV2.hlog", refused: "no order"},
}

var (
	derivedSaleae = figures{200, 52749836, 86558, 1703074, 265075}
	mtk3339       = figures{1351, 4071600000, 1040000, 744675000, 3016000}
)

// capturesFolder names a folder of real captures, which are not ours to copy.
const capturesFolder = "SERIALTIMING_CAPTURES"

func TestCaptures(t *testing.T) {
	folder := os.Getenv(capturesFolder)
	if folder == "" {
		t.Skipf("NOT RUN: %s does not name the folder of captures", capturesFolder)
	}
	for _, c := range captureCases {
		t.Run(c.file+" "+c.opt.Channel, func(t *testing.T) {
			f, err := os.Open(filepath.Join(folder, c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			checkCase(t, f, c)
		})
	}
}

func checkCase(t *testing.T, r io.Reader, c captureCase) {
	t.Helper()
	s, err := Open(r, c.file, c.opt)
	var got tally
	if err == nil {
		got, err = readAll(t, s)
	}
	if c.refused != "" {
		if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Fatalf("error %v, want one with %q", err, c.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s channel %q quantum %d steps %v %+v %+v", s.Format, s.Class, s.Channel(), s.Quantum(), got.steps, got.figures, got.report)
	if s.Format != c.format || s.Class != c.class {
		t.Errorf("format %s, class %s; want %s, %s", s.Format, s.Class, c.format, c.class)
	}
	checkFigures(t, got, c)
	checkSteps(t, got, c)
}

func checkFigures(t *testing.T, got tally, c captureCase) {
	t.Helper()
	if got.events != c.want.events {
		t.Errorf("%d events, want %d", got.events, c.want.events)
	}
	if c.want.span != 0 {
		for _, v := range []struct {
			name      string
			got, want float64
		}{
			{"last - first", float64(got.span), float64(c.want.span)},
			{"min", float64(got.min), float64(c.want.min)},
			{"max", float64(got.max), float64(c.want.max)},
			{"mean", got.mean, c.want.mean},
		} {
			if math.Abs(v.got-v.want) > 1 {
				t.Errorf("%s %.1f ns, want %.1f", v.name, v.got, v.want)
			}
		}
	}
	if c.bytes != 0 && got.bytes != c.bytes {
		t.Errorf("%d bytes, want %d", got.bytes, c.bytes)
	}
	if got.errors != c.errors {
		t.Errorf("%d characters with line errors, want %d", got.errors, c.errors)
	}
	if c.quantum != 0 && got.source.Quantum() != c.quantum {
		t.Errorf("quantum %d ns, want %d", got.source.Quantum(), c.quantum)
	}
}

func checkSteps(t *testing.T, got tally, c captureCase) {
	t.Helper()
	want := c.steps
	if want == [5]int64{} && got.events > 0 {
		want = [5]int64{1, got.events - 1}
	}
	if c.file == "minicom/gen_delta.cap" { // its first delta may be anything
		return
	}
	if got.steps != want {
		t.Errorf("steps %v (first, interval, zero, backward, stale), want %v", got.steps, want)
	}
	r := got.report
	if r.Zero != want[Zero] || r.Backward != want[Backward] || r.Stale != want[Stale] {
		t.Errorf("report counts zero %d, backward %d, stale %d; want %v", r.Zero, r.Backward, r.Stale, want)
	}
}

// The histograms of the captures, and their totals.
func TestCapturedHistograms(t *testing.T) {
	folder := os.Getenv(capturesFolder)
	if folder == "" {
		t.Skipf("NOT RUN: %s does not name the folder of captures", capturesFolder)
	}
	for _, c := range []struct {
		file   string
		totals []int64
		over   []int64
	}{
		{"cyclictest/gen_h200_q.txt", []int64{2000, 2000}, []int64{56, 24}},
		{"cyclictest/gen_histfile.txt", []int64{1000}, []int64{815}},
		{"cyclictest/gen_json.json", []int64{500}, []int64{499}},
		{"jitterdebugger/gen_results.json", []int64{1000, 1000}, []int64{0, 0}},
		{"hdrhistogram/jHiccup-2.0.7S.logV2.hlog", []int64{48761}, []int64{0}},
	} {
		f, err := os.Open(filepath.Join(folder, c.file))
		if err != nil {
			t.Fatal(err)
		}
		list, err := OpenHistogram(f, c.file, Options{})
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for i, h := range list {
			t.Logf("%s: %s %s total %d over %d min %d max %d mean %.0f rows %d", c.file, h.Format, h.Label, h.Total, h.Over, h.Min, h.Max, h.Mean, len(h.Rows))
			if i >= len(c.totals) || h.Total != c.totals[i] || h.Over != c.over[i] {
				t.Errorf("%s %s: total %d, over %d; want %v, %v", c.file, h.Label, h.Total, h.Over, c.totals, c.over)
			}
		}
		if len(list) != len(c.totals) {
			t.Errorf("%s: %d histograms, want %d", c.file, len(list), len(c.totals))
		}
	}
}

// A foreign histogram is refused by Open with an error that IsHistogram knows.
func TestIsHistogram(t *testing.T) {
	_, err := Open(strings.NewReader("# Histogram\n000000 000000\n000001 000003\n"), "hist", Options{})
	if !IsHistogram(err) {
		t.Errorf("IsHistogram(%v) is false", err)
	}
	if IsHistogram(errors.New("another")) {
		t.Error("IsHistogram is true for another error")
	}
}
