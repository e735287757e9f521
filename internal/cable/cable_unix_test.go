//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// place makes a short directory to meet in: a socket's path has little room.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "st")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pair plugs in both ends; the first is the one that came first.
func pair(t *testing.T, dir, name string) (first, second *Port) {
	t.Helper()
	came := make(chan struct{})
	ch := make(chan *Port)
	go func() {
		p, err := Open(context.Background(), name, Options{Wait: 10 * time.Second, dir: dir, Waiting: func() { close(came) }})
		if err != nil {
			t.Error(err)
		}
		ch <- p
	}()
	<-came
	second, err := Open(context.Background(), name, Options{dir: dir, Waiting: func() { t.Error("the second end waits") }})
	if err != nil {
		t.Fatal(err)
	}
	first = <-ch
	if first == nil {
		t.FailNow()
	}
	t.Cleanup(func() { first.Close(); second.Close() })
	return first, second
}

// both runs f for either direction.
func both(t *testing.T, f func(t *testing.T, from, to *Port)) {
	t.Run("first to second", func(t *testing.T) { a, b := pair(t, place(t), "a"); f(t, a, b) })
	t.Run("second to first", func(t *testing.T) { a, b := pair(t, place(t), "a"); f(t, b, a) })
}

// pattern is n characters of every value, the terminal's special ones too.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// readAll reads until the end of the line, which has to come within 10 s.
func readAll(p *Port) ([]byte, error) {
	var all []byte
	b := make([]byte, 1000)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		n, err := p.Read(b, 100*time.Millisecond)
		all = append(all, b[:n]...)
		if err != nil {
			return all, err
		}
	}
	return all, errors.New("no end of the line within 10 s")
}

func expectAll(t *testing.T, p *Port, want []byte) {
	t.Helper()
	got, err := readAll(p)
	if !errors.Is(err, ErrGone) {
		t.Errorf("the line ends with %v, want ErrGone", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read %d characters, want %d, the same", len(got), len(want))
	}
}

func TestEveryCharacterPassesUnchanged(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		want := pattern(3000)
		if n, err := from.Write(want); n != len(want) || err != nil {
			t.Fatal(n, err)
		}
		got := make([]byte, 0, len(want))
		b := make([]byte, 500)
		for len(got) < len(want) {
			n, err := to.Read(b, 5*time.Second)
			if n == 0 || err != nil {
				t.Fatal(n, err)
			}
			got = append(got, b[:n]...)
		}
		if !bytes.Equal(got, want) {
			t.Error("changed on the way")
		}
		// Nothing comes back (no echo).
		if n, err := from.Read(b, 50*time.Millisecond); n != 0 || err != nil {
			t.Errorf("the writer reads %d characters, %v", n, err)
		}
	})
}

func TestReadTimesOut(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		start := time.Now()
		n, err := to.Read(make([]byte, 1), 120*time.Millisecond)
		if n != 0 || err != nil {
			t.Errorf("Read = %d, %v", n, err)
		}
		if d := time.Since(start); d < 100*time.Millisecond || d > 3*time.Second {
			t.Errorf("waited %v", d)
		}
	})
}

func TestMillionBackToBack(t *testing.T) {
	const total = 1_000_000
	both(t, func(t *testing.T, from, to *Port) {
		go func() {
			for i := 0; i < total; {
				n := min(1+i%977, total-i)
				b := make([]byte, n)
				for k := range b {
					b[k] = byte((i + k) % 251)
				}
				if _, err := from.Write(b); err != nil {
					t.Error(err)
					break
				}
				i += n
			}
			from.Close()
		}()
		seen := 0
		b := make([]byte, 4096)
		for {
			n, err := to.Read(b, 5*time.Second)
			for _, c := range b[:n] {
				if c != byte(seen%251) {
					t.Fatalf("character %d is %d", seen, c)
				}
				seen++
			}
			if err != nil || n == 0 {
				if !errors.Is(err, ErrGone) {
					t.Errorf("ends with %v", err)
				}
				break
			}
		}
		if seen != total {
			t.Errorf("%d of %d came", seen, total)
		}
	})
}

func TestCloseKeepsWhatWasWritten(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		want := pattern(1000)
		if _, err := from.Write(want); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := from.Close(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("Close took %v", d)
		}
		time.Sleep(100 * time.Millisecond)
		expectAll(t, to, want)
		if _, err := to.Write([]byte("x")); !errors.Is(err, ErrGone) {
			t.Errorf("Write to nobody: %v, want ErrGone", err)
		}
		if err := to.Drain(time.Second); !errors.Is(err, ErrGone) {
			t.Errorf("Drain to nobody: %v, want ErrGone", err)
		}
	})
}

func TestBothWaysAtOnce(t *testing.T) {
	a, b := pair(t, place(t), "duplex")
	const total = 100_000
	errs := make(chan error, 4)
	for _, d := range [][2]*Port{{a, b}, {b, a}} {
		go func() {
			_, err := d[0].Write(pattern(total))
			errs <- err
		}()
		go func() {
			buf := make([]byte, 999)
			var got []byte
			for len(got) < total {
				n, err := d[1].Read(buf, 5*time.Second)
				if n == 0 || err != nil {
					errs <- fmt.Errorf("after %d: %w", len(got), errors.Join(err, io.ErrUnexpectedEOF))
					return
				}
				got = append(got, buf[:n]...)
			}
			if !bytes.Equal(got, pattern(total)) {
				errs <- errors.New("changed on the way")
				return
			}
			errs <- nil
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestDrain(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		if err := from.Drain(5 * time.Second); err != nil {
			t.Errorf("nothing written: %v", err)
		}
		if _, err := from.Write(pattern(3000)); err != nil {
			t.Fatal(err)
		}
		if err := from.Drain(100 * time.Millisecond); !errors.Is(err, ErrUnread) {
			t.Errorf("nobody reads: %v, want ErrUnread", err)
		}
		read := make(chan int)
		go func() {
			n := 0
			for b := make([]byte, 100); n < 3000; {
				k, err := to.Read(b, 5*time.Second)
				if k == 0 || err != nil {
					break
				}
				n += k
				time.Sleep(time.Millisecond)
			}
			read <- n
		}()
		if err := from.Drain(10 * time.Second); err != nil {
			t.Errorf("while the other reads: %v", err)
		}
		if n := <-read; n != 3000 {
			t.Errorf("read %d", n)
		}
	})
}

func TestFlush(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		if _, err := from.Write(pattern(3000)); err != nil {
			t.Fatal(err)
		}
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := from.Drain(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		if n, err := to.Read(make([]byte, 1), 0); n != 0 || err != nil {
			t.Errorf("after Flush: %d, %v", n, err)
		}
	})
}

