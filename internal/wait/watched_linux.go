package wait

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Watched tells whether an epoll of this process watches the descriptor: for
// the Go runtime's own poller that is so when the port was opened through the
// os package (also by libraries that do, for a pseudo-terminal or a pipe).
//
// Then each character wakes a thread of the runtime that has nothing to do
// with it, and the writing loop pays for that before its write returns
// (measured in a virtual machine: write 11 instead of 2.4 µs, write to stamp
// 24 instead of 8 µs at the median). Descriptors for the hot loops are opened
// with unix.Open, or duplicated from an os.File that is closed then.
func (fd FD) Watched() bool {
	infos, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, name := range infos {
		info, err := os.ReadFile(name)
		if err == nil && watches(string(info), int(fd)) {
			return true
		}
	}
	return false
}

// watches looks for a descriptor in an epoll's fdinfo: a line
// "tfd:       5 events:       19 data: … " for each that it watches.
func watches(info string, fd int) bool {
	for line := range strings.Lines(info) {
		var n int
		if _, err := fmt.Sscanf(line, "tfd: %d", &n); err == nil && n == fd {
			return true
		}
	}
	return false
}
