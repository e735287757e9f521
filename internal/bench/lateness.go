package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
	"serialtiming/sender/pace"
)

//go:embed testdata/timerfd.c
var timerfdC string

// sink is a port that swallows everything at once, through a real descriptor,
// so that the real loop runs on it.
type sink struct{ *os.File }

func (s sink) Fd() (uintptr, bool) { return s.File.Fd(), true }

// latenessContestants are those of C that are there, and our timers. The
// first is what all are compared with.
func latenessContestants(o options, s *realtime.Session, dir string, stderr io.Writer) (all []contestant) {
	if c, ok := cyclictest(o, stderr); ok {
		all = append(all, c)
	}
	if c, ok := inC("C timerfd", dir, timerfdC, o, stderr); ok {
		all = append(all, c)
	}
	for _, k := range o.timers {
		all = append(all, ours(k, o, s, stderr))
	}
	return all
}

// ours is one timer of the sender's hot loop.
func ours(k wait.Kind, o options, s *realtime.Session, stderr io.Writer) contestant {
	warned := false
	turn := func() (round, error) {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return round{}, err
		}
		defer f.Close()
		records := pace.NewRing(o.count())
		c := pace.Config{
			Period: o.period, Count: int64(o.count()), Kind: k, Payload: []byte(" "),
			Port: sink{f}, Records: records,
		}
		cpu, err := onThread(s, func(grants []realtime.Grant) error {
			for _, g := range grants {
				if !warned {
					warn(stderr, g)
				}
			}
			warned = true
			_, err := pace.Run(c)
			return err
		})
		if err != nil {
			return round{}, err
		}
		return round{us: lateness(records), cpu: cpu}, nil
	}
	return contestant{"sender " + string(k), turn}
}

// lateness takes the records out of a ring, in whole µs.
func lateness(records *pace.Ring) []int64 {
	var us []int64
	for p := records.Peek(); p != nil; p = records.Peek() {
		us = append(us, int64(p.Woke.Sub(p.Due)/time.Microsecond))
		records.Advance()
	}
	return us
}

// onThread runs a hot loop on a prepared thread of its own, as the sender
// does, and gives the share of a processor that the thread used, below 0 where
// the system does not tell.
func onThread(s *realtime.Session, loop func([]realtime.Grant) error) (cpu float64, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		grants := s.LockThread()
		before, ok := realtime.ThreadUsage()
		began := time.Now()
		err = loop(grants)
		after, _ := realtime.ThreadUsage()
		cpu = -1
		if ok {
			cpu = float64(after.Sub(before).CPU) / float64(time.Since(began))
		}
	}()
	<-done
	return cpu, err
}

// overflow is where cyclictest's histogram ends, in µs.
const overflow = 50000

// cyclictest is the C program that real-time people trust, with its absolute
// clock_nanosleep. ok is false when it is not installed.
func cyclictest(o options, stderr io.Writer) (contestant, bool) {
	path, err := exec.LookPath("cyclictest")
	if err != nil {
		fmt.Fprintf(stderr, "bench: warning: cyclictest is not installed: nothing to compare with\n")
		fmt.Fprintf(stderr, "bench: hint: apt install rt-tests (Debian, Ubuntu), dnf install realtime-tests (Fedora)\n")
		return contestant{}, false
	}
	args := []string{
		"--quiet", "--mlockall", "--threads=1",
		"--priority=" + strconv.Itoa(o.priority),
		"--interval=" + strconv.FormatInt(o.period.Microseconds(), 10),
		"--loops=" + strconv.Itoa(o.count()),
		"--histogram=" + strconv.Itoa(overflow),
	}
	turn := func() (round, error) {
		cmd := exec.Command(path, args...)
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return round{}, fmt.Errorf("%w: %s", err, out)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		us, err := parseCyclictest(out)
		return round{us: us, cpu: float64(used) / float64(time.Since(began))}, err
	}
	return contestant{"cyclictest", turn}, true
}

// parseCyclictest reads the histogram: "000065 001234" is 1234 wakes that were
// 65 µs late; those above its end are in a comment.
func parseCyclictest(out []byte) ([]int64, error) {
	var us []int64
	add := func(v, n int64) {
		for range n {
			us = append(us, v)
		}
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		if rest, ok := strings.CutPrefix(line, "# Histogram Overflows:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 32)
			if err != nil {
				return nil, fmt.Errorf("cyclictest said %q", line)
			}
			add(overflow, n)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 || strings.HasPrefix(line, "#") {
			continue
		}
		v, err1 := strconv.ParseInt(fields[0], 10, 64)
		n, err2 := strconv.ParseInt(fields[1], 10, 32)
		if err1 != nil || err2 != nil || v < 0 || n < 0 {
			return nil, fmt.Errorf("cyclictest said %q", line)
		}
		add(v, n)
	}
	return us, nil
}