// A reader that stops reading stops the writer, and Close ends its wait.
func TestBackpressure(t *testing.T) {
	both(t, func(t *testing.T, from, to *Port) {
		type result struct {
			n   int
			err error
		}
		done := make(chan result)
		go func() {
			n, err := from.Write(pattern(1 << 20))
			done <- result{n, err}
		}()
		select {
		case r := <-done:
			t.Fatalf("the cable swallowed %d characters, %v", r.n, r.err)
		case <-time.After(200 * time.Millisecond):
		}
		from.Close()
		r := <-done
		if !errors.Is(r.err, ErrClosed) || r.n == 0 {
			t.Errorf("Write = %d, %v, want some and ErrClosed", r.n, r.err)
		}
		expectAll(t, to, pattern(1 << 20)[:r.n])
	})
}

func TestNobodyComes(t *testing.T) {
	dir := place(t)
	waits := 0
	start := time.Now()
	_, err := Open(context.Background(), "lonely", Options{Wait: 150 * time.Millisecond, dir: dir, Waiting: func() { waits++ }})
	if !errors.Is(err, ErrNoPeer) {
		t.Fatalf("%v, want ErrNoPeer", err)
	}
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "--port cable:lonely") {
		t.Errorf("hint %q", e.Hint)
	}
	if d := time.Since(start); d < 100*time.Millisecond || waits != 1 {
		t.Errorf("after %v, Waiting called %d times", d, waits)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCancelledWait(t *testing.T) {
	dir := place(t)
	ctx, cancel := context.WithCancel(context.Background())
	start := time.Now()
	_, err := Open(ctx, "c", Options{dir: dir, Waiting: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestThirdEnd(t *testing.T) {
	dir := place(t)
	a, b := pair(t, dir, "full")
	_, err := Open(context.Background(), "full", Options{Wait: time.Second, dir: dir})
	if !errors.Is(err, ErrBusy) {
		t.Fatalf("%v, want ErrBusy", err)
	}
	if want := fmt.Sprintf("(pid %d)", os.Getpid()); strings.Count(err.Error(), want) != 2 {
		t.Errorf("%q does not name both holders", err)
	}
	// The two go on undisturbed.
	if _, err := a.Write([]byte("still here")); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	expectAll(t, b, []byte("still here"))
}

// The name is free again as soon as one end has gone, though the other is not
// closed yet; and nothing is left behind in the end.
func TestNameIsFreeAgain(t *testing.T) {
	for _, who := range []string{"first", "second"} {
		t.Run(who+" leaves", func(t *testing.T) {
			dir := place(t)
			a, b := pair(t, dir, "again")
			if who == "second" {
				a, b = b, a
			}
			a.Close()
			c, d := pair(t, dir, "again")
			if _, err := c.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			c.Close()
			expectAll(t, d, []byte("new"))
			expectAll(t, b, nil)
			b.Close()
			d.Close()
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestManyComeAtOnce(t *testing.T) {
	dir := place(t)
	const ends = 8
	ports := make(chan *Port, ends)
	for i := range ends {
		go func() {
			p, err := Open(context.Background(), fmt.Sprint(i%(ends/2)), Options{Wait: 20 * time.Second, dir: dir})
			if err != nil {
				t.Error(err)
			}
			ports <- p
		}()
	}
	for range ends {
		if p := <-ports; p != nil {
			defer p.Close()
		}
	}
}

func TestLoopback(t *testing.T) {
	p, err := OpenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	want := pattern(2000)
	if _, err := p.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := p.Drain(50 * time.Millisecond); !errors.Is(err, ErrUnread) {
		t.Errorf("Drain before reading: %v", err)
	}
	var got []byte
	for b := make([]byte, 300); len(got) < len(want); {
		n, err := p.Read(b, 5*time.Second)
		if n == 0 || err != nil {
			t.Fatal(n, err)
		}
		got = append(got, b[:n]...)
	}
	if !bytes.Equal(got, want) {
		t.Error("changed on the way")
	}
	if err := p.Drain(time.Second); err != nil {
		t.Error(err)
	}
	if r, w, ok := p.Fds(); !ok || r == w {
		t.Errorf("Fds = %d, %d, %v", r, w, ok)
	}
}

func TestUseAfterClose(t *testing.T) {
	a, _ := pair(t, place(t), "a")
	a.Close()
	if err := a.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	for what, f := range map[string]func() error{
		"Read":  func() error { _, err := a.Read(make([]byte, 1), 0); return err },
		"Write": func() error { _, err := a.Write([]byte("x")); return err },
		"Flush": a.Flush,
		"Drain": func() error { return a.Drain(time.Second) },
	} {
		if err := f(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", what, err)
		}
	}
}
