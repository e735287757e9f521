package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, value string) *Load {
	t.Helper()
	s, err := Parse(value)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Stop() })
	return l
}

// below lists what runs under a load's supervisor.
func below(t *testing.T, l *Load) []int {
	t.Helper()
	supervisor, _ := descendants(l.cmd.Process.Pid) // of the keeper, nearest first
	if len(supervisor) == 0 {
		return nil
	}
	pids, _ := descendants(supervisor[0])
	return pids
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, alive := parseStat(stat)
	return alive
}

func anyAlive(pids []int) bool { return slices.ContainsFunc(pids, alive) }

// processes is the process list: command lines by pid.
func processes() map[int]string {
	all := map[int]string{}
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
		if err == nil && len(b) > 0 {
			all[pid] = string(bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
		}
	}
	return all
}

// busy counts the threads of a process that run or want to.
func busy(pid int) (threads, running int) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		threads++
		if i := bytes.LastIndexByte(b, ')'); i > 0 && bytes.HasPrefix(b[i:], []byte(") R")) {
			running++
		}
	}
	return threads, running
}

func TestNone(t *testing.T) {
	l := start(t, "by hand=@none")
	select {
	case <-l.Done():
		t.Error("it ended")
	default:
	}
	if err := l.Stop(); err != nil || l.Err() != nil {
		t.Errorf("%v, %v", err, l.Err())
	}
	<-l.Done()
	l.Stop()
}

// So many threads are so many threads of the system, all of them busy.
func TestThreads(t *testing.T) {
	const n = 60
	l := start(t, fmt.Sprintf("t=@threads:%d:low", n))
	pids := below(t, l)
	if len(pids) != 1 {
		t.Fatalf("%d processes", len(pids))
	}
	threads, running := 0, 0
	eventually(t, "all are busy", func() bool {
		threads, running = busy(pids[0])
		return running >= n
	})
	if threads < n || running > n+8 {
		t.Errorf("%d threads, %d of them busy; want %d", threads, running, n)
	}
	if notes := l.Notes(); len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
	if err := l.Stop(); err != nil || l.Err() != nil || anyAlive(pids) {
		t.Errorf("stop: %v, %v, alive %v", err, l.Err(), anyAlive(pids))
	}
}

func TestMemory(t *testing.T) {
	const size = 32 << 20
	l := start(t, "m=@memory:2x32M")
	pids := below(t, l)
	if len(pids) != 1 {
		t.Fatalf("%d processes", len(pids))
	}
	peak := func() (kib int64) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pids[0]))
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				fmt.Sscan(rest, &kib)
			}
		}
		return kib << 10
	}
	eventually(t, "two workers at once", func() bool { return peak() > 3*size/2 })
	l.Stop()
	if anyAlive(pids) {
		t.Error("it is still there")
	}
}

func TestMemoryBeyondTheMachineIsRefused(t *testing.T) {
	s, err := Parse("m=@memory:2x100T")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(context.Background(), s)
	if err == nil || !strings.Contains(err.Error(), "nine tenths") {
		t.Errorf("%v", err)
	}
}

// openFile gives the size of the file that a load writes, which has no name.
func openFile(t *testing.T, pids []int, dir string) int64 {
	t.Helper()
	for _, pid := range pids {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if name, _ := os.Readlink(fd); strings.HasPrefix(name, dir) {
				if info, err := os.Stat(fd); err == nil {
					return info.Size()
				}
			}
		}
	}
	return -1
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	l := start(t, "d=@disk:"+dir+":3M:64K")
	pids := below(t, l)
	eventually(t, "the file has its size", func() bool { return openFile(t, pids, dir) == 3<<20 })
	time.Sleep(50 * time.Millisecond)
	if n := openFile(t, pids, dir); n != 3<<20 {
		t.Errorf("the file is %d", n)
	}
	select {
	case <-l.Done():
		t.Error("it ended: ", l.Err())
	default:
	}
	l.Stop()
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 || anyAlive(pids) {
		t.Errorf("left %v, %v", names, err)
	}
}

func TestDiskWithoutItsFolder(t *testing.T) {
	for _, dir := range []string{"/no/such/folder", os.DevNull} {
		s, err := Parse("d=@disk:" + dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Start(context.Background(), s); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v", err)
		}
	}
}

// A command's end is seen with its status and what it said.
func TestCommandThatExits(t *testing.T) {
	l := start(t, "c=echo oh no >&2; exit 3")
	<-l.Done()
	err := l.Err()
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "oh no") {
		t.Errorf("%v", err)
	}
	l.Stop()
	if l.Err() == nil {
		t.Error("the stop behind it hides that it had ended")
	}
}

