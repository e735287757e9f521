package importer

import (
	"fmt"
	"strings"
)

// lineLog reads the logs of terminal programs that put a stamp before each
// line. Many programs, one reader: they differ in the dress of the stamp.
type lineLog struct {
	in     *input
	lines  *lineReader
	like   func(prefix) bool
	first  prefix // the stamps that follow must be of its kind
	seen   bool
	deltas bool
	now    int64 // sum of deltas
	wrap   unwrapper
	ch     *channel
}

// prefix is what stands before the text of a line.
type prefix struct {
	stamp
	bracket bool   // [stamp]
	deltaNs int64  // the second number in the bracket
	extra   int    // numbers in the bracket behind the first
	device  bool   // ESP-IDF: the clock is the device's
	isoT    bool   // date and time are joined by a T
	after   string // what follows: "] ", " -> ", " > ", " "
	length  int
}

// parsePrefix reads `[11:45:03.719] `, `13:42:32.662 -> `, `1.121089 ` and
// their like, also inside ANSI colours.
func parsePrefix(line []byte) (p prefix, ok bool) {
	i := skipANSI(line)
	if p, ok = parseDevice(line[i:]); ok {
		p.length += i
		return p, true
	}
	if i < len(line) && line[i] == '[' {
		p.bracket = true
		i++
		for i < len(line) && line[i] == ' ' { // the kernel pads
			i++
		}
	}
	s, n := parseStamp(line[i:])
	if n == 0 {
		return p, false
	}
	p.stamp = s
	p.isoT = s.kind == dateTime && i+10 < len(line) && line[i+10] == 'T'
	i += n
	if p.bracket {
		if i = p.numbers(line, i); i >= len(line) || line[i] != ']' {
			return p, false
		}
		i++
	}
	i += skipANSI(line[i:])
	p.after = separatorOf(line[i:])
	p.length = i + len(p.after)
	return p, p.after != "" || p.length == len(line)
}

// parseDevice reads ESP-IDF's `I (1234) tag: `, milliseconds from the device's
// boot. The level stays with the stamp, the tag with the text.
func parseDevice(b []byte) (p prefix, ok bool) {
	if len(b) < 6 || strings.IndexByte("EWIDV", b[0]) < 0 || b[1] != ' ' || b[2] != '(' {
		return p, false
	}
	d, n := parseDecimal(b[3:], '.')
	ns, fits := d.ns(unitMs)
	if n == 0 || d.exp != 0 || !fits || len(b) < n+5 || b[3+n] != ')' || b[4+n] != ' ' {
		return p, false
	}
	p.stamp = stamp{ns: ns, step: d.step(unitMs), kind: seconds, decimals: 3}
	p.device, p.after, p.length = true, " ", n+5
	return p, true
}

// numbers reads the elapsed and delta columns of grabserial.
func (p *prefix) numbers(line []byte, i int) int {
	for i+1 < len(line) && line[i] == ' ' {
		d, n := parseDecimal(line[i+1:], '.')
		if n == 0 {
			break
		}
		p.deltaNs, _ = d.ns(unitS)
		p.extra++
		i += 1 + n
	}
	return i
}

func separatorOf(b []byte) string {
	for _, s := range [...]string{" -> ", " > ", ": ", " ", "\t"} {
		if len(b) >= len(s) && string(b[:len(s)]) == s {
			return s
		}
	}
	return ""
}

// skipANSI gives the length of the escape sequences that b begins with.
func skipANSI(b []byte) int {
	i := 0
	for i+1 < len(b) && b[i] == 0x1b && b[i+1] == '[' {
		j := i + 2
		for j < len(b) && (b[j] < '@' || b[j] > '~') {
			j++
		}
		if j == len(b) {
			break
		}
		i = j + 1
	}
	return i
}

