//go:build linux || darwin || freebsd || openbsd

package serialport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

var plainConfig = Config{Baud: 115200, Data: 8, Parity: 'N', Stop: "1", ReadTimeout: 50 * time.Millisecond}

// openPTY gives a pseudo-terminal opened as a port, and its other side.
func openPTY(t *testing.T, c Config) (Port, *os.File) {
	t.Helper()
	m, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); s.Close() })
	p, err := Open(s.Name(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s.Close() // the port alone holds that side now
	return p, m
}

// readN reads n characters from a port, within 5 s.
func readN(t *testing.T, p Port, n int) []byte {
	t.Helper()
	var all []byte
	b := make([]byte, 500)
	for deadline := time.Now().Add(5 * time.Second); len(all) < n && time.Now().Before(deadline); {
		k, err := p.Read(b)
		if err != nil {
			t.Fatalf("after %d of %d: %v", len(all), n, err)
		}
		all = append(all, b[:k]...)
	}
	return all
}

// every is each value of a character once, those special to terminals too.
func every() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func TestPortPassesEveryCharacter(t *testing.T) {
	p, m := openPTY(t, plainConfig)
	if _, err := m.Write(every()); err != nil {
		t.Fatal(err)
	}
	if got := readN(t, p, 256); !bytes.Equal(got, every()) {
		t.Errorf("read %q", got)
	}
	if n, err := p.Write(every()); n != 256 || err != nil {
		t.Fatal(n, err)
	}
	got := make([]byte, 256)
	if _, err := io.ReadFull(m, got); err != nil || !bytes.Equal(got, every()) {
		t.Errorf("the other side read %q, %v", got, err)
	}
	if err := p.Drain(); err != nil {
		t.Error(err)
	}
}

func TestReadTimeout(t *testing.T) {
	p, _ := openPTY(t, plainConfig)
	start := time.Now()
	n, err := p.Read(make([]byte, 10))
	if d := time.Since(start); n != 0 || err != nil || d < 30*time.Millisecond || d > 3*time.Second {
		t.Errorf("Read = %d, %v after %v", n, err, d)
	}
}

func TestInputBeforeOpening(t *testing.T) {
	for _, keep := range []bool{false, true} {
		m, s, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		defer s.Close()
		if _, err := m.Write([]byte("stale\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		c := plainConfig
		c.KeepInput = keep
		p, err := Open(s.Name(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		b := make([]byte, 10)
		n, err := p.Read(b)
		if err != nil || (n > 0) != keep {
			t.Errorf("KeepInput %v: read %q, %v", keep, b[:n], err)
		}
	}
}

func TestFlush(t *testing.T) {
	p, m := openPTY(t, plainConfig)
	if _, err := m.Write(bytes.Repeat([]byte("x"), 3000)); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(make([]byte, 10)); n != 0 || err != nil {
		t.Errorf("after Flush: %d, %v", n, err)
	}
}

func TestVanishedPort(t *testing.T) {
	p, m := openPTY(t, plainConfig)
	m.Close()
	for what, f := range map[string]func() error{
		"Read":  func() error { _, err := p.Read(make([]byte, 1)); return err },
		"Write": func() error { _, err := p.Write([]byte("x")); return err },
		"raw read": func() error {
			fd, ok := p.Fd()
			if !ok {
				t.Fatal("no descriptor")
			}
			n, err := syscall.Read(int(fd), make([]byte, 1))
			if n > 0 {
				t.Fatal("something to read")
			}
			return Fault(p, "read from", err)
		},
	} {
		err := f()
		var e *Error
		if !errors.Is(err, ErrGone) || !errors.As(err, &e) {
			t.Errorf("%s: %v, want ErrGone", what, err)
			continue
		}
		if e.Port != p.Info().Name || e.Hint == "" {
			t.Errorf("%s: port %q, hint %q", what, e.Port, e.Hint)
		}
	}
}

func TestCloseEndsReading(t *testing.T) {
	c := plainConfig
	c.ReadTimeout = time.Minute
	p, _ := openPTY(t, c)
	done := make(chan error)
	go func() { _, err := p.Read(make([]byte, 1)); done <- err }()
	time.Sleep(50 * time.Millisecond)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("still reading")
	}
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ports := "ports here:"
	if strings.HasPrefix(portsHint(), "no serial port") {
		ports = "--port cable"
	}
	for _, c := range []struct {
		name  string
		class error
		says  string
		hint  string
	}{
		{filepath.Join(dir, "none"), ErrNotFound, "no such port", ports},
		{filepath.Join(file, "below"), ErrNotFound, "no such port", ports},
		{file, ErrNotPort, "it is a file", ports},
		{dir, ErrNotPort, "it is a directory", ports},
		{"/dev/null", ErrNotPort, "not a serial port", ports},
		{"", ErrNotFound, "no such port", ports},
		{"a\x1b[31m", ErrNotFound, `"a\x1b[31m"`, ports},
		{"cable:", nil, "not a name", "letters"},
		{"cable:a b", nil, "not a name", "letters"},
	} {
		_, err := Open(c.name, plainConfig)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Open(%q): %v, want an *Error", c.name, err)
			continue
		}
		if c.class != nil && !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Open(%q): %v, want %q", c.name, err, c.says)
		}
		if !strings.Contains(e.Hint, c.hint) || strings.Contains(e.Hint, "\n") {
			t.Errorf("Open(%q): hint %q, want %q", c.name, e.Hint, c.hint)
		}
	}
	if left, _ := os.ReadFile(file); string(left) != "x" {
		t.Error("the file was changed")
	}
}

func TestLineSettings(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		class  error
		baud   int
	}{
		{func(c *Config) {}, nil, 115200},
		{func(c *Config) { c.Baud = 9600 }, nil, 9600},
		{func(c *Config) { c.Baud = 31250 }, nil, 31250}, // not one of the system's constants
		{func(c *Config) { c.Stop = "2" }, nil, 115200},
		{func(c *Config) { c.Stop = "1.5" }, ErrSetting, 0},
	} {
		config := plainConfig
		c.change(&config)
		m, s, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		defer s.Close()
		p, err := Open(s.Name(), config)
		if !errors.Is(err, c.class) {
			t.Errorf("%+v: %v", config, err)
		}
		var e *Error
		if errors.As(err, &e) && !strings.Contains(e.Hint, "--line") {
			t.Errorf("%+v: hint %q", config, e.Hint)
		}
		if err != nil {
			continue
		}
		defer p.Close()
		if i := p.Info(); i.Baud != c.baud || i.Line != config.line() {
			t.Errorf("%+v: read back %d %s", config, i.Baud, i.Line)
		}
	}
}

func TestCableAsPort(t *testing.T) {
	name := "cable:serialport-test." + filepath.Base(t.TempDir()) + "." + time.Now().Format("150405.000000000")
	type opened struct {
		p   Port
		err error
	}
	ch := make(chan opened)
	hint := make(chan string, 1)
	c := plainConfig
	c.Waiting = func(s string) { hint <- s }
	go func() { p, err := Open(name, c); ch <- opened{p, err} }()
	if s := <-hint; !strings.Contains(s, name) || !strings.Contains(s, "30s") {
		t.Errorf("while waiting: %q", s)
	}
	b, err := Open(name, plainConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	o := <-ch
	if o.err != nil {
		t.Fatal(o.err)
	}
	defer o.p.Close()
	if i := b.Info(); !i.Virtual || i.Name != name || i.Peer == "" {
		t.Errorf("Info %+v", i)
	}
	if _, err := o.p.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	o.p.Close()
	if got := readN(t, b, 5); string(got) != "hello" {
		t.Errorf("read %q", got)
	}
	_, err = b.Read(make([]byte, 1))
	var e *Error
	if !errors.Is(err, ErrGone) || !errors.As(err, &e) || !strings.Contains(e.Hint, "other end") {
		t.Errorf("%v, want ErrGone with a hint", err)
	}
	if _, err := ReadCounters(b); !errors.Is(err, ErrUnsupported) {
		t.Errorf("counters of a cable: %v", err)
	}
}

func TestCableNobodyComes(t *testing.T) {
	c := plainConfig
	c.PeerWait = 50 * time.Millisecond
	name := "cable:lonely." + time.Now().Format("150405.000000000")
	_, err := Open(name, c)
	var e *Error
	if !errors.Is(err, ErrNoPeer) || !errors.As(err, &e) || !strings.Contains(e.Hint, "--port "+name) {
		t.Errorf("%v, want ErrNoPeer with a hint", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.PeerWait, c.Waiting = 0, func(string) { cancel() }
	if _, err := OpenContext(ctx, name, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestLoopbackAsPort(t *testing.T) {
	p, err := OpenLoopback(plainConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Write([]byte("round")); err != nil {
		t.Fatal(err)
	}
	if got := readN(t, p, 5); string(got) != "round" {
		t.Errorf("read %q", got)
	}
	if _, ok := p.Fd(); ok {
		t.Error("one descriptor for both directions of a loopback")
	}
	if r, w, ok := Fds(p); !ok || r == w {
		t.Errorf("Fds %d %d %v", r, w, ok)
	}
}

func TestDeniedHint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "port")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if h := deniedHint(file); !strings.Contains(h, "sudo") || strings.Contains(h, "usermod") {
		t.Errorf("a port without a group: %q", h)
	}
	if h := groupHint(4294967000); !strings.Contains(h, "sudo usermod -aG 4294967000 ") {
		t.Errorf("a group without a name: %q", h)
	}
	e := openError(file, &os.PathError{Op: "open", Path: file, Err: syscall.EACCES})
	if !errors.Is(e, ErrDenied) || e.Hint == "" {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
}