func TestCommandThatDoesNotStart(t *testing.T) {
	for _, c := range []string{"/no/such/program --x", "/etc/passwd"} {
		s, err := Parse("c=" + c)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Start(context.Background(), s)
		if err != nil { // on a machine that is busy it may be seen later
			if !errors.Is(err, ErrNoCommand) || !strings.Contains(err.Error(), "exit status 12") {
				t.Errorf("%s: %v", c, err)
			}
			continue
		}
		<-l.Done()
		if l.Err() == nil {
			t.Errorf("%s: no error", c)
		}
	}
}

// A command that ends in the background has not ended.
func TestCommandGoesOnInTheBackground(t *testing.T) {
	l := start(t, "c=sleep 1000 & exit 0")
	time.Sleep(300 * time.Millisecond)
	select {
	case <-l.Done():
		t.Fatal(l.Err())
	default:
	}
	pids := below(t, l)
	if len(pids) != 1 {
		t.Errorf("%d processes", len(pids))
	}
	l.Stop()
	if anyAlive(pids) {
		t.Error("it is still there")
	}
}

func TestCommandMayCleanUp(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	l := start(t, `c=trap 'rm "`+mark+`"; exit' TERM; touch "`+mark+`"; while :; do sleep 0.05; done`)
	eventually(t, "the mark", func() bool { _, err := os.Stat(mark); return err == nil })
	l.Stop()
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command was not asked to end")
	}
}

// A flood costs nobody but its writer, and the last lines are kept.
func TestFloodOfStderr(t *testing.T) {
	l := start(t, "c=yes flood | head -c 18000000 >&2; echo the last >&2; sleep 1000")
	pids := below(t, l)
	eventually(t, "the flood is over", func() bool {
		pids = below(t, l)
		return slices.ContainsFunc(pids, func(p int) bool { return strings.HasPrefix(processes()[p], "sleep") })
	})
	l.Stop()
	lines, dropped := l.Stderr()
	if len(lines) != tailLines || lines[tailLines-1] != "the last" || lines[0] != "flood" || dropped < 17000000 {
		t.Errorf("%q, %d dropped", lines, dropped)
	}
}

func TestCommandHasATemporaryFolder(t *testing.T) {
	place := filepath.Join(t.TempDir(), "place")
	l := start(t, `c=echo "$TMPDIR" > `+place+`; head -c 100000 /dev/zero > "$TMPDIR/big"; sleep 1000`)
	var dir string
	eventually(t, "the file", func() bool {
		b, _ := os.ReadFile(place)
		dir = strings.TrimSpace(string(b))
		info, err := os.Stat(filepath.Join(dir, "big"))
		return dir != "" && err == nil && info.Size() == 100000
	})
	l.Stop()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

func TestStartWithoutTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, _ := Parse("t=@threads:4")
	if l, err := Start(ctx, s); err == nil {
		l.Stop()
		t.Error("it started")
	}
}

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		stat   string
		parent int
		alive  bool
	}{
		{"12 (sh) S 7 12 12 0", 7, true},
		{"12 (a ) R b) R 7 12", 7, true},
		{"12 (sh) Z 7 12", 7, false},
		{"12 (sh) S x", 0, false},
		{"12 (sh)", 0, false},
		{"", 0, false},
	} {
		if parent, alive := parseStat([]byte(c.stat)); parent != c.parent || alive != c.alive {
			t.Errorf("%q: %d, %v", c.stat, parent, alive)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (sh) S 7 12"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, alive := parseStat(b); alive && !bytes.Contains(b, []byte(")")) {
			t.Errorf("%q", b)
		}
	})
}

func TestParseMemAvailable(t *testing.T) {
	for in, want := range map[string]int64{
		"MemTotal: 9 kB\nMemAvailable:   23573 kB\n": 23573 << 10,
		"MemTotal: 9 kB\n":                           0,
		"MemAvailable: much kB":                      0,
		"":                                           0,
	} {
		if got, ok := parseMemAvailable([]byte(in)); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %v", in, got, ok)
		}
	}
}

func TestSetenvLeavesNoSecond(t *testing.T) {
	env := setenv([]string{"A=1", "TMPDIR=x", "tmpdir=y", "TMPDIR=", "TMPDIRS=z"}, "TMPDIR", "here")
	if want := []string{"A=1", "tmpdir=y", "TMPDIRS=z", "TMPDIR=here"}; !slices.Equal(env, want) {
		t.Errorf("%q, want %q", env, want)
	}
}
