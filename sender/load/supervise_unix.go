//go:build linux || darwin || freebsd || openbsd

package load

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// noCommandStatus are the shell's statuses for a command that it cannot start.
var noCommandStatus = []string{"exit status 126", "exit status 127"}

// detached keeps Ctrl-C of the terminal away from the supervisor: the sender
// ends its loads itself, in its own order.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// asWorker tells whether the load runs in this binary. The shell is started
// directly here.
func asWorker(s Spec) bool { return s.Kind != Command }

// group is a load's processes.
type group struct {
	pid  int // of the first process: also its group and session
	gone chan string
}

// startGroup starts the load's first process in a session of its own.
func startGroup(s Spec, p stdio, env []string) (*group, error) {
	adopt()
	path, args := "/bin/sh", []string{"sh", "-c", s.Command}
	if asWorker(s) {
		var err error
		if path, args, err = (task{Spec: s}).command(roleWork); err != nil {
			return nil, err
		}
	}
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{p.in.Fd(), p.out.Fd(), p.err.Fd()},
		Sys:   childAttr(),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	g := &group{pid: pid, gone: make(chan string, 1)}
	go g.reap()
	return g, nil
}

// empty gives the first process's status, once the whole group is gone.
func (g *group) empty() <-chan string { return g.gone }

// reap collects the children, also those that the supervisor took in, until
// none is left.
func (g *group) reap() {
	status := "unknown status"
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			for !adopts && syscall.Kill(-g.pid, 0) != syscall.ESRCH {
				time.Sleep(10 * endPoll)
			}
			g.gone <- status
			return
		case pid == g.pid:
			status = statusText(ws)
		}
	}
}

func statusText(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// end ends all processes: a command's are asked first, so that they can clean
// up, then all are killed, again and again until none is left.
func (g *group) end(ask bool) error {
	deadline := time.Now().Add(endLimit)
	if ask {
		g.signal(syscall.SIGTERM)
		select {
		case <-g.gone:
			return nil
		case <-time.After(endGrace):
		}
	}
	for time.Now().Before(deadline) {
		g.signal(syscall.SIGKILL)
		select {
		case <-g.gone:
			return nil
		case <-time.After(endPoll):
		}
	}
	return errNotEnded
}

// signal reaches every process of the load.
func (g *group) signal(sig syscall.Signal) {
	pids, ok := descendants(os.Getpid())
	if !ok {
		syscall.Kill(-g.pid, sig)
		return
	}
	for _, pid := range pids {
		syscall.Kill(pid, sig)
	}
}
