package serialport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// TestMain: this binary again, as a process that holds a port.
func TestMain(m *testing.M) {
	if name := os.Getenv("SERIALTIMING_HOLD"); name != "" {
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
		fmt.Println(err)
		io.Copy(io.Discard, os.Stdin)
		f.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func hold(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SERIALTIMING_HOLD="+name)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if s, err := bufio.NewReader(out).ReadString('\n'); s != "<nil>\n" {
		t.Fatal(s, err)
	}
	return cmd
}

func TestBusyPortNamesItsHolder(t *testing.T) {
	m, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer s.Close()
	cmd := hold(t, s.Name())
	_, err = Open(s.Name(), plainConfig)
	comm := filepath.Base(cmd.Path)
	want := fmt.Sprintf("%s (pid %d)", comm[:min(len(comm), 15)], cmd.Process.Pid) // TASK_COMM_LEN
	var e *Error
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), want) || !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("%v, want ErrBusy and %s", err, want)
	}
	c := plainConfig
	c.Shared = true
	p, err := Open(s.Name(), c)
	if err != nil {
		t.Fatalf("shared: %v", err)
	}
	p.Close()
}

// Whoever has the other side of a pseudo-terminal is no rival: socat, QEMU.
func TestOtherSideIsNoHolder(t *testing.T) {
	proc := t.TempDir()
	m, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer s.Close()
	var number int
	if _, err := fmt.Sscanf(s.Name(), "/dev/pts/%d", &number); err != nil {
		t.Skipf("NOT TESTED: the terminal is called %s", s.Name())
	}
	for pid, fds := range map[string]map[string]string{
		"4000001": {"3": "/dev/ptmx", "4": s.Name()},
		"4000002": {"4": s.Name()},
		"4000003": {"0": "/dev/null", "5": "/somewhere" + s.Name(), "6": "socket:[1]"},
	} {
		dir := filepath.Join(proc, pid)
		for _, d := range []string{"fd", "fdinfo"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for fd, link := range fds {
			if err := os.Symlink(link, filepath.Join(dir, "fd", fd)); err != nil {
				t.Fatal(err)
			}
		}
		info := fmt.Sprintf("pos:\t0\nflags:\t0100002\ntty-index:\t%d\n", number)
		if err := os.WriteFile(filepath.Join(dir, "fdinfo", "3"), []byte(info), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "comm"), []byte("so\x1b[1mcat\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := holders(proc, s.Name())
	if len(got) != 1 || got[0] != "so[1mcat (pid 4000002)" {
		t.Errorf("holders %q", got)
	}
	// The kernel really says it that way.
	if n := masterOf(fmt.Sprintf("/proc/self/fdinfo/%d", m.Fd())); n != number {
		t.Errorf("fdinfo of a master says %d, want %d", n, number)
	}
}

func FuzzTTYIndex(f *testing.F) {
	f.Add("pos:\t0\nflags:\t0100002\nmnt_id:\t25\ntty-index:\t3\n")
	f.Add("tty-index:\t-5\ntty-index: 99999999999999999999")
	f.Fuzz(func(t *testing.T, s string) {
		if n := ttyIndex(s); n < -1 {
			t.Errorf("%q: %d", s, n)
		}
	})
}

func TestInspectByNumbers(t *testing.T) {
	s := fakeTree(t)
	for _, c := range []struct {
		major, minor uint32
		class        error
		says, driver string
		virtual      bool
	}{
		{4, 65, nil, "", "serial", false},
		{188, 0, nil, "", "ftdi_sio", false},
		{240, 0, nil, "", "", true},
		{4, 71, ErrNotFound, "no UART", "", false},
		{4, 0, ErrNotPort, "console", "", false},
		{10, 130, ErrNotPort, "another kind", "", false},
		{99, 9, ErrNotPort, "another kind", "", false},
	} {
		i, err := s.inspect("/dev/x", c.major, c.minor)
		if !errors.Is(err, c.class) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d:%d: %v, want %v %q", c.major, c.minor, err, c.class, c.says)
		}
		if err == nil && (i.Name != "/dev/x" || i.Driver != c.driver || i.Virtual != c.virtual) {
			t.Errorf("%d:%d: %+v", c.major, c.minor, i)
		}
	}
	if _, err := (sysfs{sys: t.TempDir()}).inspect("/dev/x", 4, 65); err != nil {
		t.Errorf("without sysfs: %v", err)
	}
}

// Seven data bits with parity are what a pseudo-terminal cannot do.
func TestPTYWarnsOfItsLine(t *testing.T) {
	c := plainConfig
	c.Data, c.Parity = 7, 'E'
	p, _ := openPTY(t, c)
	i := p.Info()
	if !i.Virtual || i.Driver != "pty" {
		t.Errorf("%+v", i)
	}
	if i.Line == "7E1" {
		if len(i.Warnings) > 0 {
			t.Errorf("took it, and warns %q", i.Warnings)
		}
		return
	}
	if len(i.Warnings) != 1 || !strings.Contains(i.Warnings[0], "instead of 7E1") {
		t.Errorf("%s, warnings %q", i.Line, i.Warnings)
	}
}

func TestPTYHasNoCountersAndNoLatency(t *testing.T) {
	c := plainConfig
	c.LowLatency = true
	p, _ := openPTY(t, c)
	if _, err := ReadCounters(p); !errors.Is(err, ErrUnsupported) {
		t.Errorf("counters: %v", err)
	}
	l := p.Info().Latency
	if l.Flag.Why == "" || l.Flag.After != "" || l.Timer != (Setting{}) {
		t.Errorf("latency %+v", l)
	}
}

// The adapter's timer is set and read back, or it is said why not.
func TestLatencyTimer(t *testing.T) {
	s := fakeTree(t)
	path := filepath.Join(s.sys, "devices/pci0/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer")
	want := Setting{Before: "16 ms", After: "1 ms"}
	if got, wrote := setNumber(path, 16, " ms"); got != want || !wrote {
		t.Errorf("%+v, written %v, want %+v", got, wrote, want)
	}
	if got, wrote := setNumber(path, 16, " ms"); got != want || wrote {
		t.Errorf("set already: %+v, written %v, want %+v", got, wrote, want)
	}
	missing, wrote := setNumber(filepath.Join(t.TempDir(), "latency_timer"), 16, " ms")
	if wrote || missing.After != "16 ms" || missing.Why == "" || missing.Hint == "" {
		t.Errorf("could not be written: %+v", missing)
	}
}

// Listing must not open a port: this process never has one open, and the
// system's own list agrees that every entry is a terminal with a device.
func TestListThisMachine(t *testing.T) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.UART == "type 0" || strings.Contains(i.Name, "ptmx") || !strings.HasPrefix(i.Name, "/dev/") {
			t.Errorf("%+v is not a port", i)
		}
	}
}

// No program that we start inherits the port.
func TestPortIsNotInherited(t *testing.T) {
	p, _ := openPTY(t, plainConfig)
	out, err := exec.Command("/bin/sh", "-c", "ls -l /proc/self/fd").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if name := p.Info().Name; strings.Contains(string(out), name+"\n") {
		t.Errorf("%s is inherited:\n%s", name, out)
	}
}
