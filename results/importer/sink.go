package importer

import (
	"fmt"
	"slices"
)

// A BadLine is a line, or a packet, that could not be read.
type BadLine struct {
	Line int64 // from 1; of a binary file the number of the packet
	Why  string
}

// Report is what a file turned out to be, complete behind io.EOF.
type Report struct {
	Lines    int64     // lines, or packets, that were read
	Bad      int64     // of them not readable
	BadLines []BadLine // the first ten
	Torn     bool      // the last line is cut; its event is counted when its time was whole

	// Steps between the events of the chosen channel that are no intervals.
	// events - 1 - (Zero + Backward + Stale) intervals are left.
	Zero     int64
	Backward int64 // Resets among them
	Stale    int64
	Resets   int64 // backward steps that the log itself shows to be a new base
	Wraps    int64 // at midnight or of a counter: put right, the interval is good

	// BytesUnknown: some or all bytes of the channel are placeholders (0x00)
	// whose number is known and whose value is not: the log has no data column,
	// or cuts it.
	BytesUnknown bool

	Channels []Channel // of the whole file, in order of appearance
	Warnings []string
}

// sink is where an importer puts all that is not an event.
type sink struct {
	name   string
	line   int64
	report Report
	mute   bool // in the first of two passes
}

const shownBadLines = 10

// bad counts the line last read as unreadable.
func (s *sink) bad(format string, args ...any) {
	if s.mute {
		return
	}
	s.report.Bad++
	if len(s.report.BadLines) < shownBadLines {
		s.report.BadLines = append(s.report.BadLines, BadLine{s.line, fmt.Sprintf(format, args...)})
	}
}

// badOrTorn counts the line last read as unreadable, unless the file ends in
// it: that is a torn end and no fault of the line.
func (s *sink) badOrTorn(torn bool, format string, args ...any) {
	if torn {
		s.report.Torn = true
		return
	}
	s.bad(format, args...)
}

// warn says a thing once.
func (s *sink) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !s.mute && len(s.report.Warnings) < 20 && !slices.Contains(s.report.Warnings, text) {
		s.report.Warnings = append(s.report.Warnings, text)
	}
}

// wrap counts a clock that started again and was put right.
func (s *sink) wrap() {
	if !s.mute {
		s.report.Wraps++
	}
}

// placeholders gives n bytes of unknown value, at most 64 KiB: no read of a
// serial port brings more, and a number in a file must not become memory. They
// are shared: not to be written to.
func (s *sink) placeholders(n int64) []byte {
	if n > maxUnknown {
		s.warn("a read of %d bytes: of bytes that are not in the file at most %d a read are counted", n, maxUnknown)
	}
	return zeros[:min(n, maxUnknown)]
}

const maxUnknown = 64 << 10

var zeros [maxUnknown]byte

// isPlaceholder knows bytes that placeholders gave.
func isPlaceholder(b []byte) bool { return len(b) > 0 && &b[0] == &zeros[0] }

// String gives `file:line: why`.
func (b BadLine) String(file string) string {
	return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
}
