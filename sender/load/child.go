package load

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// The hidden words of the binary.
const (
	childWord     = "load-child"
	roleKeep      = "keep"
	roleSupervise = "supervise"
	roleWork      = "work"
)

// Child runs a process of a load. main calls it before anything else; when
// handled is true the process has to end with that status. It is also what a
// test's TestMain calls, since a load then starts the test binary.
func Child(args []string) (handled bool, status int) {
	if len(args) < 1 || args[0] != childWord {
		return false, 0
	}
	if len(args) != 3 {
		return true, 2
	}
	var t task
	if err := json.Unmarshal([]byte(args[2]), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return true, 2
	}
	switch args[1] {
	case roleKeep:
		return true, keepMain(t)
	case roleSupervise:
		return true, superviseMain(t)
	case roleWork:
		return true, workMain(t.Spec)
	}
	return true, 2
}

// task is what the processes of a load are told.
type task struct {
	Spec   Spec
	Folder string // for temporary files of the load; whoever outlives it deletes it
}

// command is this binary in a role.
func (t task) command(role string) (path string, args []string, err error) {
	if path, err = os.Executable(); err != nil {
		return "", nil, err
	}
	text, err := json.Marshal(t)
	return path, []string{path, childWord, role, string(text)}, err
}

// What a supervisor, and a worker to its supervisor, say on stdout: a JSON
// object a line.
const (
	sayReady = "ready"
	sayNote  = "note"
	sayFail  = "fail"  // worker only: the last word
	sayEnded = "ended" // supervisor only: the last word
)

type message struct {
	Kind    string
	Text    string   `json:",omitempty"`
	Tail    []string `json:",omitempty"` // of stderr
	Dropped int64    `json:",omitempty"` // bytes of stderr before the tail
}

// speaker writes messages. A listener that is gone is no reason to stop.
type speaker struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *speaker) say(m message) {
	line, err := json.Marshal(m)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.Write(append(line, '\n'))
}

// leaseEnds is closed when the pipe on stdin closes: the parent has ended, or
// wants an end. Nobody writes into it but the "go" of a Windows worker.
func leaseEnds() <-chan struct{} {
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	return over
}

// endText says how a command ended.
func endText(status string, after time.Duration) string {
	return fmt.Sprintf("it ended by itself after %v: %s", after.Round(time.Millisecond), status)
}

// noSuchCommand tells the shells' statuses for a command that cannot be
// started: 126 and 127 of a Unix shell, 9009 and 1 of cmd.
func noSuchCommand(ended string) bool {
	for _, status := range noCommandStatus {
		if len(ended) >= len(status) && ended[len(ended)-len(status):] == status {
			return true
		}
	}
	return false
}
