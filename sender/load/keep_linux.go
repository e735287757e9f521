package load

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// keeps: a keeper stands between sender and supervisor.
const keeps = true

// keepMain is the keeper's whole life: it starts the supervisor, which has the
// pipes of the sender, and waits. When the supervisor is killed, the system
// makes its orphans the keeper's children; it ends them, whatever session or
// environment they have by now, and deletes the folder. A supervisor whose
// keeper is killed is told so by a signal and ends the load itself.
func keepMain(t task) int {
	runtime.LockOSThread() // the signal comes when this thread ends
	rename("load-keeper")
	adopt()
	path, args, err := t.command(roleSupervise)
	if err != nil {
		return 1
	}
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM},
	})
	if err != nil {
		return 1
	}
	if t.Spec.Kind == Threads {
		hurry()
	}
	status := waitFor(pid)
	if !status.Signaled() {
		return status.ExitStatus()
	}
	sweep()
	os.RemoveAll(t.Folder)
	(&speaker{w: os.Stdout}).say(message{Kind: sayEnded, Text: endedOutside})
	return 1
}

// waitFor waits for one child.
func waitFor(pid int) (status syscall.WaitStatus) {
	for {
		if got, err := syscall.Wait4(pid, &status, 0, nil); got == pid || err != nil && err != syscall.EINTR {
			return status
		}
	}
}

// sweep kills all that is below this process, again and again until none is
// left.
func sweep() {
	for end := time.Now().Add(sweepLimit); time.Now().Before(end); time.Sleep(endPoll) {
		pids, _ := descendants(os.Getpid())
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if !childrenLeft() {
			return
		}
	}
}

// sweepLimit is less than a stop may take.
const sweepLimit = 3 * time.Second

// childrenLeft collects the dead children and tells whether there are others.
func childrenLeft() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.ECHILD:
			return false
		case pid <= 0 && err != syscall.EINTR:
			return true
		}
	}
}
