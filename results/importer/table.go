package importer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// table reads any CSV, TSV or spaced text with a column of times, and at most
// one character a row:
//
//	t;byte              0.005000,41           1796039122116921 0x41
//
// The time column is found by --time-column, by its header, or it is the first
// column of numbers. Its unit is told by --time-unit, by the header (Time[ns],
// t_us), or by the magnitude of the numbers, which is said.
type table struct {
	in       *input
	lines    *lineReader
	plan     tablePlan
	fields   [][]byte
	header   bool // still to be skipped
	now      int64
	rate     sampleClock
	only     *channel
	one      [1]byte
	decimals int
	seen     bool
}

// tablePlan is the layout that a head shows.
type tablePlan struct {
	columns
	spaced  bool // columns are parted by runs of spaces
	header  bool
	time    int // places of columns, -1 for none
	value   int
	channel int
	unit    int  // power of ten of a ns
	samples bool // the time column counts samples
	deltas  bool
	radix   radix
	guess   string // how the unit was guessed, "" when it is written
}

var (
	timeNames = []string{"t", "time", "timestamp", "ts", "start_time", "start", "seconds", "sec", "secs",
		"epoch", "elapsed", "arrived", "wrote", "frame.time_epoch", "nsecs", "usecs", "msecs", "delta", "deltatime",
		"dt", "interval", "sample", "samples"}
	valueNames   = []string{"byte", "data", "value", "char", "character", "hex", "ascii", "payload", "usb.capdata"}
	channelNames = []string{"channel", "name", "dir", "direction", "interface", "analyzer", "source"}
)

// timeHeader reads a header cell: `Time [s]`, `Time(ms)`, `arrived_ns`, `t`.
// unit is -1 when it is not written there.
func timeHeader(cell string) (name string, unit int, is bool) {
	lower := strings.ToLower(strings.Trim(cell, `"# `))
	name, unit = lower, -1
	if i := strings.IndexAny(lower, "[("); i > 0 {
		unit = unitOf(strings.Trim(lower[i:], "[]() "))
		name = strings.TrimSpace(lower[:i])
	} else if i := strings.LastIndexAny(lower, "_ -"); i > 0 && unitOf(lower[i+1:]) >= 0 {
		unit, name = unitOf(lower[i+1:]), lower[:i]
	} else if unitOf(lower) >= 0 {
		return lower, unitOf(lower), true
	}
	for _, t := range timeNames {
		if name == t {
			return name, unit, true
		}
	}
	return name, unit, unit >= 0
}

func detectTable(h head) string {
	_, why := planTable(h, Options{TimeUnit: "s"})
	return why
}

func openTable(in *input) (reader, error) {
	p, why := planTable(in.head, in.opt)
	if why != "" {
		return nil, &Refusal{Why: why, Hint: "name the column with --time-column N and its unit with --time-unit"}
	}
	t := &table{in: in, lines: newLineReader(in), plan: p, header: p.header}
	t.fields = make([][]byte, max(p.time, p.value, p.channel)+2)
	if p.samples {
		if in.opt.SampleRate <= 0 {
			return nil, &Refusal{Why: "its time column counts samples and the file holds no sample rate",
				Hint: "give --samplerate HZ"}
		}
		t.rate.rate = uint64(in.opt.SampleRate)
	} else if in.opt.SampleRate > 0 {
		return nil, &OptionError{Name: in.name, Format: tableName + ", unless its time column counts samples", Flag: "--samplerate"}
	}
	if p.guess != "" {
		in.sink.warn("%s", p.guess)
	}
	if p.channel < 0 {
		t.only = in.ch.add(tableName, false)
	}
	return t, nil
}

