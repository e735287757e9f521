package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/rig/qemu/script"
)

// program is a child and its end.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it ended
	err   error         // valid then
}

func (g *guest) start(s script.Step) (string, error) {
	c := exec.Command("/init", append([]string{alone}, s.Args...)...)
	c.Dir = outDir
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	for ext, to := range map[string]*io.Writer{".stdout": &c.Stdout, ".stderr": &c.Stderr} {
		f, err := os.Create(filepath.Join(outDir, s.Name+ext))
		if err != nil {
			return "", err
		}
		defer f.Close()
		*to = f
	}
	p := &program{cmd: c, ended: make(chan struct{})}
	if err := c.Start(); err != nil {
		return "", err
	}
	go func() { p.err = c.Wait(); close(p.ended) }()
	g.programs[s.Name] = p
	return strconv.Itoa(c.Process.Pid), nil
}

// alone is init's first argument when it only makes a place for a program.
const alone = "alone"

// runAlone runs a program that sees no other process: on a UART in loopback
// mode both ends are one port, which each program would find held by the
// other, and by init, and refuse.
func runAlone(args []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	return unix.Exec(args[0], args, os.Environ())
}

// wait gives the exit status, or "timeout" after asking for stacks (SIGQUIT).
func (g *guest) wait(s script.Step) (string, error) {
	p := g.programs[s.Name]
	if p == nil {
		return "", os.ErrNotExist
	}
	select {
	case <-p.ended:
		return p.cmd.ProcessState.String(), nil
	case <-time.After(s.For):
	}
	p.stop()
	return "timeout", errTimeout
}

func (g *guest) run(s script.Step) (string, error) {
	if v, err := g.start(s); err != nil {
		return v, err
	}
	return g.wait(s)
}

func (g *guest) signal(s script.Step) (string, error) {
	p := g.programs[s.Name]
	if p == nil {
		return "", os.ErrNotExist
	}
	return "", p.cmd.Process.Signal(syscall.Signal(s.N))
}

// stall stops a program for a while. Value: what it became, in ns.
func (g *guest) stall(s script.Step) (string, error) {
	p := g.programs[s.Name]
	if p == nil {
		return "", os.ErrNotExist
	}
	from := now()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	sleepUntil(from + int64(s.For))
	err := p.cmd.Process.Signal(syscall.SIGCONT)
	return strconv.FormatInt(now()-from, 10), err
}

// stop asks for the stacks, then kills.
func (p *program) stop() {
	p.cmd.Process.Signal(syscall.SIGCONT)
	p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		p.cmd.Process.Kill()
		select {
		case <-p.ended:
		case <-time.After(time.Second): // not even killable: stuck in a driver
		}
	}
}

func (g *guest) killAll() {
	for _, p := range g.programs {
		select {
		case <-p.ended:
		default:
			p.stop()
		}
	}
}
