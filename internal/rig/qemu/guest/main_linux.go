package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/script"
)

const outDir = "/out"

func main() {
	if len(os.Args) > 2 && os.Args[1] == alone {
		fmt.Fprintln(os.Stderr, "rig:", runAlone(os.Args[2:]))
		os.Exit(127)
	}
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	mountAll()
	say("up after %.3f s, kernel %s, clock %s", float64(now())/1e9,
		cat("/proc/sys/kernel/osrelease"),
		cat("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
	for _, m := range strings.Fields(cat("/modules/order")) {
		if err := loadModule("/modules/" + m); err != nil {
			say("module %s: %v", m, err)
		}
	}
	s, err := readScript("/script.json")
	if err != nil {
		say("script: %v", err)
		powerOff()
	}
	g := &guest{programs: map[string]*program{}, held: map[string]int{}}
	if err := aboveAll(); err != nil {
		say("priority: %v", err)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
		case <-time.After(s.Deadline):
			say("deadline of %v passed in step %s", s.Deadline, g.where.Load())
			g.killAll()
			g.finish()
		}
	}()
	g.work(s.Steps)
	close(done)
	g.finish()
}

// mountAll makes the file systems that the programs look into.
func mountAll() {
	for _, m := range [][3]string{
		{"proc", "/proc", "proc"}, {"sysfs", "/sys", "sysfs"},
		{"devtmpfs", "/dev", "devtmpfs"}, {"tmpfs", outDir, "tmpfs"}, {"tmpfs", "/tmp", "tmpfs"},
	} {
		os.MkdirAll(m[1], 0o755)
		if err := unix.Mount(m[0], m[1], m[2], 0, ""); err != nil {
			say("mount %s: %v", m[1], err)
		}
	}
	unix.Sethostname([]byte("guest"))
	os.Setenv("PATH", "/bin")
	os.Setenv("HOME", "/tmp")
}

func readScript(path string) (s script.Script, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	err = json.Unmarshal(b, &s)
	return s, err
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FinitModule(int(f.Fd()), "", 0)
}

// aboveAll lifts this thread over whatever the programs ask for; what it
// starts begins as an ordinary program (reset on fork).
func aboveAll() error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 99,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
}

// now is CLOCK_MONOTONIC in ns, the clock of the programs' logs.
func now() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// sleepUntil waits on this thread, not through the Go scheduler.
func sleepUntil(t int64) {
	ts := unix.NsecToTimespec(t)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

func cat(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func say(format string, a ...any) { fmt.Printf("rig: "+format+"\n", a...) }

// powerOff ends the machine; with -no-reboot a restart ends QEMU.
func powerOff() {
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
	select {}
}
