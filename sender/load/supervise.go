package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// supervisor is the process between the sender and a load. It does nothing
// but wait, so that it is there when the sender is not.
type supervisor struct {
	spec Spec
	out  *speaker
	dir  string // of the load's own files, deleted at the end

	child  stdio
	lease  *os.File // the worker lives as long as this is open
	words  *os.File // what the worker says
	errs   tail
	failed string // the worker's last word
}

// stdio are the ends of a child process.
type stdio struct{ in, out, err *os.File }

func (s stdio) close() {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			f.Close()
		}
	}
}

// superviseMain is the supervisor's whole life. A failure is told on stdout.
func superviseMain(t task) int {
	runtime.LockOSThread() // the load dies with this thread where the system can do that
	rename("load-supervisor")
	v := &supervisor{spec: t.Spec, dir: t.Folder, out: &speaker{w: os.Stdout}}
	if err := v.run(); err != nil {
		v.out.say(message{Kind: sayEnded, Text: err.Error()})
		return 1
	}
	return 0
}

func (v *supervisor) run() error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	quiet := make(chan os.Signal, 1)
	signal.Notify(quiet, syscall.SIGPIPE) // a sender that is gone is seen by its pipe; ignoring the signal would be inherited
	over := leaseEnds()
	defer os.RemoveAll(v.dir)
	stderr, err := v.pipes()
	if err != nil {
		return err
	}
	began := time.Now()
	g, err := startGroup(v.spec, v.child, v.environment())
	v.child.close()
	if err != nil {
		return err
	}
	if v.spec.Kind == Threads {
		hurry()
	}
	drained := drain(stderr, &v.errs)
	heard := v.listen()
	text := ""
	select {
	case status := <-g.empty():
		<-heard
		text = v.endText(status, time.Since(began))
	case <-over:
		text = v.end(g)
	case <-signals:
		v.end(g)
		text = endedOutside
	}
	select {
	case <-drained:
	case <-time.After(time.Second):
	}
	os.RemoveAll(v.dir) // before the last word: who hears it finds nothing
	lines, dropped := v.errs.take()
	v.out.say(message{Kind: sayEnded, Text: text, Tail: lines, Dropped: dropped})
	return nil
}

// pipes makes the child's ends; the result is the reading end of its stderr.
func (v *supervisor) pipes() (stderr *os.File, err error) {
	if stderr, v.child.err, err = os.Pipe(); err != nil {
		return nil, err
	}
	if !asWorker(v.spec) {
		if v.child.in, err = os.Open(os.DevNull); err != nil {
			return nil, err
		}
		v.child.out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		return stderr, err
	}
	if v.child.in, v.lease, err = os.Pipe(); err != nil {
		return nil, err
	}
	v.words, v.child.out, err = os.Pipe()
	return stderr, err
}

// environment is the sender's, with a folder for temporary files that is
// deleted with the load, and without the scheduler's signals in a worker,
// whose threads have nobody to make room for.
func (v *supervisor) environment() []string {
	env := os.Environ()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		env = setenv(env, name, v.dir)
	}
	if !asWorker(v.spec) {
		return env
	}
	debug := "asyncpreemptoff=1"
	if own := os.Getenv("GODEBUG"); own != "" {
		debug = own + "," + debug
	}
	return setenv(env, "GODEBUG", debug)
}

// setenv sets a variable and leaves none of that name before it: programs
// differ in which of two they take.
func setenv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(s string) bool {
		had, _, _ := strings.Cut(s, "=")
		return had == name || runtime.GOOS == "windows" && strings.EqualFold(had, name)
	})
	return append(env, name+"="+value)
}

// listen says what the load says: a command that was started works, a worker
// tells when it does. The group is complete now, so the worker may go.
func (v *supervisor) listen() (heard <-chan struct{}) {
	end := make(chan struct{})
	if v.words == nil {
		v.out.say(message{Kind: sayReady})
		close(end)
		return end
	}
	v.lease.Write([]byte{'\n'})
	go func() {
		defer close(end)
		lines := bufio.NewScanner(v.words)
		for lines.Scan() {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) != nil {
				continue
			}
			if m.Kind == sayFail {
				v.failed = m.Text
				continue
			}
			v.out.say(m)
		}
		io.Copy(io.Discard, v.words)
	}()
	return end
}

func (v *supervisor) endText(status string, after time.Duration) string {
	switch {
	case v.failed != "":
		return v.failed
	case v.spec.Kind == Memory && strings.Contains(status, "kill"):
		status += " (a system that is short of memory ends who takes most)"
	}
	return endText(status, after)
}

// end ends the group.
func (v *supervisor) end(g *group) string {
	if v.lease != nil {
		v.lease.Close()
	}
	if err := g.end(v.spec.Kind == Command); err != nil {
		return err.Error()
	}
	return "stopped"
}

// How long the supervisor is patient: a command may clean up first, then it
// is killed.
const (
	endGrace = 1500 * time.Millisecond
	endLimit = 15 * time.Second
	endPoll  = 20 * time.Millisecond
)

var errNotEnded = errors.New("some of its processes did not end when they were killed")
