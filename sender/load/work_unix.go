//go:build linux || darwin || freebsd || openbsd

package load

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// command is not a worker's here: the supervisor starts the shell itself.
func (w *worker) command() error {
	cmd := exec.Command("/bin/sh", "-c", w.spec.Command)
	return cmd.Run()
}

func takeMemory(size int64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func giveMemory(b []byte) error { return unix.Munmap(b) }

// createDoomed makes a file that has no name any more, so that it is gone with
// its process whatever ends that. On a network share the client keeps a hidden
// name until then.
func createDoomed(dir string) (file, error) {
	f, err := os.CreateTemp(dir, "serialtiming-load-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func outOfSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// setPriority sets the nice value of the process, which is alone in its group:
// of all its threads, and so of those that they start. (On Linux the call for
// a process would set one thread only.)
func setPriority(word string) error {
	nice := map[string]int{"low": niceStep, "normal": 0, "high": -niceStep}[word]
	return unix.Setpriority(unix.PRIO_PGRP, 0, nice)
}

// niceStep is what low and high are beside the ordinary 0, as for the sender's
// own --priority.
const niceStep = 10

// gate holds threads back in a read of an empty pipe.
type gate struct{ r, w *os.File }

func newGate() (*gate, error) {
	r, w, err := os.Pipe()
	return &gate{r, w}, err
}

// wait returns when the gate is open. (Fd makes the pipe a waiting one.)
func (g *gate) wait() {
	var b [1]byte
	for fd := int(g.r.Fd()); ; {
		if _, err := syscall.Read(fd, b[:]); err != syscall.EINTR {
			return
		}
	}
}

func (g *gate) open() { g.w.Close() }
