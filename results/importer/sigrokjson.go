package importer

import (
	"bytes"
	"fmt"
)

// sigrokJSON reads sigrok-cli's json-trace output line by line and not as
// JSON: its text is not escaped, so that a quote mark that was received makes
// the file invalid, and a killed run leaves it open.
//
//	{"ph": "B", "ts": 380.000000, "pid": "uart-1", "tid": "TX", "name": "1"},
//
// ts counts microseconds; the "E" rows say when an annotation ended.
type sigrokJSON struct {
	in    *input
	lines *lineReader
	radix radix
	one   [1]byte
}

type traceEvent struct {
	phase byte
	at    timeCell
	pid   []byte
	tid   []byte
	name  []byte
}

func parseTraceEvent(line []byte) (e traceEvent, ok bool) {
	line = bytes.TrimSpace(line)
	if line, ok = bytes.CutPrefix(line, []byte(`{"ph": "`)); !ok || len(line) < 2 {
		return e, false
	}
	e.phase = line[0]
	_, line, ok = bytes.Cut(line, []byte(`"ts": `))
	d, n := parseDecimal(line, '.')
	ns, fits := d.ns(unitUs)
	if !ok || n == 0 || !fits {
		return e, false
	}
	e.at = timeCell{ns: ns, step: d.step(unitUs)}
	if _, line, ok = bytes.Cut(line, []byte(`"pid": "`)); !ok {
		return e, false
	}
	if e.pid, line, ok = bytes.Cut(line, []byte(`", "tid": "`)); !ok {
		return e, false
	}
	if e.tid, line, ok = bytes.Cut(line, []byte(`", "name": "`)); !ok {
		return e, false
	}
	line = bytes.TrimSuffix(line, comma)
	e.name, ok = bytes.CutSuffix(line, []byte(`"}`))
	return e, ok
}

func detectSigrokJSON(h head) string {
	if len(h.lines) == 0 || !bytes.HasPrefix([]byte(h.first()), []byte(`{"traceEvents": [`)) {
		return `it does not begin with {"traceEvents": [`
	}
	yes, _ := h.count(func(l []byte) bool { _, ok := parseTraceEvent(l); return ok })
	if yes == 0 {
		return fmt.Sprintf("none of its first %d lines is an event as sigrok-cli writes it", len(h.lines))
	}
	return ""
}

func openSigrokJSON(in *input) (reader, error) {
	var cells []string
	for _, l := range in.head.full() {
		if e, ok := parseTraceEvent([]byte(l)); ok && e.phase == 'B' {
			if _, note := noteFlags(e.name); note {
				in.marks = decoderMarks
			} else {
				cells = append(cells, string(e.name))
			}
		}
	}
	return &sigrokJSON{in: in, lines: newLineReader(in), radix: guessRadix(cells)}, nil
}

func (s *sigrokJSON) next(rec *record) error {
	for {
		line, err := s.lines.next()
		if err != nil {
			return err
		}
		e, ok := parseTraceEvent(line)
		if !ok {
			s.frame(line)
			continue
		}
		if e.phase == 'B' && s.row(e, rec) {
			return nil
		}
	}
}

// frame accepts the lines around the events.
func (s *sigrokJSON) frame(line []byte) {
	switch string(bytes.TrimSpace(line)) {
	case "", `{"traceEvents": [`, "]}", "]", "}":
	default:
		s.in.sink.badOrTorn(s.lines.torn, "no event as sigrok-cli writes it: %.40q", line)
	}
}

func (s *sigrokJSON) row(e traceEvent, rec *record) bool {
	flags, note := noteFlags(e.name)
	if note && flags == 0 || containsFold(e.tid, "bits") {
		return false
	}
	rec.at, rec.step, rec.flags, rec.data = e.at.ns, e.at.step, flags, nil
	rec.ch = directionChannel(s.in.ch, e.pid, e.tid)
	if note {
		return true
	}
	if v, ok := s.radix.decode(e.name); ok {
		s.one[0] = v
		rec.data = s.one[:]
	} else {
		rec.data = s.in.sink.placeholders(1)
	}
	return true
}