// The dress of each program, tried in this order. Several programs may write
// the very same: the first one's name stands for all.
var (
	likeArduino    = func(p prefix) bool { return !p.bracket && p.kind == timeOfDay && p.after == " -> " }
	likePlatformIO = func(p prefix) bool { return !p.bracket && p.kind == timeOfDay && p.after == " > " }
	likeGrabserial = func(p prefix) bool {
		return p.bracket && (p.extra > 0 || p.decimals == 6 && (p.kind == timeOfDay || p.kind == seconds && p.ns < 1e9*second))
	}
	likeTio = func(p prefix) bool {
		return p.bracket && p.extra == 0 && (p.kind == timeOfDay || p.isoT || p.kind == seconds && p.ns >= 1e9*second)
	}
	likeMinicom = func(p prefix) bool {
		return p.bracket && p.extra == 0 && (p.kind == dateTime && !p.isoT || p.kind == seconds)
	}
	likeTeraTerm = func(p prefix) bool { return p.bracket && (p.kind == dayClock || p.kind == dateTime) }
	likeESP      = func(p prefix) bool { return p.device }
	likeTs       = func(p prefix) bool { return !p.bracket && !p.device && p.after != " -> " && p.after != " > " }
)

// lineDetect says why a head is no log whose stamps are dressed so.
func lineDetect(like func(prefix) bool) func(head) string {
	return func(h head) string {
		yes, of := h.count(func(l []byte) bool {
			p, ok := parsePrefix(l)
			return ok && like(p)
		})
		if !h.text {
			return "not text"
		}
		if yes == 0 || yes*2 < of {
			return fmt.Sprintf("%d of %d lines begin with its stamp", yes, of)
		}
		return ""
	}
}

func openLines(like func(prefix) bool) func(*input) (reader, error) {
	return func(in *input) (reader, error) {
		l := &lineLog{in: in, lines: newLineReader(in), like: like, ch: in.ch.add("lines", false),
			wrap: unwrapper{period: dayNs, sink: in.sink}}
		l.deltas = in.opt.Deltas || l.looksLikeDeltas()
		return l, nil
	}
}

// looksLikeDeltas says whether the head's stamps fall so often that they can
// only be differences. A rising clock that was set back does it once.
func (l *lineLog) looksLikeDeltas() bool {
	var before int64
	stamps, falls := 0, 0
	for _, line := range l.in.head.full() {
		p, ok := parsePrefix([]byte(line))
		if !ok || !l.like(p) || p.kind != seconds && p.kind != timeOfDay {
			continue
		}
		if stamps++; stamps > 1 && p.ns < before {
			falls++
		}
		before = p.ns
	}
	if stamps < 8 || falls*4 < stamps {
		return false
	}
	l.in.sink.warn("the stamps fall in %d of %d steps: read as differences to the line before (--deltas)", falls, stamps-1)
	return true
}

func (l *lineLog) next(rec *record) error {
	for {
		line, err := l.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		p, ok := parsePrefix(line)
		if !ok || !l.like(p) || l.seen && p.kind != l.first.kind {
			l.in.sink.badOrTorn(l.lines.torn, "no stamp at its beginning: %.40q", line)
			continue
		}
		if l.lines.torn && p.after == "" {
			l.in.sink.report.Torn = true // its stamp may be cut
			continue
		}
		if !l.seen {
			l.first, l.seen = p, true
		}
		l.fill(rec, p, line[p.length:])
		return nil
	}
}

func (l *lineLog) fill(rec *record, p prefix, text []byte) {
	rec.ch, rec.step = l.ch, p.step
	rec.data = text
	if len(text) == 0 {
		rec.data = lineFeed
	}
	switch {
	case l.deltas:
		l.now += p.ns
		rec.at = l.now
	case p.kind == timeOfDay:
		rec.at = l.wrap.put(p.ns)
	default:
		rec.at = p.ns
		// grabserial -m: the elapsed time begins anew, the delta column goes on.
		rec.reset = p.extra > 0 && p.deltaNs > 0
	}
}

// An empty line is one character: its end.
var lineFeed = []byte{'\n'}

// detectTs leaves `0.001 0x31` to the tables: there the text is a byte value
// in every line.
func detectTs(h head) string {
	if why := lineDetect(likeTs)(h); why != "" {
		return why
	}
	var cells []string
	for _, l := range h.full() {
		if p, ok := parsePrefix([]byte(l)); ok && p.kind == seconds {
			cells = append(cells, strings.TrimSpace(l[p.length:]))
		}
	}
	r := guessRadix(cells)
	for _, c := range cells {
		if _, ok := r.decode([]byte(c)); !ok {
			return ""
		}
	}
	if len(cells) > 0 {
		return "a byte value stands behind each stamp, as in a table"
	}
	return ""
}
