package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// inC is a program in C that takes count, period and priority and prints whole
// µs. ok is false, and the reason said, where no compiler builds it.
func inC(name, dir, source string, o options, stderr io.Writer) (c contestant, ok bool) {
	program, err := buildC(dir, name, source)
	if err != nil {
		fmt.Fprintf(stderr, "bench: warning: the %s was not built (%v): nothing to compare with\n", name, err)
		fmt.Fprintf(stderr, "bench: hint: apt install gcc libc6-dev\n")
		return contestant{}, false
	}
	args := []string{strconv.Itoa(o.count()), strconv.FormatInt(int64(o.period), 10), strconv.Itoa(o.priority)}
	return contestant{name, func() (round, error) { return turnOfC(program, args) }}, true
}

// buildC builds a program with whatever compiler there is.
func buildC(dir, name, text string) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		if cc, err = exec.LookPath("gcc"); err != nil {
			return "", err
		}
	}
	program := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
	source := program + ".c"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command(cc, "-O2", "-pthread", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

func turnOfC(program string, args []string) (round, error) {
	cmd := exec.Command(program, args...)
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
}
