//go:build linux

package qemu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/script"
)

// Guest describes a machine.
type Guest struct {
	Name    string // of its folder; unique in a rig
	Kernel  string // Cloud or Full
	Virtual bool   // virtual time: a fixed count of instructions a nanosecond, idle time skipped
	// Quick puts QEMU's main loop, which carries characters from one UART to
	// the other, under a real-time policy: without it a cable in virtual time
	// is as good as the host is quiet. One such guest at a time: the main
	// loops of two can take both processors of a small host.
	Quick  bool
	UARTs  []UART // /dev/ttyS1, ttyS2, ttyS3 (ttyS0 is the guest's console), and FTDI ports
	Args   []string
	Script script.Script
	Limit  time.Duration // of host time, beyond which it is killed
}

// Machine is a guest that runs.
type Machine struct {
	Quick bool // what Guest asked was granted

	name  string
	dir   string
	cmd   *exec.Cmd
	said  bytes.Buffer  // by QEMU itself
	ended chan struct{} // closed when it ended; then these two are valid:
	took  time.Duration
	err   error
}

// Dir is where a guest's sockets and files lie; it exists before Boot.
func (r *Rig) Dir(name string) (string, error) {
	dir := filepath.Join(r.work, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// Boot starts a guest.
func (r *Rig) Boot(g Guest) (*Machine, error) {
	dir, err := r.Dir(g.Name)
	if err != nil {
		return nil, err
	}
	if g.Script.Deadline == 0 {
		g.Script.Deadline = g.Limit
	}
	b, err := json.Marshal(g.Script)
	if err != nil {
		return nil, err
	}
	for _, old := range []string{"console", "results.tar"} {
		os.Remove(filepath.Join(dir, old)) // of an earlier guest, where work is kept
	}
	if err := r.initrd(filepath.Join(dir, "initrd"), g.Kernel, b); err != nil {
		return nil, err
	}
	m := &Machine{name: g.Name, dir: dir, ended: make(chan struct{})}
	m.cmd = exec.Command("qemu-system-x86_64", r.machineArgs(g, dir)...)
	m.cmd.Stdout, m.cmd.Stderr = &m.said, &m.said
	m.cmd.Args = append(m.cmd.Args, g.Args...) // a bus before what hangs on it
	for i, u := range g.UARTs {
		m.cmd.Args = append(m.cmd.Args, u.args(fmt.Sprintf("uart%d", i+1), 3+len(m.cmd.ExtraFiles))...)
		if u.socket != nil {
			m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, u.socket)
		}
	}
	err = Spawn(m.cmd)
	for _, f := range m.cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	m.Quick = quicken(m.cmd.Process.Pid, g.Quick)
	go m.watch(g.Limit)
	return m, nil
}

// Spawn starts a process that dies with this one. The system ties it to the
// thread that starts it, and Go ends threads: all are started by one that
// stays.
func Spawn(c *exec.Cmd) error {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawner() <- func() { started <- c.Start() }
	return <-started
}

var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// watch waits for QEMU's end, which a machine over its limit does not choose.
func (m *Machine) watch(limit time.Duration) {
	begun := time.Now()
	kill := time.AfterFunc(limit, func() { m.cmd.Process.Kill() })
	m.err = m.cmd.Wait()
	if !kill.Stop() {
		m.err = fmt.Errorf("killed after %v", limit)
	}
	m.took = time.Since(begun)
	close(m.ended)
}

// quicken lifts QEMU over what else loads the host, as far as this user may.
// quick: its main loop alone, under a real-time policy (threads that it
// starts begin as ordinary ones). Says whether that was granted.
func quicken(pid int, quick bool) bool {
	if !quick {
		return unix.Setpriority(unix.PRIO_PROCESS, pid, -20) == nil
	}
	return unix.SchedSetAttr(pid, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 5,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0) == nil
}

// machineArgs are the arguments that do not depend on the ports. One
// processor: with two, emulated one after the other, intervals were much
// worse. No rdrand: it would bring the host's chance into virtual time.
func (r *Rig) machineArgs(g Guest, dir string) []string {
	args := []string{
		"-M", "q35", "-m", "512", "-smp", "1", "-accel", "tcg",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-net", "none",
		"-kernel", filepath.Join(r.cache, g.Kernel, "vmlinuz"),
		"-initrd", filepath.Join(dir, "initrd"),
		"-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable random.trust_cpu=off",
		"-device", "virtio-serial-pci",
		"-chardev", "file,id=results,path=" + filepath.Join(dir, "results.tar"),
		"-device", "virtserialport,chardev=results",
		"-serial", "file:" + filepath.Join(dir, "console"),
	}
	if g.Virtual {
		return append(args, "-icount", "shift=3,sleep=off", "-cpu", "qemu64,-rdrand",
			"-rtc", "base=2026-01-01,clock=vm", "-seed", "42")
	}
	return append(args, "-cpu", "max")
}

// Console is what the guest's kernel and init said so far.
func (m *Machine) Console() string {
	b, _ := os.ReadFile(filepath.Join(m.dir, "console"))
	return string(b)
}

// AwaitMark waits until the guest's script came to a mark.
func (m *Machine) AwaitMark(text string, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end) && !m.Ended(); time.Sleep(20 * time.Millisecond) {
		for line := range strings.Lines(m.Console()) {
			if strings.TrimSpace(line) == "RIG-MARK "+text {
				return nil
			}
		}
	}
	return fmt.Errorf("guest %s did not come to %q within %v", m.name, text, d)
}

// Ended says whether the guest powered off, or was killed.
func (m *Machine) Ended() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// Wait waits until the guest powers off, and reads its results. What there
// is comes back even with an error.
func (m *Machine) Wait() (*Outcome, error) {
	<-m.ended
	err := m.err
	if err != nil {
		err = fmt.Errorf("guest %s: %w\n%s", m.name, err, m.said.String())
	}
	o, readErr := readOutcome(filepath.Join(m.dir, "results.tar"))
	state := m.cmd.ProcessState
	o.Name, o.Took, o.CPU, o.Console = m.name, m.took, state.UserTime()+state.SystemTime(), m.Console()
	return o, errors.Join(err, readErr)
}

// Kill ends a guest that is not waited for.
func (m *Machine) Kill() {
	m.cmd.Process.Kill()
	<-m.ended
}
