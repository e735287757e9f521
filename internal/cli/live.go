package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Live is one line on a terminal's stderr that is drawn again and again; on
// anything else it is silent.
type Live struct {
	voice *Voice
	w     io.Writer
	fd    int
	next  time.Time
	drawn bool
}

// NewLive makes the live line of a voice. It draws only if w is a terminal.
func NewLive(v *Voice, w io.Writer) *Live {
	l := &Live{voice: v, w: w, fd: -1}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		l.fd = int(f.Fd())
	}
	v.mu.Lock()
	v.live = l.wipe
	v.mu.Unlock()
	return l
}

// Draw shows text in place of what stood there, at most ten times a second.
func (l *Live) Draw(text func() string) {
	now := time.Now()
	if l.fd < 0 || now.Before(l.next) {
		return
	}
	l.next = now.Add(100 * time.Millisecond)
	line := []rune(Safe(text()))
	if width, _, err := term.GetSize(l.fd); err == nil && width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	l.voice.mu.Lock()
	defer l.voice.mu.Unlock()
	fmt.Fprintf(l.w, "\r%s\x1b[K", string(line))
	l.drawn = true
}

// Done wipes the line for good.
func (l *Live) Done() {
	l.voice.mu.Lock()
	defer l.voice.mu.Unlock()
	l.wipe()
	l.voice.live = nil
}

func (l *Live) wipe() {
	if l.drawn {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.drawn = false
	}
}
