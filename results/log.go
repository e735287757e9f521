package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The run log is a CSV that a spreadsheet, pandas or DuckDB opens as it is.
//
//	# serialtiming log 1
//	# KEY: VALUE               of the log: port, baud, zero_ns, host, granted …
//	run,arrived_ns,byte,batch,flags
//	# run N KEY: VALUE         what run N announced, where it was heard
//	1,1843200,20,1,            a row a character
//	# mark NS: TEXT
//	# end N KEY: VALUE         what closed run N
//
// Instants are nanoseconds since the log's zero; byte is two hex digits;
// batch is the number of characters of that read on its first row, 0 on the
// others; flags as Flags. The sender's log has seq,due_ns,woke_ns,wrote_ns in
// place of arrived_ns, a loopback run's all five. Keys and columns that are
// not known are kept and ignored.
const (
	LogMagic   = "# serialtiming log "
	LogVersion = 1
)

// The columns of a log, by who wrote it.
const (
	ReceiverColumns = "run,arrived_ns,byte,batch,flags"
	SenderColumns   = "run,seq,due_ns,woke_ns,wrote_ns,byte"
	LoopbackColumns = "run,seq,due_ns,woke_ns,wrote_ns,arrived_ns,byte,batch,flags"
)

// NoInstant stands for an instant, or a number, that a row does not have.
const NoInstant = math.MinInt64

// LogRow is a row of the run log. What it does not have is NoInstant, a byte
// that it does not tell -1.
type LogRow struct {
	Arrived, Due, Woke, Wrote, Seq int64
	Run                            int32
	Batch                          int32 // characters of the read on its first row, else 0
	Byte                           int16
	Flags                          Flags
}

// LogWriter writes a run log. It buffers: Flush hands rows to the system. The
// first error sticks and is given by Flush.
type LogWriter struct {
	w       *bufio.Writer
	columns string
	header  bool
	err     error
	row     []byte
}

// NewLogWriter starts a log with those columns, one of the constants above.
func NewLogWriter(w io.Writer, columns string) *LogWriter {
	l := &LogWriter{w: bufio.NewWriterSize(w, 1<<16), columns: columns}
	l.line(LogMagic + strconv.Itoa(LogVersion))
	return l
}

// Key writes an item of the log itself.
func (l *LogWriter) Key(key, value string) {
	l.line("# " + key + ": " + OneLine(value))
}

// RunKey writes an item that opens or describes a run.
func (l *LogWriter) RunKey(run int, key, value string) {
	l.line(fmt.Sprintf("# run %d %s: %s", run, key, OneLine(value)))
}

// EndKey writes an item that closes a run.
func (l *LogWriter) EndKey(run int, key, value string) {
	l.line(fmt.Sprintf("# end %d %s: %s", run, key, OneLine(value)))
}

// Mark writes a remark at an instant.
func (l *LogWriter) Mark(at int64, text string) {
	l.line(fmt.Sprintf("# mark %d: %s", at, OneLine(text)))
}

func (l *LogWriter) line(s string) {
	if l.err == nil {
		_, l.err = l.w.WriteString(s + "\n")
	}
}

// Row writes one character.
func (l *LogWriter) Row(r LogRow) {
	if !l.header {
		l.line(l.columns)
		l.header = true
	}
	b := strconv.AppendInt(l.row[:0], int64(r.Run), 10)
	if l.columns != ReceiverColumns {
		for _, v := range [...]int64{r.Seq, r.Due, r.Woke, r.Wrote} {
			b = appendField(b, v)
		}
	}
	if l.columns != SenderColumns {
		b = appendField(b, r.Arrived)
	}
	b = append(b, ',')
	if r.Byte >= 0 {
		b = append(b, hexDigits[r.Byte>>4&15], hexDigits[r.Byte&15])
	}
	if l.columns != SenderColumns {
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(r.Batch), 10)
		b = append(b, ',')
		if r.Flags != 0 {
			b = append(b, r.Flags.String()...)
		}
	}
	l.row = append(b, '\n')
	if l.err == nil {
		_, l.err = l.w.Write(l.row)
	}
}

const hexDigits = "0123456789abcdef"

func appendField(b []byte, v int64) []byte {
	b = append(b, ',')
	if v == NoInstant {
		return b
	}
	return strconv.AppendInt(b, v, 10)
}

// Flush hands what is buffered to the system and gives the first error of all
// writes so far.
func (l *LogWriter) Flush() error {
	if l.err == nil {
		l.err = l.w.Flush()
	}
	return l.err
}

// OneLine makes text safe for a terminal and for a line of a file: control
// characters, escape sequences and line ends become escapes as in Go strings.
// A backslash stays as it is.
func OneLine(s string) string {
	safe := true
	for _, r := range s {
		if !strconv.IsPrint(r) {
			safe = false
			break
		}
	}
	if safe {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// ErrNotLog says that a file does not begin as a run log does.
var ErrNotLog = errors.New("not a run log: the first line is not “" + LogMagic + "N”")

// NewerLogError says that a log was written by a later program.
type NewerLogError struct{ Version int }

func (e *NewerLogError) Error() string {
	return fmt.Sprintf("run log of version %d, this program reads up to version %d", e.Version, LogVersion)
}
