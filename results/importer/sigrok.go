package importer

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"serialtiming/results"
)

// sigrok reads the annotations of sigrok-cli and PulseView:
//
//	START-END uart-1: 48                (--protocol-decoder-samplenum)
//	START-END uart-1: TX data: "48"     (with -l 3 or classes)
//	START-END UART: TX data: 72         (PulseView, %s %d: %r: %1)
//
// The numbers are samples and the file does not say how many make a second. A
// character's stamp is the start of its first data bit. Rows of start, stop
// and data bits may stand between; errors are rows of their own and belong to
// the character before.
type sigrok struct {
	in    *input
	lines *lineReader
	rate  sampleClock
	radix radix
	bit   int64 // samples of a start bit, 0 while none was seen
	one   [1]byte
}

// annotation is one row taken apart.
type annotation struct {
	start, end int64
	id, class  []byte // uart-1, "TX data" or nothing
	text       []byte
}

var colonSpace = []byte(": ")

// parseAnnotation reads `START-END ID: [CLASS: ]TEXT`. An empty text is a
// space that an editor took away.
func parseAnnotation(line []byte) (a annotation, ok bool) {
	span, rest, ok1 := bytes.Cut(line, []byte{' '})
	from, to, ok2 := bytes.Cut(span, []byte{'-'})
	if !ok1 || !ok2 {
		return a, false
	}
	a.start, ok1 = parseUint(from)
	a.end, ok2 = parseUint(to)
	if !ok1 || !ok2 {
		return a, false
	}
	i := bytes.Index(rest, colonSpace)
	if i < 0 {
		if len(rest) < 2 || rest[len(rest)-1] != ':' {
			return a, false
		}
		a.id = rest[:len(rest)-1]
		return a, true
	}
	a.id, a.text = rest[:i], rest[i+2:]
	if j := bytes.Index(a.text, colonSpace); j > 0 && !isQuoted(a.text) {
		a.class, a.text = a.text[:j], a.text[j+2:]
	} else if n := len(a.text); n > 2 && a.text[n-1] == ':' {
		a.class, a.text = a.text[:n-1], nil
	}
	if isQuoted(a.text) {
		a.text = a.text[1 : len(a.text)-1]
	}
	return a, true
}

func isQuoted(b []byte) bool {
	return len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"'
}

func detectSigrok(h head) string {
	yes, of := h.count(func(l []byte) bool { _, ok := parseAnnotation(l); return ok })
	if of == 0 || yes*2 < of {
		return fmt.Sprintf("%d of %d lines are START-END NAME: TEXT", yes, of)
	}
	return ""
}

func openSigrok(in *input) (reader, error) {
	if in.opt.SampleRate <= 0 {
		return nil, &Refusal{Why: "its stamps are sample numbers and the file holds no sample rate",
			Hint: "give --samplerate HZ (sigrok-cli --show prints it)"}
	}
	s := &sigrok{in: in, lines: newLineReader(in), rate: sampleClock{rate: uint64(in.opt.SampleRate)}}
	var cells []string
	for _, l := range in.head.full() {
		a, ok := parseAnnotation([]byte(l))
		switch {
		case !ok:
		case annotationNote(a) == "":
			cells = append(cells, string(a.text))
		default:
			in.marks = decoderMarks
		}
	}
	s.radix = guessRadix(cells)
	return s, nil
}

// decoderMarks are the line errors that a decoder shows beside the start, stop
// and data bits. An export of the data alone shows none of them.
const decoderMarks = results.Framing | results.Parity | results.Break

var annotationNotes = []string{"start bit", "stop bit", "parity bit", "frame error", "framing error",
	"parity error", "break condition", "packet"}

// annotationNote gives what a row is, in lower case, when it is no character.
func annotationNote(a annotation) string {
	if containsFold(a.class, "bits") || containsFold(a.class, "start") || containsFold(a.class, "stop") {
		return "bit"
	}
	if len(a.text) < 5 {
		return ""
	}
	for _, note := range annotationNotes {
		if strings.EqualFold(string(a.text), note) {
			return note
		}
	}
	return ""
}

func (s *sigrok) next(rec *record) error {
	for {
		line, err := s.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		a, ok := parseAnnotation(line)
		if !ok {
			s.in.sink.badOrTorn(s.lines.torn, "not START-END NAME: TEXT: %.40q", line)
			continue
		}
		if s.row(a, rec) {
			return nil
		}
	}
}

func (s *sigrok) row(a annotation, rec *record) bool {
	note := annotationNote(a)
	if note == "start bit" {
		s.bit = a.end - a.start
	}
	rec.data = nil
	rec.flags = errorFlags([]byte(note))
	if note != "" && rec.flags == 0 {
		return false
	}
	if note == "" && s.bit > 0 && a.end-a.start < 2*s.bit {
		return false // a data bit
	}
	rec.ch = directionChannel(s.in.ch, a.id, a.class)
	rec.at, rec.step = s.rate.ns(uint64(a.start)), s.rate.step()
	if note == "" {
		rec.data = s.value(a.text)
	}
	return true
}

func (s *sigrok) value(text []byte) []byte {
	if len(text) == 0 {
		text = []byte{' '}
	}
	cut := s.lines.cut(text, s.radix)
	v, ok := s.radix.decode(text)
	if !ok || cut {
		return s.in.sink.placeholders(1)
	}
	s.one[0] = v
	return s.one[:]
}

// directionChannel names a channel after a decoder and the direction in its
// class: "uart-1", "uart-1 rx", with the alias rx.
func directionChannel(ch *channels, id, class []byte) *channel {
	var name [64]byte
	n := append(name[:0], id...)
	dir := ""
	switch {
	case containsFold(class, "rx"):
		dir = "rx"
	case containsFold(class, "tx"):
		dir = "tx"
	default:
		return ch.get(n)
	}
	n = append(append(n, ' '), dir...)
	if ch.last != nil && ch.last.Name == string(n) {
		return ch.last
	}
	ch.last = ch.add(string(n), false, dir, string(class))
	return ch.last
}

// sampleClock turns sample numbers into nanoseconds.
type sampleClock struct{ rate uint64 }

// ns is sample·10^9/rate, rounded half up.
func (c sampleClock) ns(sample uint64) int64 {
	hi, lo := bits.Mul64(sample, 1e9)
	lo, carry := bits.Add64(lo, c.rate/2, 0)
	hi += carry
	if hi >= c.rate {
		return 1<<63 - 1 // farther than 292 years
	}
	q, _ := bits.Div64(hi, lo, c.rate)
	return int64(min(q, 1<<63-1))
}

// step is the duration of a sample, at least 1 ns.
func (c sampleClock) step() int64 { return max(1, c.ns(1)) }

// noteFlags is for readers that meet the words of sigrok elsewhere.
func noteFlags(text []byte) (flags results.Flags, note bool) {
	w := annotationNote(annotation{text: text})
	return errorFlags([]byte(w)), w != ""
}
