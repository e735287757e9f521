package importer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Lists of single latencies: cyclictest -v, and jitterdebugger's samples.raw.
// They have an order, but it is that of wake-ups and not of arrivals: they are
// counted into histograms.

// tallies counts values by thread or CPU.
type tallies struct {
	threads map[int64]map[int64]int64
	values  int // different ones, of all threads
}

func newTallies() *tallies { return &tallies{threads: map[int64]map[int64]int64{}} }

// maxValues is more different values than the histograms of a file have
// buckets; it bounds the memory that a file can take.
const maxValues = 1 << 20

func tooManyValues() error {
	return &Refusal{Why: "it holds more than a million different values: that is no histogram"}
}

// add counts a value in units; beyond a thousand threads nothing is a thread.
// It is false when there are too many different values.
func (t *tallies) add(thread, value int64) bool {
	m := t.threads[thread]
	if m == nil {
		if len(t.threads) == maxChannels {
			return true
		}
		m = map[int64]int64{}
		t.threads[thread] = m
	}
	if m[value]++; m[value] == 1 {
		t.values++
	}
	return t.values <= maxValues
}

func (t *tallies) histograms(label string, unit int64) []Histogram {
	var list []Histogram
	for thread, counts := range t.threads {
		h := Histogram{Label: fmt.Sprintf("%s %d", label, thread), Width: unit, Min: -1, Max: -1, Mean: -1}
		sum, n := 0.0, int64(0)
		for v, count := range counts {
			h.Rows = append(h.Rows, Bucket{v * unit, count})
			sum += float64(v*unit) * float64(count)
			n += count
			h.Max = max(h.Max, v*unit)
			if h.Min < 0 || v*unit < h.Min {
				h.Min = v * unit
			}
		}
		h.Mean = sum / float64(n)
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Histogram) int { return compareNumbered(a.Label, b.Label) })
	return list
}

// parseLatency reads `%8d:%8lu:%8ld`: thread, cycle, µs.
func parseLatency(line []byte) (thread, value int64, ok bool) {
	f := bytes.Split(line, []byte{':'})
	if len(f) != 3 || len(line) < 26 {
		return 0, 0, false
	}
	thread, ok1 := parseUint(bytes.TrimSpace(f[0]))
	_, ok2 := parseUint(bytes.TrimSpace(f[1]))
	value, ok3 := parseUint(bytes.TrimSpace(f[2]))
	return thread, value, ok1 && ok2 && ok3 && value < 1e12
}

func detectCyclictestList(h head) string {
	yes, of := h.count(func(l []byte) bool { _, _, ok := parseLatency(l); return ok })
	return mostLines(yes, of, "THREAD:CYCLE:LATENCY in eight places each")
}

func readCyclictestList(in *input) ([]Histogram, error) {
	t := newTallies()
	lines := newLineReader(in)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return t.histograms("thread", 1000), nil
		}
		if err != nil {
			return nil, err
		}
		thread, value, ok := parseLatency(line)
		if ok {
			if !t.add(thread, value) {
				return nil, tooManyValues()
			}
		} else if len(line) > 0 && line[0] != '#' {
			in.sink.badOrTorn(lines.torn, "not THREAD:CYCLE:LATENCY: %.40q", line)
		}
	}
}

// A record of samples.raw: u32 CPU, i64 s, i64 ns, u64 µs, packed, in the byte
// order of its machine.
const jitterRecord = 28

func parseJitter(b []byte, order binary.ByteOrder) (cpu, value int64, ok bool) {
	cpu = int64(order.Uint32(b))
	sec, ns := order.Uint64(b[4:]), order.Uint64(b[12:])
	us := order.Uint64(b[20:])
	return cpu, int64(us), cpu < 4096 && sec < 1<<34 && ns < 1e9 && us < 1e12
}

// jitterOrder tells the byte order in which all records of a head make sense.
func jitterOrder(b []byte) binary.ByteOrder {
	if len(b) < 2*jitterRecord {
		return nil
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		good := true
		for r := b; len(r) >= jitterRecord && good; r = r[jitterRecord:] {
			_, _, good = parseJitter(r, order)
		}
		if good && order.Uint64(b[4:]) > 0 {
			return order
		}
	}
	return nil
}

func detectJitterRaw(h head) string {
	if jitterOrder(h.raw) == nil {
		return "it is no list of records of 28 bytes"
	}
	return ""
}

func readJitterRaw(in *input) ([]Histogram, error) {
	order := jitterOrder(in.head.raw)
	if order == nil {
		return nil, &Refusal{Why: "it is no list of records of 28 bytes"}
	}
	t := newTallies()
	var b [jitterRecord]byte
	for {
		_, err := io.ReadFull(in.br, b[:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			in.sink.report.Torn = err != io.EOF
			return t.histograms("CPU", 1000), nil
		}
		if err != nil {
			return nil, err
		}
		in.sink.line++
		cpu, value, ok := parseJitter(b[:], order)
		if !ok {
			in.sink.bad("a record that makes no sense")
		} else if !t.add(cpu, value) {
			return nil, tooManyValues()
		}
	}
}
