package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// LogSection says to which part of a log an item belongs.
type LogSection byte

// The sections.
const (
	LogKey LogSection = iota // of the log
	RunKey                   // opens or describes a run
	EndKey                   // closes a run
	Mark                     // a remark; Run is 0, Key the instant
)

// LogItem is a comment line of a log that says something.
type LogItem struct {
	Section LogSection
	Run     int
	Key     string
	Value   string
}

// BadLine is a line that could not be read, and why.
type BadLine struct {
	Line int64
	Why  string
}

// LogReader reads a run log, in one pass and constant memory.
type LogReader struct {
	r       io.Reader
	buf     []byte
	pos     int // of the next line in buf
	end     int
	eof     bool
	readErr error
	second  error // another log begins in this one
	line    int64

	columns []column
	plain   bool // the columns are exactly the receiver's
	rows    []LogRow

	items int // of the log itself
	ofRun int // of the run that the last item was of
	run   int // its number

	bad      int64
	badLines []BadLine
	torn     string
}

// NewLogReader reads the first line. It gives ErrNotLog for another kind of
// file and *NewerLogError for a log of a later version.
func NewLogReader(r io.Reader) (*LogReader, error) {
	l := &LogReader{r: r, buf: make([]byte, 1<<18), rows: make([]LogRow, 0, 512)}
	first, _, ok := l.next()
	if !ok {
		if l.readErr != nil {
			return nil, l.readErr
		}
		return nil, ErrNotLog
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(first), "\xef\xbb\xbf"), "\r")
	rest, ok := strings.CutPrefix(text, LogMagic)
	if !ok {
		return nil, ErrNotLog
	}
	v, err := strconv.Atoi(strings.TrimSpace(rest))
	switch {
	case err != nil || v < 1:
		return nil, ErrNotLog
	case v > LogVersion:
		return nil, &NewerLogError{v}
	}
	return l, nil
}

// IsLog says whether a file that begins so is a run log.
func IsLog(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte(LogMagic))
}

// Bad gives the number of lines that could not be read and the first ten.
func (l *LogReader) Bad() (int64, []BadLine) { return l.bad, l.badLines }

// Torn says why the log's end is missing, "" when it is whole as far as its
// lines show.
func (l *LogReader) Torn() string { return l.torn }

// Next gives either rows, up to some hundreds that follow each other, valid
// until the next call, or one item. At the end it gives io.EOF; other errors
// are the reader's own.
func (l *LogReader) Next() ([]LogRow, *LogItem, error) {
	l.rows = l.rows[:0]
	for len(l.rows) < cap(l.rows) && l.second == nil {
		if l.plain {
			l.fastRows()
			if len(l.rows) == cap(l.rows) {
				break
			}
		}
		text, whole, ok := l.next()
		if !ok {
			break
		}
		if len(text) > 0 && text[0] == '#' {
			if bytes.HasPrefix(text, []byte(LogMagic)) {
				l.second = fmt.Errorf("line %d: another log begins, whose times and runs are not this one's: give the logs one by one", l.line)
				break
			}
			if len(l.rows) > 0 {
				l.unread(text, whole) // rows first
				return l.rows, nil, nil
			}
			if item := l.item(text, whole); item != nil {
				return nil, item, nil
			}
			continue
		}
		l.other(text, whole)
	}
	if len(l.rows) > 0 {
		return l.rows, nil, nil
	}
	if err := cmp.Or(l.second, l.readErr); err != nil {
		return nil, nil, err
	}
	return nil, nil, io.EOF
}

// next gives a line without its end; whole is false when the file ends in it.
func (l *LogReader) next() (text []byte, whole, ok bool) {
	from := l.pos
	for {
		if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
			text = l.buf[l.pos : from+i]
			l.pos = from + i + 1
			l.line++
			return text, true, true
		}
		from = l.end
		if l.eof {
			if l.pos == l.end {
				return nil, false, false
			}
			text = l.buf[l.pos:l.end]
			l.pos = l.end
			l.line++
			return text, false, true
		}
		from = max(from-l.fill(), 0)
	}
}

// unread puts back the line that next gave last.
func (l *LogReader) unread(text []byte, whole bool) {
	l.pos -= len(text)
	if whole {
		l.pos--
	}
	l.line--
}

