// Package cli is the voice of both command lines: what they say on stderr,
// how they end, and the flags that both have.
//
// Its rules: stdout carries results only. Everything else is one line on
// stderr, "PROGRAM: error: what", then at most one "PROGRAM: hint: an action".
// A hint is something to do: which group to join, who holds the port, which
// flag to drop. Text from outside is made safe before it is printed.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"serialtiming/internal/serialport"
)

// The exit statuses.
const (
	Done        = 0 // done, also when Ctrl-C ended a capture that has characters
	Failed      = 1 // failed, or nothing was received
	WrongUsage  = 2 // the command line, before anything was opened
	LimitBroken = 3 // a limit that the user set was broken or undecidable
)

// Voice speaks for one program. It may be used from several goroutines.
type Voice struct {
	program string
	mu      sync.Mutex
	w       io.Writer
	live    func() // wipes the live line, so that a message does not run into it
}

// NewVoice speaks as program on w.
func NewVoice(program string, w io.Writer) *Voice { return &Voice{program: program, w: w} }

// Say prints a line without a kind: "PROGRAM: text".
func (v *Voice) Say(format string, a ...any) { v.line("", format, a...) }

// Warn prints "PROGRAM: warning: text".
func (v *Voice) Warn(format string, a ...any) { v.line("warning: ", format, a...) }

// Hint prints "PROGRAM: hint: text", nothing when the text is empty.
func (v *Voice) Hint(text string) {
	if text != "" {
		v.line("hint: ", "%s", text)
	}
}

// Fail prints an error and the hint that it carries, and gives the exit status.
func (v *Voice) Fail(err error) int {
	// What an error lists stands below it, a line each.
	what, list, _ := strings.Cut(err.Error(), "\n")
	v.line("error: ", "%s", what)
	for text := range strings.SplitSeq(list, "\n") {
		if text != "" {
			v.line("", "%s", text)
		}
	}
	v.Hint(HintOf(err))
	if u := (*UsageError)(nil); errors.As(err, &u) {
		return WrongUsage
	}
	return Failed
}

func (v *Voice) line(kind, format string, a ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live != nil {
		v.live()
	}
	fmt.Fprintf(v.w, "%s: %s%s\n", v.program, kind, Safe(fmt.Sprintf(format, a...)))
}

// Command is a command of a program: it gives the exit status, or an error.
type Command func(ctx context.Context, args []string) (int, error)

// Run runs the command that the first word names, else the one for a command
// line without such a word, and gives the exit status. Ctrl-C ends its context.
func (v *Voice) Run(ctx context.Context, args []string, named map[string]Command, otherwise Command) int {
	command := otherwise
	if len(args) > 0 {
		if c, ok := named[args[0]]; ok {
			command, args = c, args[1:]
		}
	}
	ctx, stop := Interrupts(ctx)
	defer stop()
	status, err := command(ctx, args)
	if errors.Is(err, context.Canceled) {
		err = Interrupted
	}
	if err != nil {
		return v.Fail(err)
	}
	return status
}

// Safe makes text from outside harmless for a terminal: what does not print
// (escape sequences, line ends) is written as Go would escape it.
func Safe(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// Hinter is an error that knows what to do about it.
type Hinter interface {
	error
	Hint() string
}

// HintOf gives the hint that an error carries, "" if none.
func HintOf(err error) string {
	var h Hinter
	if errors.As(err, &h) {
		return h.Hint()
	}
	var p *serialport.Error
	if errors.As(err, &p) {
		return p.Hint
	}
	return ""
}

// UsageError is a fault of the command line: exit status 2.
type UsageError struct{ What, Do string }

func (e *UsageError) Error() string { return e.What }

// Hint says what to type instead.
func (e *UsageError) Hint() string { return e.Do }

// Misuse makes a usage error with a hint.
func Misuse(hint, format string, a ...any) error {
	return &UsageError{fmt.Sprintf(format, a...), hint}
}

// Interrupted is what Ctrl-C leaves of a run that had not begun.
var Interrupted = WithHint(errors.New("interrupted before anything was received or sent"), "start both ends again")

// WithHint gives an error an action.
func WithHint(err error, format string, a ...any) error {
	return &hinted{err, fmt.Sprintf(format, a...)}
}

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }
func (h *hinted) Hint() string  { return h.hint }

// Interrupts gives a context that Ctrl-C, or a request to end, cancels. The
// program then ends in its own order: the result so far, a whole log. A second
// Ctrl-C ends it at once.
func Interrupts(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup is to be obeyed
		signal.Notify(c, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-c:
			cancel()
		case <-ctx.Done():
		}
		signal.Stop(c) // the default again: the next one kills
	}()
	return ctx, cancel
}

// Version gives the module's version and, where the build knows it, the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version, commit, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = " " + s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	return version + commit + dirty
}
