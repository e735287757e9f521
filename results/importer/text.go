package importer

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// lineReader gives the lines of a text without copying them, whatever ends
// them. A line longer than the buffer is a bad line.
type lineReader struct {
	br      *bufio.Reader
	sink    *sink
	torn    bool // the line last given had no line end: the file ends in it
	scratch []byte
	width   int    // of the last value that cut looked at
	held    []byte // a line that was read ahead
	hasHeld bool
	heldEnd bool
}

func newLineReader(in *input) *lineReader {
	return &lineReader{br: in.br, sink: in.sink}
}

// next gives a line, valid until the next call, without its line end; io.EOF
// behind the last one.
func (l *lineReader) next() ([]byte, error) {
	if l.hasHeld {
		l.hasHeld = false
		l.torn = l.heldEnd
		l.sink.line++
		return l.held, nil
	}
	for {
		line, err := l.br.ReadSlice('\n')
		if err == nil {
			l.sink.line++
			line = line[:len(line)-1]
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			return line, nil
		}
		if err != bufio.ErrBufferFull {
			return l.last(line, err)
		}
		l.sink.line++
		l.sink.bad("a line longer than 256 KiB")
		if err := l.skipLine(); err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) last(line []byte, err error) ([]byte, error) {
	if err != io.EOF || len(line) == 0 {
		return nil, err
	}
	l.sink.line++
	l.torn = true
	return bytes.TrimSuffix(line, []byte{'\r'}), nil
}

func (l *lineReader) skipLine() error {
	for {
		_, err := l.br.ReadSlice('\n')
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// record gives a line as next does, joined with those that follow while a
// double quote is open in it: a line feed inside quotes is data. A quote before
// a record that is whole in itself was a stray one and joins nothing.
func (l *lineReader) record() ([]byte, error) {
	line, err := l.next()
	if err != nil || bytes.Count(line, quoteMark)%2 == 0 {
		return line, err
	}
	l.scratch = append(l.scratch[:0], line...)
	whole := len(l.scratch)
	for range 8 {
		if l.torn {
			break
		}
		more, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		quotes := bytes.Count(more, quoteMark)
		if quotes != 0 && quotes%2 == 0 { // a record of its own
			l.hold(more)
			return l.scratch[:whole], nil
		}
		l.scratch = append(append(l.scratch, '\n'), more...)
		if quotes != 0 {
			return l.scratch, nil
		}
	}
	return l.scratch, nil
}

// cut says whether a value at the end of a torn file was cut: it is shorter
// than the one before, in a radix that writes all in one width. Silently it
// would be another value.
func (l *lineReader) cut(value []byte, r radix) bool {
	cut := l.torn && len(value) < l.width && (r == radixHex || r == radixOct || r == radixBin)
	l.width = len(value)
	if cut {
		l.sink.report.Torn = true
	}
	return cut
}

var quoteMark = []byte{'"'}

func (l *lineReader) hold(line []byte) {
	l.held = append(l.held[:0], line...)
	l.hasHeld, l.heldEnd = true, l.torn
	l.torn = false
	l.sink.line--
}

// split cuts a CSV record into at most len(into) fields, quotes taken off
// where a field begins with one ("" inside is left as it is). It gives the
// number of fields; the last one holds the rest when there are more.
func split(line []byte, sep byte, into [][]byte) int {
	n := 0
	for n < len(into)-1 {
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			end := closingQuote(line)
			field = line[1:end]
			line = line[min(end+1, len(line)):]
			if len(line) > 0 && line[0] != sep { // stray text behind the quote
				if i := bytes.IndexByte(line, sep); i >= 0 {
					line = line[i:]
				} else {
					line = nil
				}
			}
			into[n] = field
			n++
			if len(line) == 0 {
				return n
			}
			line = line[1:]
			continue
		}
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			break
		}
		into[n] = line[:i]
		n++
		line = line[i+1:]
	}
	into[n] = unquote(line)
	return n + 1
}

// closingQuote is the place of the quote that ends the field that line begins
// with, the line's end when there is none.
func closingQuote(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			i++
			continue
		}
		return i
	}
	return len(line)
}

func unquote(b []byte) []byte {
	if n := len(b); n >= 2 && b[0] == '"' && b[n-1] == '"' {
		return b[1 : n-1]
	}
	return b
}

// containsFold looks for lower-case ASCII text in any case of letters.
func containsFold(b []byte, word string) bool {
	for ; len(b) >= len(word); b = b[1:] {
		if strings.EqualFold(string(b[:len(word)]), word) {
			return true
		}
	}
	return false
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
