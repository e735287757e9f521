package importer

import (
	"bytes"
	"io"
)

// jpnevulator reads what jpnevulator --timing-print writes: a stamp on a line
// of its own, then rows of hex, with a byte counter before and the text behind
// them on request. A new stamp comes only when the silence before a read was
// longer than --timing-delta, so one stamp may stand for many reads.
//
//	2026-11-30 11:43:48.979939: /dev/ttyS0
//	00000000	00 01	..
type jpnevulator struct {
	in    *input
	lines *lineReader
	open  bool
	head  jpneStamp
	data  []byte
	out   []byte
	done  bool
}

// maxBlock is the most that is kept of a block: a minute and a half at 115200.
const maxBlock = 1 << 20

type jpneStamp struct {
	at, step int64
	ch       *channel
}

// parseJpneStamp reads a stamp line; name is the interface behind the colon.
func parseJpneStamp(line []byte) (s stamp, name []byte, ok bool) {
	s, n := parseStamp(line)
	if n == 0 || s.kind != dateTime || n == len(line) || line[n] != ':' {
		return s, nil, false
	}
	name = bytes.TrimSpace(line[n+1:])
	return s, name, len(line) == n+1 || line[n+1] == ' '
}

func detectJpnevulator(h head) string {
	stamps, rows := 0, 0
	for _, l := range h.lines {
		if _, _, ok := parseJpneStamp([]byte(l)); ok {
			stamps++
		} else if len(jpneRow(nil, []byte(l))) > 0 {
			rows++
		}
	}
	if stamps == 0 || rows == 0 {
		return "no stamp on a line of its own with rows of hex below it"
	}
	return ""
}

// jpneRow appends the bytes of `00000038<TAB>38 39<TAB>89`; the first and the
// last part may be missing.
func jpneRow(dst, line []byte) []byte {
	if first, rest, found := bytes.Cut(line, []byte{'\t'}); found && len(first) == 8 &&
		allOf(first, "0123456789abcdefABCDEF") {
		line = rest
	}
	return parseHexRow(dst, line)
}

func openJpnevulator(in *input) (reader, error) {
	return &jpnevulator{in: in, lines: newLineReader(in)}, nil
}

func (j *jpnevulator) next(rec *record) error {
	for !j.done {
		line, err := j.lines.next()
		if err == io.EOF {
			j.done = true
			if j.close(rec) {
				return nil
			}
			break
		}
		if err != nil {
			return err
		}
		s, name, ok := parseJpneStamp(line)
		if !ok {
			j.row(line)
			continue
		}
		given := j.close(rec)
		if len(name) == 0 {
			name = []byte("port")
		}
		j.open = true
		j.head = jpneStamp{s.ns, s.step, j.in.ch.get(name)}
		if given {
			return nil
		}
	}
	return io.EOF
}

// row takes a line below a stamp. Lines of modem control and the separator of
// --append are neither stamps nor hex.
func (j *jpnevulator) row(line []byte) {
	if len(line) == 0 {
		return
	}
	n := len(j.data)
	if len(j.data) < maxBlock {
		j.data = jpneRow(j.data, line)
	} else {
		j.in.sink.warn("a block is longer than 1 MiB: the rest of it is left out")
		return
	}
	if !j.open {
		j.data = j.data[:0]
		j.in.sink.bad("no stamp above it")
	} else if len(j.data) == n {
		j.in.sink.bad("no stamp and no hex: %.40q", line)
	}
}

func (j *jpnevulator) close(rec *record) bool {
	if !j.open || len(j.data) == 0 {
		return false
	}
	if len(j.data) > 16 {
		j.in.sink.warn("one stamp stands for more than a row: later reads within --timing-delta have none")
	}
	rec.at, rec.step, rec.ch = j.head.at, j.head.step, j.head.ch
	j.out, j.data = j.data, j.out[:0]
	rec.data = j.out
	return true
}