func (t *table) next(rec *record) error {
	for {
		line, err := t.lines.record()
		if err == io.EOF && !t.seen {
			return t.noRows()
		}
		if err != nil {
			return err
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if t.header {
			t.header = false
			continue
		}
		if t.row(line, rec) {
			return nil
		}
	}
}

// noRows is the end of a table that gave no event.
func (t *table) noRows() error {
	if r := t.in.sink.report; r.Bad > 0 || r.Torn {
		why := "no row of it could be read"
		if r.Bad > 0 {
			why += ", the first: " + r.BadLines[0].String(t.in.name)
		}
		return &Refusal{Why: why, Hint: "name the column with --time-column N and its unit with --time-unit"}
	}
	return &Refusal{Why: "no rows, only a header", Hint: "the tool that should have written them has not, or not yet"}
}

func (t *table) row(line []byte, rec *record) bool {
	n := t.plan.cut(line, t.fields)
	if n <= t.plan.time {
		t.in.sink.badOrTorn(t.lines.torn, "no time column")
		return false
	}
	cell, ok := t.parse(t.fields[t.plan.time])
	if !ok || t.lines.torn && n == t.plan.time+1 && t.seen && cell.decimals < t.decimals {
		t.in.sink.badOrTorn(t.lines.torn, "the time is no number: %.40q", t.fields[t.plan.time])
		return false
	}
	t.decimals, t.seen = cell.decimals, true
	if t.plan.deltas {
		t.now += cell.ns
		cell.ns = t.now
	}
	rec.at, rec.step, rec.ch = cell.ns, cell.step, t.only
	if rec.ch == nil {
		rec.ch = t.in.ch.get(t.fields[min(t.plan.channel, n-1)])
	}
	rec.data = t.value(n)
	return true
}

func (t *table) parse(cell []byte) (timeCell, bool) {
	if !t.plan.samples {
		return parseTimeCell(cell, t.plan.point, t.plan.unit)
	}
	n, ok := parseUint(bytes.TrimSpace(cell))
	return timeCell{ns: t.rate.ns(uint64(n)), step: t.rate.step(), decimals: len(cell)}, ok
}

func (t *table) value(n int) []byte {
	if t.plan.value >= 0 && t.plan.value < n {
		cell := t.fields[t.plan.value]
		if len(cell) > 1 {
			cell = bytes.TrimSpace(cell)
		}
		cut := t.plan.value == n-1 && t.lines.cut(cell, t.plan.radix)
		if v, ok := t.plan.radix.decode(cell); ok && !cut {
			t.one[0] = v
			return t.one[:]
		}
	}
	return t.in.sink.placeholders(1)
}

// cut splits a line as the plan says.
func (p *tablePlan) cut(line []byte, into [][]byte) int {
	if !p.spaced {
		return split(line, p.sep, into)
	}
	n := 0
	for n < len(into) {
		line = bytes.TrimLeft(line, " ")
		if len(line) == 0 {
			break
		}
		end := bytes.IndexByte(line, ' ')
		if end < 0 {
			end = len(line)
		}
		into[n], line = line[:end], line[end:]
		n++
	}
	return n
}

func unitWord(unit int) string {
	return map[int]string{unitS: "seconds", unitMs: "milliseconds", unitUs: "microseconds", unitNs: "nanoseconds"}[unit]
}

// guessUnit tells a unit by the magnitude of a number since 1970 (2001 to
// 2096), or by a fraction: numbers with one are seconds.
func guessUnit(d decimal) (int, string) {
	whole := d.mant
	for e := d.exp; e < 0; e++ {
		whole /= 10
	}
	for _, m := range [...]struct {
		from uint64
		unit int
	}{{1e18, unitNs}, {1e15, unitUs}, {1e12, unitMs}, {1e9, unitS}} {
		if whole >= m.from && whole < m.from*4 {
			return m.unit, fmt.Sprintf("the time column is read as %s since 1970, by its magnitude", unitWord(m.unit))
		}
	}
	if d.exp < 0 {
		return unitS, "the time column is read as seconds, as it has a fraction"
	}
	return -1, ""
}
