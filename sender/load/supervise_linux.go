package load

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopts tells that processes whose parent ended become this one's children,
// so that no child left means nothing left.
const adopts = true

// rename gives the process a name of its own in process lists: killall -9 sender
// ends the sender alone, and what it had started is cleaned up.
func rename(name string) { os.WriteFile("/proc/self/comm", []byte(name), 0) }

// adopt makes the supervisor the parent of all orphans below it, and an
// ordinary process: a sender under chrt would pass its real-time class on, and
// 400 real-time threads are the end of the machine.
func adopt() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	a, err := unix.SchedGetAttr(0, 0)
	if err == nil && a.Policy != unix.SCHED_NORMAL {
		unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0)
	}
}

// hurry lets the supervisor, which only waits, be heard among hundreds of busy
// threads: it is alone in its group. The load has started before and keeps the
// priority that it has.
func hurry() { unix.Setpriority(unix.PRIO_PGRP, 0, -15) }

// childAttr has the kernel kill the first process should the supervisor
// itself be killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// descendants lists the living processes below one, whatever their group or
// session. ok is false where /proc does not tell.
func descendants(of int) (pids []int, ok bool) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	children := map[int][]int{}
	seen := false
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		seen = seen || pid == of
		if parent, alive := parseStat(stat); alive {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[of]; len(next) > 0; {
		pids = append(pids, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return pids, seen
}

// parseStat reads the parent out of /proc/PID/stat: "PID (NAME) STATE PPID …",
// where NAME may hold anything. alive is false for what only waits to be
// collected, and for what cannot be read. Dead processes have no children.
func parseStat(stat []byte) (parent int, alive bool) {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0, false
	}
	fields := bytes.Fields(stat[i+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil && fields[0][0] != 'Z' && fields[0][0] != 'X'
}
