package serialport

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkFree refuses a port that another process holds: TIOCEXCL does not keep
// root out, and not every program sets it. Of other users' processes only root
// sees what they hold.
func checkFree(name string, c Config) error {
	if c.Shared {
		return nil
	}
	who := holders("/proc", name)
	if len(who) == 0 {
		return nil
	}
	return &Error{
		Op: "open", Port: name,
		Err:  fmt.Errorf("%w: held by %s", ErrBusy, strings.Join(who, ", ")),
		Hint: "end that process, or wait until it has finished",
	}
}

// holders names the other processes that have the device open.
func holders(proc, name string) []string {
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil {
		return nil
	}
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	var who []string
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid != os.Getpid() && holds(dir, st.Rdev) {
			comm, _ := readText(dir, "comm")
			who = append(who, fmt.Sprintf("%s (pid %d)", comm, pid))
		}
	}
	return who
}

// holds looks through one process's descriptors. One that has the other side
// of a pseudo-terminal is not a rival but the very other end.
func holds(dir string, rdev uint64) bool {
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return false
	}
	found := false
	for _, f := range fds {
		link, err := os.Readlink(filepath.Join(dir, "fd", f.Name()))
		if err != nil || !strings.HasPrefix(link, "/dev/") {
			continue
		}
		if isPTS(rdev) && strings.HasSuffix(link, "ptmx") {
			if masterOf(filepath.Join(dir, "fdinfo", f.Name())) == int(unix.Minor(rdev)) {
				return false
			}
			continue
		}
		i, err := os.Stat(filepath.Join(dir, "fd", f.Name()))
		if err != nil || i.Mode()&os.ModeCharDevice == 0 {
			continue
		}
		if s, ok := i.Sys().(*syscall.Stat_t); ok && uint64(s.Rdev) == rdev {
			found = true
		}
	}
	return found
}

// masterOf is the number of a master's pseudo-terminal, -1 if unknown.
func masterOf(fdinfo string) int {
	b, err := os.ReadFile(fdinfo)
	if err != nil {
		return -1
	}
	return ttyIndex(string(b))
}

// ttyIndex finds the line "tty-index:\tN" in a master's fdinfo.
func ttyIndex(fdinfo string) int {
	for line := range strings.Lines(fdinfo) {
		if v, ok := strings.CutPrefix(line, "tty-index:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}
