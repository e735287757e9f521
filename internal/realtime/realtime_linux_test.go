package realtime

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onThread asks for something and lets look at the thread that got it.
func onThread(t *testing.T, r Request, look func(grants map[string]Grant)) {
	t.Helper()
	s, err := Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Restore()
	done := make(chan struct{})
	go func() {
		defer close(done)
		look(byItem(s.LockThread()))
	}()
	<-done
}

func byItem(grants []Grant) map[string]Grant {
	m := map[string]Grant{}
	for _, g := range grants {
		m[g.Item] = g
	}
	return m
}

// What a grant says is what the kernel says of the thread.
func TestThreadReadsBack(t *testing.T) {
	for _, priority := range []string{"realtime", "realtime:7", "high", "normal", "low"} {
		t.Run(priority, func(t *testing.T) {
			onThread(t, Request{Priority: priority, CPU: -1}, func(grants map[string]Grant) {
				attr, err := unix.SchedGetAttr(unix.Gettid(), 0)
				if err != nil {
					t.Error(err)
					return
				}
				g := grants[ItemPriority]
				if g.Got != schedString(attr) {
					t.Errorf("the grant says %q, the kernel %q", g.Got, schedString(attr))
				}
				p, _ := ParsePriority(priority)
				want := schedAttr(p)
				asked := attr.Policy == want.Policy && attr.Priority == want.Priority && attr.Nice == want.Nice
				if asked != g.Granted() || !asked && g.Hint == "" {
					t.Errorf("%+v, and the kernel says %+v", g, attr)
				}
				if _, bound := grants[ItemCPU]; bound {
					t.Error("nobody asked for a processor")
				}
			})
		})
	}
}

func TestAffinity(t *testing.T) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !may.IsSet(cpu) {
		cpu++
	}
	onThread(t, Request{CPU: cpu}, func(grants map[string]Grant) {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 || !set.IsSet(cpu) {
			t.Errorf("bound to %s: %v", cpuList(&set), err)
		}
		if g := grants[ItemCPU]; !g.Granted() || g.Got != g.Asked {
			t.Errorf("%+v", g)
		}
	})
	onThread(t, Request{CPU: 1000}, func(grants map[string]Grant) {
		if g := grants[ItemCPU]; g.Granted() || g.Hint == "" || g.Got != cpuList(&may) {
			t.Errorf("processor 1000: %+v", g)
		}
	})
}

func TestCPUList(t *testing.T) {
	tests := []struct {
		cpus []int
		want string
	}{
		{nil, ""}, {[]int{3}, "3"}, {[]int{0, 1, 2, 3}, "0-3"}, {[]int{0, 2, 3, 70}, "0,2-3,70"}, {[]int{1023}, "1023"},
	}
	for _, tt := range tests {
		var set unix.CPUSet
		for _, c := range tt.cpus {
			set.Set(c)
		}
		if got := cpuList(&set); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.cpus, got, tt.want)
		}
	}
}

// The preemption signal must not end a raw sleep; the faults of the thread
// itself must still come through.
func TestSignalsAreBlocked(t *testing.T) {
	onThread(t, Request{CPU: -1}, func(grants map[string]Grant) {
		var set unix.Sigset_t
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &set); err != nil {
			t.Error(err)
			return
		}
		blocked := func(s syscall.Signal) bool {
			word, bit := sigBit(s)
			return set.Val[word]&(1<<bit) != 0
		}
		for _, s := range []syscall.Signal{unix.SIGURG, unix.SIGINT, unix.SIGTERM, unix.SIGPROF, unix.SIGWINCH, 40} {
			if !blocked(s) {
				t.Errorf("%v comes through", s)
			}
		}
		for _, s := range keptSignals {
			if blocked(s) {
				t.Errorf("%v is blocked", s)
			}
		}
		if g := grants[ItemSignals]; !g.Granted() {
			t.Errorf("%+v", g)
		}
	})
}

