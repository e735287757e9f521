package importer

import (
	"bytes"
	"io"
)

// socat reads what socat -x and -v write to standard error:
//
//	> 2026/11/30 11:42:44.000037608  length=1 from=61 to=61
//	 01
//
// With -v the text of a chunk has no line end of its own, so that the next
// header sticks to it. socat builds with clock_gettime print microseconds in a
// field of nine digits: .000037608 is 37608 µs. Where all nine-digit fractions
// in the head begin with 000, they are read so.
type socat struct {
	in     *input
	lines  *lineReader
	micro  bool
	open   bool // a chunk was begun
	chunk  socatHeader
	text   []byte // what stands below its header
	data   []byte
	expect [2]int64 // byte number that the next chunk of a direction begins with
	done   bool
}

type socatHeader struct {
	direction byte
	stamp     stamp
	length    int64
	from, to  int64
	begin     int // place of the header in its line
}

var lengthMark = []byte("  length=")

// parseSocat finds a header, which ends its line and may stand behind text.
func parseSocat(line []byte) (h socatHeader, ok bool) {
	i := bytes.LastIndex(line, lengthMark)
	if i < 0 {
		return h, false
	}
	for _, width := range [...]int{len("> 2026/11/30 11:42:44.123456"), len("> 2026/11/30 11:42:44.123456789")} {
		b := i - width
		if b < 0 || line[b] != '>' && line[b] != '<' || line[b+1] != ' ' {
			continue
		}
		s, n := parseStamp(line[b+2 : i])
		if n == width-2 && s.kind == dateTime {
			h.direction, h.stamp, h.begin = line[b], s, b
			return h, h.counters(line[i+len(lengthMark):])
		}
	}
	return h, false
}

// counters reads `1 from=61 to=61`.
func (h *socatHeader) counters(b []byte) bool {
	f := bytes.Fields(b)
	if len(f) != 3 || !bytes.HasPrefix(f[1], []byte("from=")) || !bytes.HasPrefix(f[2], []byte("to=")) {
		return false
	}
	var ok1, ok2, ok3 bool
	h.length, ok1 = parseUint(f[0])
	h.from, ok2 = parseUint(f[1][len("from="):])
	h.to, ok3 = parseUint(f[2][len("to="):])
	return ok1 && ok2 && ok3
}

func detectSocat(h head) string {
	yes, _ := h.count(func(l []byte) bool { _, ok := parseSocat(l); return ok })
	if yes == 0 {
		return "no line is a header as `> 2026/11/30 11:42:44.000037  length=1 from=61 to=61`"
	}
	return ""
}

func openSocat(in *input) (reader, error) {
	s := &socat{in: in, lines: newLineReader(in), expect: [2]int64{-1, -1}}
	nine, small := 0, 0
	for _, l := range in.head.lines {
		if h, ok := parseSocat([]byte(l)); ok && h.stamp.decimals == 9 {
			nine++
			if h.stamp.ns%second < 1e6 {
				small++
			}
		}
	}
	if s.micro = nine > 0 && nine == small; s.micro {
		in.sink.warn("fractions of nine digits are microseconds: each begins with 000, as some builds of socat print them")
	}
	return s, nil
}

// next gives the chunk that a following header or the end of the file closes.
func (s *socat) next(rec *record) error {
	for !s.done {
		line, err := s.lines.next()
		if err == io.EOF {
			s.done = true
			if s.open {
				return s.close(rec)
			}
			break
		}
		if err != nil {
			return err
		}
		h, ok := parseSocat(line)
		if !ok {
			s.body(line)
			continue
		}
		s.addText(line[:h.begin])
		before := s.open
		if before {
			if err := s.close(rec); err != nil {
				return err
			}
		}
		s.open, s.chunk, s.text = true, h, s.text[:0]
		if before && len(rec.data) > 0 {
			return nil
		}
	}
	return io.EOF
}

// maxChunkText is the most that is kept of a chunk: 200 KiB as -x -v writes it.
const maxChunkText = 1 << 20

func (s *socat) addText(b []byte) {
	if len(s.text)+len(b) < maxChunkText {
		s.text = append(s.text, b...)
	}
}

// body takes a line between headers; socat's own messages begin with a date.
func (s *socat) body(line []byte) {
	st, n := parseStamp(line)
	diagnostic := n > 0 && st.kind == dateTime && bytes.HasPrefix(line[n:], []byte(" socat["))
	switch {
	case diagnostic:
	case s.open:
		s.addText(line)
		s.addText([]byte{'\n'})
	case len(line) > 0:
		s.in.sink.bad("text before the first header")
	}
}

// close turns the chunk that was read into a record.
func (s *socat) close(rec *record) error {
	c := &s.chunk
	rec.at, rec.step = c.stamp.ns, c.stamp.step
	if c.stamp.decimals == 9 && s.micro {
		frac := c.stamp.ns % second
		if frac >= 1e6 {
			return &Refusal{Why: "its nine-digit fractions are microseconds at first and nanoseconds later"}
		}
		rec.at += frac * 999
		rec.step = 1000
	}
	rec.ch = s.direction()
	rec.data = s.bytes(c.length)
	return nil
}

// direction names the channel and follows the byte counter, which shows chunks
// that are missing from the log. It starts again with each run of socat.
func (s *socat) direction() *channel {
	k, name, alias := 0, ">", "tx"
	if s.chunk.direction == '<' {
		k, name, alias = 1, "<", "rx"
	}
	if e := s.expect[k]; e >= 0 && s.chunk.from != e && s.chunk.from != 0 {
		s.in.sink.warn("%s: bytes %d to %d are not in the log", name, e, s.chunk.from-1)
	}
	s.expect[k] = s.chunk.to + 1
	return s.in.ch.add(name, false, alias)
}

// bytes decodes the text of a chunk of n bytes: rows of hex, or the text with
// its escapes; placeholders when neither gives n.
func (s *socat) bytes(n int64) []byte {
	s.data = s.data[:0]
	for line := range bytes.SplitSeq(s.text, []byte{'\n'}) {
		if len(line) > 0 && line[0] == ' ' {
			s.data = parseHexRow(s.data, line)
		}
	}
	if int64(len(s.data)) == n {
		return s.data
	}
	s.data = appendUnescaped(s.data[:0], s.text)
	// The line end behind the text of the last chunk may be the file's own.
	if int64(len(s.data)) == n+1 && s.data[n] == '\n' {
		s.data = s.data[:n]
	}
	if int64(len(s.data)) == n {
		return s.data
	}
	return s.in.sink.placeholders(n)
}

// appendUnescaped decodes C escapes: \n, \\, \", \x1f, and octal.
func appendUnescaped(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			dst = append(dst, b[i])
			continue
		}
		i++
		n := 1
		switch {
		case b[i] == 'x':
			for n < 3 && i+n < len(b) && hexDigit(b[i+n]) < 16 {
				n++
			}
		case b[i]-'0' < 8:
			for n < 3 && i+n < len(b) && b[i+n]-'0' < 8 {
				n++
			}
		}
		v, ok := unescape(b[i : i+n])
		if !ok {
			v = b[i]
		}
		dst = append(dst, v)
		i += n - 1
	}
	return dst
}