// fill reads on, keeping the line that has begun, and says by how much the
// buffer's content moved.
func (l *LogReader) fill() (moved int) {
	if l.pos > 0 {
		moved = l.pos
		copy(l.buf, l.buf[l.pos:l.end])
		l.end -= l.pos
		l.pos = 0
	}
	if l.end == len(l.buf) {
		if len(l.buf) >= maxLine {
			l.refuse("longer than 1 MiB")
			return moved + l.skipLine()
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err != nil {
		l.eof = true
		if !errors.Is(err, io.EOF) {
			l.readErr = err
		}
	}
	return moved
}

// skipLine drops a line that is too long, up to its end, and says by how much
// the buffer's content moved.
func (l *LogReader) skipLine() (moved int) {
	for {
		if i := bytes.IndexByte(l.buf[:l.end], '\n'); i >= 0 {
			copy(l.buf, l.buf[i+1:l.end])
			l.end -= i + 1
			l.line++
			return moved + l.end + i + 1 // next looks from the start again
		}
		moved += l.end
		l.end = 0
		n, err := l.r.Read(l.buf)
		l.end = n
		if n == 0 && err != nil {
			l.eof = true
			if !errors.Is(err, io.EOF) {
				l.readErr = err
			}
			return moved
		}
	}
}

// maxLine bounds the memory that a hostile line can take.
const maxLine = 1 << 20

func (l *LogReader) refuse(why string) {
	l.bad++
	if len(l.badLines) < 10 {
		l.badLines = append(l.badLines, BadLine{max(l.line, 1), why})
	}
}

// other reads a line that is no comment: the header or a row.
func (l *LogReader) other(text []byte, whole bool) {
	text = bytes.TrimSuffix(text, []byte{'\r'})
	if len(text) == 0 {
		return
	}
	if l.columns == nil {
		l.readHeader(string(text))
		return
	}
	row, err := l.parse(text)
	switch {
	case !whole:
		// The digits that are there may not be all.
		l.torn = "the last line is cut"
	case err != nil:
		l.refuse(err.Error())
	default:
		l.rows = append(l.rows, row)
	}
}

type column func(*LogRow, []byte) error

func (l *LogReader) readHeader(s string) {
	names := strings.Split(s, ",")
	known := map[string]column{
		"run":        func(r *LogRow, b []byte) error { return setInt32(&r.Run, b) },
		"arrived_ns": func(r *LogRow, b []byte) error { return setInt64(&r.Arrived, b) },
		"due_ns":     func(r *LogRow, b []byte) error { return setInt64(&r.Due, b) },
		"woke_ns":    func(r *LogRow, b []byte) error { return setInt64(&r.Woke, b) },
		"wrote_ns":   func(r *LogRow, b []byte) error { return setInt64(&r.Wrote, b) },
		"seq":        func(r *LogRow, b []byte) error { return setInt64(&r.Seq, b) },
		"batch":      func(r *LogRow, b []byte) error { return setInt32(&r.Batch, b) },
		"byte":       setByte,
		"flags":      func(r *LogRow, b []byte) error { r.Flags = ParseFlags(string(b)); return nil },
	}
	timed := false
	for _, n := range names {
		n = strings.Trim(strings.TrimSpace(n), `"`)
		timed = timed || n == "arrived_ns" || n == "wrote_ns"
		l.columns = append(l.columns, known[n])
	}
	if !timed {
		l.columns = nil
		l.refuse("neither the header (it names arrived_ns or wrote_ns) nor a row: the header comes first")
		return
	}
	l.plain = s == ReceiverColumns
}

func (l *LogReader) parse(text []byte) (LogRow, error) {
	row := LogRow{Arrived: NoInstant, Due: NoInstant, Woke: NoInstant, Wrote: NoInstant, Seq: NoInstant, Run: 1, Batch: 1, Byte: -1}
	rest, more := text, true
	for i := 0; more && i < len(l.columns); i++ {
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte{','})
		if f := l.columns[i]; f != nil {
			if err := f(&row, field); err != nil {
				return row, err
			}
		}
		if !more && i < len(l.columns)-1 {
			return row, fmt.Errorf("%d fields, the header has %d", i+1, len(l.columns))
		}
	}
	if more {
		return row, fmt.Errorf("more fields than the header's %d", len(l.columns))
	}
	if row.Run < 1 {
		return row, fmt.Errorf("run %d: runs count from 1", row.Run)
	}
	if row.Arrived == NoInstant && row.Wrote == NoInstant {
		return row, errors.New("no instant")
	}
	return row, nil
}

func setInt64(into *int64, b []byte) error {
	if len(b) == 0 {
		*into = NoInstant
		return nil
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no whole number", short(b))
	}
	*into = v
	return nil
}

func setInt32(into *int32, b []byte) error {
	v, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no whole number from 0", short(b))
	}
	*into = int32(v)
	return nil
}

func setByte(r *LogRow, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	v, err := strconv.ParseUint(string(b), 16, 8)
	if err != nil || len(b) != 2 {
		return fmt.Errorf("%q is no byte of two hex digits", short(b))
	}
	r.Byte = int16(v)
	return nil
}

func short(b []byte) string {
	if len(b) > 32 {
		return string(b[:32]) + "…"
	}
	return string(b)
}