// The prepared thread ends with its goroutine: no other goroutine gets a
// real-time thread.
func TestThePreparedThreadEnds(t *testing.T) {
	tid := 0
	onThread(t, Request{CPU: -1}, func(map[string]Grant) { tid = unix.Gettid() })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 1000 {
		if unix.Tgkill(os.Getpid(), tid, 0) == unix.ESRCH {
			return
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e7}, nil)
	}
	t.Errorf("thread %d is still there", tid)
}

// unprivileged is what a user without any right gets: the test's own binary
// prints it, started as nobody.
func unprivileged(t *testing.T, rtprio uint64) map[string]Grant {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become nobody")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o755)
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := dir + "/realtime.test"
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for parent := dir; parent != "/tmp" && parent != "/"; parent = parent[:max(strings.LastIndexByte(parent, '/'), 1)] {
		os.Chmod(parent, 0o755)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTPRIO, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_RTPRIO, &unix.Rlimit{Cur: rtprio, Max: max(rtprio, before.Max)}); err != nil {
		t.Skipf("the limit cannot be set to %d here: %v", rtprio, err)
	}
	defer unix.Setrlimit(unix.RLIMIT_RTPRIO, &before)
	cmd := exec.Command(program, "-test.run=^TestAsNobody$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "REALTIME_AS_NOBODY=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var grants []Grant
	line, _, _ := strings.Cut(string(out), "\n")
	if err := json.Unmarshal([]byte(line), &grants); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checkGrants(t, grants, ItemPriority, ItemMemory, ItemIdle, ItemSlack, ItemSignals)
	return byItem(grants)
}

// TestAsNobody is the other half of unprivileged.
func TestAsNobody(t *testing.T) {
	if os.Getenv("REALTIME_AS_NOBODY") == "" {
		t.Skip("started by the tests of missing rights")
	}
	s, err := Prepare(Request{Priority: "realtime", CPU: -1, LockMemory: true, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	grants := make(chan []Grant)
	go func() { grants <- s.LockThread() }()
	all := append(s.Grants(), <-grants...)
	// The process must live on: memory that comes now would kill it if it had
	// been locked beyond the limit.
	sum := 0
	for i := range 64 {
		b := make([]byte, 4<<20)
		b[i] = 1
		sum += len(b)
	}
	s.Restore()
	if sum == 0 || json.NewEncoder(os.Stdout).Encode(all) != nil {
		t.Error("nothing printed")
	}
}

func TestWithoutRights(t *testing.T) {
	grants := unprivileged(t, 0)
	for _, item := range []string{ItemPriority, ItemMemory, ItemIdle} {
		if g := grants[item]; g.Granted() || g.Hint == "" {
			t.Errorf("nobody got it: %+v", g)
		}
	}
	if g := grants[ItemPriority]; !strings.HasPrefix(g.Got, "SCHED_OTHER nice ") || !strings.Contains(g.Hint, "setcap") || !strings.Contains(g.Hint, "limits.d") {
		t.Errorf("%+v", g)
	}
	if g := grants[ItemSignals]; !g.Granted() {
		t.Errorf("no right is needed: %+v", g)
	}
}

// With a limit below the wish, the highest allowed priority is taken, and
// said.
func TestWithALimitedRight(t *testing.T) {
	g := unprivileged(t, 10)[ItemPriority]
	if g.Got != "SCHED_FIFO 10" || g.Granted() || !strings.Contains(g.Why, "10") {
		t.Errorf("%+v", g)
	}
}

func TestThreadUsage(t *testing.T) {
	onThread(t, Request{CPU: -1}, func(map[string]Grant) {
		before, ok := ThreadUsage()
		x := 1
		for i := range 50_000_000 {
			x += i ^ x
		}
		after, _ := ThreadUsage()
		if d := after.Sub(before); !ok || d.CPU <= 0 || x == 0 {
			t.Errorf("counted %+v, %v", d, ok)
		}
	})
}

func TestUsageCountsFaults(t *testing.T) {
	const pages = 64
	mem, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	before, _ := Usage()
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	after, _ := Usage()
	if d := after.Sub(before); d.PageFaults < pages {
		t.Errorf("%d pages were touched, %d faults counted", pages, d.PageFaults)
	}
}
