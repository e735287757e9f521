package load

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What is kept of a command's stderr: enough to tell what went wrong, however
// much it writes.
const (
	tailLines = 10
	tailWidth = 200 // bytes of a line
)

// tail keeps the last lines of what is written to it.
type tail struct {
	mu      sync.Mutex
	lines   []string // whole ones, oldest first
	line    []byte   // the one that has not ended
	cut     int64    // bytes of line beyond tailWidth
	dropped int64
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range b {
		switch {
		case c == '\n':
			t.end()
		case len(t.line) < tailWidth:
			t.line = append(t.line, c)
		default:
			t.cut++
		}
	}
	return len(b), nil
}

// end takes the line that is complete.
func (t *tail) end() {
	line := clean(t.line)
	if t.cut > 0 {
		line += "…"
	}
	t.dropped += t.cut
	t.line, t.cut = t.line[:0], 0
	if line == "" {
		return
	}
	if len(t.lines) == tailLines {
		t.dropped += int64(len(t.lines[0])) + 1
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

// take gives the lines, the unfinished one among them.
func (t *tail) take() (lines []string, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) > 0 {
		t.end()
	}
	return append([]string(nil), t.lines...), t.dropped
}

// clean makes text of a program harmless: printable characters only.
func clean(b []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, string(b)))
}

// drain reads r to its end into a tail, in big pieces: a flood must cost its
// writer, not the machine under test.
func drain(r io.Reader, t *tail) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		io.CopyBuffer(t, onlyReader{r}, make([]byte, 64<<10))
		close(over)
	}()
	return over
}

// onlyReader hides WriteTo, which would bypass the buffer.
type onlyReader struct{ io.Reader }
