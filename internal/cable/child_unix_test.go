//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The other end of these tests is another process: this test binary again,
// told by childEnv what to do.
const childEnv = "SERIALTIMING_CABLE_CHILD"

type order struct {
	Dir, Name string
	Wait      time.Duration
	Lock      bool // take the meeting's lock and stay
	Write     int  // characters to write at once
	Read      int  // characters to read then; -1: to the end of the line
	Exit      bool // leave without closing anything
}

func TestMain(m *testing.M) {
	if s := os.Getenv(childEnv); s != "" {
		var o order
		if err := json.Unmarshal([]byte(s), &o); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		child(o)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child says on stdout, a line each, what it has come to, then waits to be
// killed or for its stdin to end.
func child(o order) {
	if o.Lock {
		_, err := meeting{o.Dir, o.Name}.lock(context.Background())
		fmt.Println("locked", err)
		io.Copy(io.Discard, os.Stdin)
	}
	p, err := Open(context.Background(), o.Name, Options{Wait: o.Wait, dir: o.Dir, Waiting: func() { fmt.Println("waiting") }})
	switch {
	case errors.Is(err, ErrBusy):
		fmt.Println("busy", err)
		return
	case err != nil:
		fmt.Println("failed", err)
		return
	}
	fmt.Println("joined")
	if o.Write > 0 {
		n, err := p.Write(pattern(o.Write))
		fmt.Println("wrote", n, err)
	}
	if o.Read != 0 {
		got := 0
		for b := make([]byte, 100); o.Read < 0 || got < o.Read; {
			n, err := p.Read(b, 10*time.Second)
			got += n
			if n == 0 || err != nil {
				break
			}
		}
		fmt.Println("read", got)
	}
	if o.Exit {
		os.Exit(0)
	}
	io.Copy(io.Discard, os.Stdin)
	p.Close()
}

// process is a running child.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start runs exe (the test binary, or a copy) as the given user (0: our own).
func start(t *testing.T, exe string, uid uint32, o order) *process {
	t.Helper()
	if o.Wait == 0 {
		o.Wait = 20 * time.Second
	}
	env, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+string(env))
	cmd.Stderr = os.Stderr
	if uid != 0 {
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

// kill is SIGKILL: the child has no chance to tidy up.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// says waits for a line that begins with want.
func (p *process) says(want string) string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the other process says nothing, want %q", want)
	}
	if !strings.HasPrefix(p.out.Text(), want) {
		p.t.Fatalf("the other process says %q, want %q", p.out.Text(), want)
	}
	return p.out.Text()
}

// withChild plugs in this process and a child, in either order.
func withChild(t *testing.T, dir, exe string, uid uint32, childFirst bool, o order) (*process, *Port) {
	t.Helper()
	o.Dir, o.Name = dir, "x"
	var c *process
	if childFirst {
		c = start(t, exe, uid, o)
		c.says("waiting")
	}
	p, err := Open(context.Background(), o.Name, Options{Wait: 20 * time.Second, dir: dir, Waiting: func() {
		if childFirst {
			t.Error("the child waits, and so do we")
		}
		c = start(t, exe, uid, o)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if want := fmt.Sprintf("(pid %d)", c.cmd.Process.Pid); !strings.HasSuffix(p.Peer().String(), want) {
		t.Errorf("the other end is %v, want %s", p.Peer(), want)
	}
	c.says("joined")
	return c, p
}

func ownExe(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func eitherFirst(t *testing.T, f func(t *testing.T, childFirst bool)) {
	t.Run("child first", func(t *testing.T) { f(t, true) })
	t.Run("child second", func(t *testing.T) { f(t, false) })
}

func TestKilledEndLosesNothing(t *testing.T) {
	exe := ownExe(t)
	eitherFirst(t, func(t *testing.T, childFirst bool) {
		dir := place(t)
		c, p := withChild(t, dir, exe, 0, childFirst, order{Write: 3500})
		c.says("wrote 3500 <nil>")
		c.kill()
		time.Sleep(50 * time.Millisecond)
		expectAll(t, p, pattern(3500))
		p.Close()
	})
}

func TestExitWithoutCloseLosesNothing(t *testing.T) {
	exe := ownExe(t)
	eitherFirst(t, func(t *testing.T, childFirst bool) {
		_, p := withChild(t, place(t), exe, 0, childFirst, order{Write: 3500, Exit: true})
		expectAll(t, p, pattern(3500))
	})
}

func TestChildReadsEverythingAfterClose(t *testing.T) {
	exe := ownExe(t)
	eitherFirst(t, func(t *testing.T, childFirst bool) {
		c, p := withChild(t, place(t), exe, 0, childFirst, order{Read: -1})
		if _, err := p.Write(pattern(100_000)); err != nil {
			t.Fatal(err)
		}
		p.Close()
		c.says("read 100000")
	})
}

// A loop of raw calls on the descriptor, as the hot loops are, must notice
// that the other end died: reading and writing both fail, soon, and for good.
func TestRawLoopSeesDeath(t *testing.T) {
	exe := ownExe(t)
	for _, what := range []string{"read", "write"} {
		t.Run(what, func(t *testing.T) {
			eitherFirst(t, func(t *testing.T, childFirst bool) {
				c, p := withChild(t, place(t), exe, 0, childFirst, order{})
				c.kill()
				r, _, ok := p.Fds()
				if !ok {
					t.Fatal("no descriptor")
				}
				b := make([]byte, 1)
				for deadline := time.Now().Add(5 * time.Second); ; {
					n, err := syscall.Read(int(r), b)
					if what == "write" {
						n, err = syscall.Write(int(r), b)
					}
					if err == syscall.EIO || err == nil && n == 0 {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("%s still gives %d, %v", what, n, err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		})
	}
}

func TestWriteSeesDeath(t *testing.T) {
	exe := ownExe(t)
	eitherFirst(t, func(t *testing.T, childFirst bool) {
		c, p := withChild(t, place(t), exe, 0, childFirst, order{})
		done := make(chan error, 1)
		go func() {
			_, err := p.Write(make([]byte, 1<<20)) // more than fits
			done <- err
		}()
		time.Sleep(50 * time.Millisecond)
		c.kill()
		select {
		case err := <-done:
			if !errors.Is(err, ErrGone) {
				t.Errorf("%v, want ErrGone", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("still writing")
		}
	})
}

func TestStaleMeetingIsReplaced(t *testing.T) {
	exe := ownExe(t)
	dir := place(t)
	c := start(t, exe, 0, order{Dir: dir, Name: "s"})
	c.says("waiting")
	c.kill()
	if left := files(t, dir); len(left) != 2 {
		t.Fatalf("a killed end leaves %v, want a socket and a lock", left)
	}
	pair(t, dir, "s")
	stale := files(t, dir)
	if len(stale) != 2 {
		t.Errorf("%v: the stale socket is still there", stale)
	}
}

func TestKilledLockHolder(t *testing.T) {
	exe := ownExe(t)
	dir := place(t)
	c := start(t, exe, 0, order{Dir: dir, Name: "l", Lock: true})
	c.says("locked <nil>")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "l", Options{dir: dir}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while the lock is held: %v", err)
	}
	c.kill()
	pair(t, dir, "l")
}

func TestHangingEnd(t *testing.T) {
	exe := ownExe(t)
	dir := place(t)
	c := start(t, exe, 0, order{Dir: dir, Name: "h"})
	c.says("waiting")
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	start := time.Now()
	_, err := Open(context.Background(), "h", Options{dir: dir})
	if !errors.Is(err, ErrBusy) || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// TestOtherUser is the cable with one end under sudo.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED without root: the cable between root and another user")
	}
	const nobody, daemon = 65534, 1
	dir := place(t)
	exe := filepath.Join(place(t), "end") // go test's own directory is closed to others
	copyFile(t, ownExe(t), exe)
	for _, d := range []string{dir, filepath.Dir(exe)} {
		if err := os.Chmod(d, 0o777|os.ModeSticky); err != nil { // like /tmp
			t.Fatal(err)
		}
	}
	eitherFirst(t, func(t *testing.T, childFirst bool) {
		c, p := withChild(t, dir, exe, nobody, childFirst, order{Write: 2000, Read: 2000})
		if _, err := p.Write(pattern(2000)); err != nil {
			t.Fatal(err)
		}
		c.says("wrote 2000 <nil>")
		c.says("read 2000")
		c.kill()
		expectAll(t, p, pattern(2000))
	})
	// What root left behind after SIGKILL, and nobody may not remove.
	t.Run("stale of root", func(t *testing.T) {
		c := start(t, exe, 0, order{Dir: dir, Name: "stale"})
		c.says("waiting")
		c.kill()
		one := start(t, exe, nobody, order{Dir: dir, Name: "stale", Write: 10})
		one.says("waiting")
		two := start(t, exe, nobody, order{Dir: dir, Name: "stale", Read: 10})
		two.says("joined")
		two.says("read 10")
	})
	t.Run("two users", func(t *testing.T) {
		one := start(t, exe, nobody, order{Dir: dir, Name: "two"})
		one.says("waiting")
		two := start(t, exe, daemon, order{Dir: dir, Name: "two"})
		if s := two.says("busy"); !strings.Contains(s, "another user") {
			t.Error(s)
		}
	})
	t.Run("links are not followed", func(t *testing.T) {
		target := filepath.Join(t.TempDir(), "target")
		lock := meeting{dir, "link"}.lockPath()
		if err := os.Symlink(target, lock); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(context.Background(), "link", Options{dir: dir, Wait: time.Second}); err == nil || errors.Is(err, ErrNoPeer) {
			t.Errorf("Open over a link: %v", err)
		}
		if _, err := os.Lstat(target); err == nil {
			t.Error("the link's target was created")
		}
	})
}

func TestOpenDirIsRefused(t *testing.T) {
	dir := place(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := Open(context.Background(), "a", Options{dir: dir, Wait: time.Second}); !errors.As(err, &e) || !strings.Contains(e.Hint, "chmod +t") {
		t.Errorf("%v, want a hint to make it sticky", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}
