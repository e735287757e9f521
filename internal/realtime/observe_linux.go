package realtime

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// observed keeps the files open: reading them again costs a few µs.
type observed struct {
	schedstat, stat, status *os.File
}

func (o *observed) open() {
	dir := fmt.Sprintf("/proc/self/task/%d/", unix.Gettid())
	o.schedstat, _ = os.Open(dir + "schedstat")
	o.stat, _ = os.Open(dir + "stat")
	o.status, _ = os.Open(dir + "status")
}

func (o *observed) runDelay() (time.Duration, bool) {
	text, ok := content(o.schedstat)
	if !ok {
		return 0, false
	}
	d, err := parseRunDelay(text)
	return d, err == nil
}

func (o *observed) usage() (Counters, bool) {
	stat, ok1 := content(o.stat)
	status, ok2 := content(o.status)
	if !ok1 || !ok2 {
		return Counters{}, false
	}
	c, err := parseThreadUsage(stat, status)
	return c, err == nil
}

func content(f *os.File) (string, bool) {
	if f == nil {
		return "", false
	}
	var b [4096]byte
	n, _ := f.ReadAt(b[:], 0)
	return string(b[:n]), n > 0
}

func (o *observed) close() {
	for _, f := range []*os.File{o.schedstat, o.stat, o.status} {
		if f != nil {
			f.Close()
		}
	}
}
