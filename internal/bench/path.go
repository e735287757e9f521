package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"serialtiming/internal/cable"
	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/receiver/capture"
	"serialtiming/sender/pace"
)

//go:embed testdata/loop.c
var loopC string

// pathContestants are the C loop, where a compiler builds it, and ours. done
// removes what was built.
func pathContestants(o options, s *realtime.Session, stderr io.Writer) (all []contestant, done func(), err error) {
	dir, err := os.MkdirTemp("", "serialtiming-bench-")
	if err != nil {
		return nil, nil, err
	}
	program, err := buildC(dir)
	if err != nil {
		fmt.Fprintf(stderr, "bench: warning: the C loop was not built (%v): nothing to compare with\n", err)
		fmt.Fprintf(stderr, "bench: hint: apt install gcc libc6-dev\n")
	} else {
		all = append(all, cLoop(program, o))
	}
	all = append(all, contestant{"sender + receiver", func() (round, error) { return goPath(o, s) }})
	return all, func() { os.RemoveAll(dir) }, nil
}

// buildC builds the C loop with whatever compiler there is.
func buildC(dir string) (string, error) {
	source, program := filepath.Join(dir, "loop.c"), filepath.Join(dir, "loop")
	if err := os.WriteFile(source, []byte(loopC), 0o600); err != nil {
		return "", err
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		if cc, err = exec.LookPath("gcc"); err != nil {
			return "", err
		}
	}
	out, err := exec.Command(cc, "-O2", "-pthread", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

func cLoop(program string, o options) contestant {
	return contestant{"C loop", func() (round, error) {
		cmd := exec.Command(program, strconv.Itoa(o.count()), strconv.FormatInt(int64(o.period), 10), strconv.Itoa(o.priority))
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return round{}, err
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		r := round{cpu: float64(used) / float64(time.Since(began))}
		for line := range strings.Lines(string(out)) {
			v, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
			if err != nil {
				return round{}, fmt.Errorf("it said %q", line)
			}
			r.us = append(r.us, v)
		}
		return r, nil
	}}
}

// near and far are the two directions of a cable as ports of the hot loops.
type near struct {
	*cable.Port
	fd uintptr
}

func (n near) Fd() (uintptr, bool) { return n.fd, true }

type far struct {
	*cable.Port
	fd uintptr
}

func (f far) Read(b []byte) (int, error) { return f.Port.Read(b, wait.Slice) }
func (f far) Fd() (uintptr, bool)        { return f.fd, true }

// goPath is one turn of the sender's and the receiver's loops on a virtual
// cable.
func goPath(o options, s *realtime.Session) (round, error) {
	port, err := cable.OpenLoopback()
	if err != nil {
		return round{}, err
	}
	defer port.Close()
	r, w, ok := port.Fds()
	if !ok {
		return round{}, errors.ErrUnsupported
	}
	events, records := capture.NewRing(o.count()), pace.NewRing(o.count())
	var stop atomic.Bool
	captured := make(chan error, 1)
	go func() {
		_, err := onThread(s, func([]realtime.Grant) error {
			_, err := capture.Run(capture.Config{Port: far{port, r}, Ring: events, Stop: &stop})
			return err
		})
		captured <- err
	}()
	time.Sleep(20 * time.Millisecond)
	cpu, err := onThread(s, func([]realtime.Grant) error {
		_, err := pace.Run(pace.Config{
			Period: o.period, Count: int64(o.count()), Kind: wait.Absolute, Payload: []byte(" "),
			Port: near{port, w}, Records: records,
		})
		return err
	})
	time.Sleep(100 * time.Millisecond)
	stop.Store(true)
	if e := <-captured; err == nil {
		err = e
	}
	return round{us: pair(records, events), cpu: cpu}, err
}

// pair lays the characters sent beside those that arrived, in order: a
// pseudo-terminal loses none.
func pair(records *pace.Ring, events *capture.Ring) []int64 {
	var arrived []clock.Instant
	reader := capture.NewReader(events)
	for e, ok := reader.Next(); ok; e, ok = reader.Next() {
		for range e.Bytes {
			arrived = append(arrived, e.Arrived)
		}
	}
	var us []int64
	for p := records.Peek(); p != nil && len(us) < len(arrived); p = records.Peek() {
		us = append(us, int64(arrived[len(us)].Sub(p.Woke)/time.Microsecond))
		records.Advance()
	}
	return us
}
