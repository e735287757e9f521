// Package load puts a load on the machine while a stream runs: a command, or
// one that is built in and needs nothing installed.
//
// It promises: a load never works inside the sender. It runs in a process of
// its own under a supervisor, which is this binary again with a hidden first
// word ([Child]); the supervisor ends everything that the load has started and
// deletes its files when [Load.Stop] is called or the sender ends, however it
// ends, since it then sees its pipe close. What is built in is what its name
// says: 400 threads are 400 threads of the system. A load that ends by itself
// closes [Load.Done]; whoever measures makes that a finding.
//
// Should the supervisor itself be killed, a built-in load ends all the same
// (its pipe closes too), and the sender deletes the files. On Linux nothing of
// a command is left either: between sender and supervisor stands a keeper,
// whose the orphans then are (see keep_linux.go); on Windows the load is a job,
// which the system ends with its last handle.
//
// What remains: on Linux, when keeper and supervisor are killed at the same
// time, what a command's shell has started lives on; on Windows, when sender
// and supervisor are, the (mostly empty) folder for temporary files stays. On
// the other Unix systems a descendant that makes itself a new session escapes,
// and of a command nothing ends when its supervisor is killed.
package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Load is a running load.
type Load struct {
	spec  Spec
	dir   string // for temporary files of the load
	cmd   *exec.Cmd
	lease io.Closer // the supervisor lives as long as this pipe is open
	ready chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	stopped bool
	ended   string   // what the supervisor said of the end
	began   bool     // the load has said that it works
	notes   []string // what it could not do as asked
	tail    []string // the last lines of its stderr
	flood   int64    // bytes of stderr that were thrown away
}

const (
	startLimit = 60 * time.Second // 400 threads on one processor take their time
	stopLimit  = 20 * time.Second
	// atOnce is how soon a command has to fail to count as not started: the
	// shell tells only then that there is no such program.
	atOnce = 150 * time.Millisecond
)

// Start starts a load and returns when it works: when all its threads run, its
// memory is taken, its first record written, its command started. ctx bounds
// that wait only. The error says why the load did not start, with what it
// wrote to stderr; the caller names the load.
func Start(ctx context.Context, s Spec) (*Load, error) {
	l := &Load{spec: s, ready: make(chan struct{}), done: make(chan struct{})}
	if s.Kind == None {
		close(l.ready)
		return l, nil
	}
	if err := l.launch(); err != nil {
		return nil, err
	}
	if err := l.await(ctx); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}

// launch starts the supervisor, or its keeper.
func (l *Load) launch() (err error) {
	if l.spec.Kind == Disk { // the supervisor may be told of it from another folder
		if l.spec.Dir, err = filepath.Abs(l.spec.Dir); err != nil {
			return err
		}
	}
	if l.dir, err = os.MkdirTemp("", "serialtiming-load-"); err != nil {
		return err
	}
	if err := l.supervise(); err != nil {
		os.RemoveAll(l.dir)
		return err
	}
	return nil
}

func (l *Load) supervise() error {
	role := roleSupervise
	if keeps {
		role = roleKeep
	}
	path, args, err := task{l.spec, l.dir}.command(role)
	if err != nil {
		return err
	}
	l.cmd = exec.Command(path, args[1:]...)
	l.cmd.SysProcAttr = detached()
	stdin, err := l.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.cmd.Start(); err != nil {
		return err
	}
	l.lease = stdin
	go l.listen(stdout)
	return nil
}

// listen takes what the supervisor says until it ends.
func (l *Load) listen(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			l.take(m)
		}
	}
	io.Copy(io.Discard, r)
	l.cmd.Wait()
	os.RemoveAll(l.dir) // it is there where the supervisor was killed
	l.mu.Lock()
	if l.ended == "" {
		l.ended = endedOutside
	}
	l.mu.Unlock()
	close(l.done)
}

const endedOutside = "its supervisor was ended from outside"

func (l *Load) take(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m.Kind {
	case sayReady:
		if !l.began {
			l.began = true
			close(l.ready)
		}
	case sayNote:
		l.notes = append(l.notes, m.Text)
	case sayEnded:
		l.ended, l.tail, l.flood = m.Text, m.Tail, m.Dropped
	}
}

// await waits until the load works.
func (l *Load) await(ctx context.Context) error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case <-l.ready:
	case <-l.done:
		return l.reason()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-limit.C:
		return fmt.Errorf("it was not ready within %v", startLimit)
	}
	if l.spec.Kind != Command {
		return nil
	}
	select {
	case <-l.done:
		if err := l.reason(); errors.Is(err, ErrNoCommand) {
			return err
		}
	case <-ctx.Done():
	case <-time.After(atOnce):
	}
	return nil
}

// ErrNoCommand is the shell's answer to a command that it cannot start. On a
// busy machine it may come when [Start] has returned: see [Load.Err].
var ErrNoCommand = errors.New("the shell cannot start the command")

// reason makes an error of what the supervisor said, and of the last lines of
// stderr.
func (l *Load) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.ended
	if len(l.tail) > 0 {
		text += ": " + strings.Join(l.tail, " | ")
	}
	if l.spec.Kind == Command && noSuchCommand(l.ended) {
		return fmt.Errorf("%w: %s", ErrNoCommand, text)
	}
	return errors.New(text)
}

// Spec gives what was asked for.
func (l *Load) Spec() Spec { return l.spec }

// Done is closed when the load has ended with all that it started, by itself
// or by [Load.Stop]. @none never ends by itself.
func (l *Load) Done() <-chan struct{} { return l.done }

// Err says why the load ended by itself, nil while it runs and when Stop ended
// it.
func (l *Load) Err() error {
	select {
	case <-l.done:
	default:
		return nil
	}
	l.mu.Lock()
	stopped := l.stopped
	l.mu.Unlock()
	if stopped {
		return nil
	}
	return l.reason()
}

// Notes says what the load could not do as asked, one sentence each, and what
// it has to say about itself ("the file stopped growing at …").
func (l *Load) Notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.notes...)
}

// Stderr gives the last lines that a command wrote to stderr, and how many
// bytes before them were thrown away. It knows them once the load has ended.
func (l *Load) Stderr() (tail []string, dropped int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.tail...), l.flood
}

// Stop ends the load, all that it started, and deletes its files. It returns
// when that is done; the error says that the supervisor did not manage it. To
// call it again is harmless.
func (l *Load) Stop() error {
	l.mu.Lock()
	again := l.stopped
	select {
	case <-l.done: // it ended by itself: Err keeps saying so
	default:
		l.stopped = true
	}
	l.mu.Unlock()
	if l.lease == nil {
		if !again {
			close(l.done)
		}
		return nil
	}
	l.lease.Close()
	select {
	case <-l.done:
		return nil
	case <-time.After(stopLimit):
	}
	l.cmd.Process.Kill()
	<-l.done
	return fmt.Errorf("load %q did not end within %v: its supervisor was killed", l.spec.Label, stopLimit)
}
