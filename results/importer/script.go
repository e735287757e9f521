package importer

import (
	"bytes"
	"fmt"
)

// script reads the timing file of script(1): delays since the entry before,
// and how many bytes came. The bytes themselves are in another file.
//
//	0.019428 1          (classic)
//	O 0.019428 1        (advanced: O output, I input, H header, S signal)
type script struct {
	in    *input
	lines *lineReader
	now   int64
}

type scriptEntry struct {
	kind  byte // O for the classic form
	delay decimal
	bytes int64
}

func parseScript(line []byte) (e scriptEntry, ok bool) {
	e.kind = 'O'
	if len(line) > 2 && line[1] == ' ' && bytes.IndexByte([]byte("OIHS"), line[0]) >= 0 {
		e.kind, line = line[0], line[2:]
	}
	d, n := parseDecimal(line, '.')
	if n == 0 || d.neg || d.exp > -6 || n == len(line) || line[n] != ' ' {
		return e, false
	}
	e.delay = d
	if e.kind == 'H' || e.kind == 'S' {
		return e, true
	}
	e.bytes, ok = parseUint(line[n+1:])
	return e, ok
}

// detectScript wants every line to be an entry, and in the classic form delays
// that are no rising times: `0.100000 65` could be a table as well.
func detectScript(h head) string {
	advanced, falling, n := 0, 0, 0
	before := int64(-1)
	for i, l := range h.full() {
		if l == "" {
			continue
		}
		e, ok := parseScript([]byte(l))
		if !ok {
			return fmt.Sprintf("line %d is no delay with a number of bytes", i+1)
		}
		ns, _ := e.delay.ns(unitS)
		if n++; l[1] == ' ' && l[0] > '9' {
			advanced++
		}
		if ns < before {
			falling++
		}
		before = ns
	}
	if n == 0 || advanced == 0 && falling == 0 {
		return "no delays: the numbers rise throughout"
	}
	return ""
}

func openScript(in *input) (reader, error) {
	return &script{in: in, lines: newLineReader(in)}, nil
}

func (s *script) next(rec *record) error {
	for {
		line, err := s.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		e, ok := parseScript(line)
		ns, fits := e.delay.ns(unitS)
		if !ok || !fits || s.now > s.now+ns {
			s.in.sink.badOrTorn(s.lines.torn, "no delay with a number of bytes: %.40q", line)
			continue
		}
		s.now += ns
		if e.bytes == 0 || e.kind == 'H' || e.kind == 'S' {
			continue
		}
		rec.at, rec.step = s.now, e.delay.step(unitS)
		rec.ch = s.in.ch.add("rx", false, "output", "O")
		if e.kind == 'I' {
			rec.ch = s.in.ch.add("tx", false, "input", "I")
		}
		rec.data = s.in.sink.placeholders(e.bytes)
		return nil
	}
}
