package load

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// diskFree gives what an ordinary user may still write in a folder, and the
// disk's size.
func diskFree(dir string) (free, total int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

// preferKill has the system end this process and not the sender when memory
// runs out.
func preferKill() { os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// memoryFree is the kernel's own estimate of what can be taken without
// swapping.
func memoryFree() (int64, bool) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return parseMemAvailable(info)
}

// parseMemAvailable reads "MemAvailable:   23573 kB".
func parseMemAvailable(info []byte) (int64, bool) {
	for line := range bytes.Lines(info) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemAvailable:" {
			kib, err := strconv.ParseInt(string(f[1]), 10, 53)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
