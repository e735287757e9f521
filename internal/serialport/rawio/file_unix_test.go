//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package rawio

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pipes gives two Files, each the other's far side.
func pipes(t *testing.T) (a, b *File) {
	t.Helper()
	var x, y [2]int
	if err := errors.Join(unix.Pipe(x[:]), unix.Pipe(y[:])); err != nil {
		t.Fatal(err)
	}
	a, err := New(x[0], y[1])
	if err != nil {
		t.Fatal(err)
	}
	b, err = New(y[0], x[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestReadWriteEnd(t *testing.T) {
	a, b := pipes(t)
	buf := make([]byte, 10)
	if n, err := b.Read(buf, 0); n != 0 || err != nil {
		t.Errorf("nothing there: %d, %v", n, err)
	}
	if n, err := a.Write([]byte("abc")); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if pending, err := b.Pending(); !pending || err != nil {
		t.Errorf("Pending %v, %v", pending, err)
	}
	a.Close()
	if n, err := b.Read(buf, time.Second); n != 3 || err != nil {
		t.Errorf("what was written before the end: %d, %v", n, err)
	}
	if n, err := b.Read(buf, time.Second); n != 0 || !errors.Is(err, ErrGone) {
		t.Errorf("the end: %d, %v", n, err)
	}
	if _, err := a.Read(buf, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("closed here: %v", err)
	}
}

func TestDeafen(t *testing.T) {
	a, b := pipes(t)
	if _, err := b.Write([]byte("rest")); err != nil {
		t.Fatal(err)
	}
	a.Deafen()
	if n, err := a.Write([]byte("x")); n != 0 || !errors.Is(err, ErrGone) {
		t.Errorf("Write = %d, %v", n, err)
	}
	if n, err := a.Read(make([]byte, 9), time.Second); n != 4 || err != nil {
		t.Errorf("Read = %d, %v", n, err)
	}
}

func TestReplaceKeepsTheNumbers(t *testing.T) {
	a, _ := pipes(t)
	var dead [2]int
	if err := unix.Pipe(dead[:]); err != nil {
		t.Fatal(err)
	}
	unix.Close(dead[1])
	r, w := a.Fds()
	if err := a.Replace(dead[0]); err != nil {
		t.Fatal(err)
	}
	if r2, w2 := a.Fds(); r2 != r || w2 != w {
		t.Errorf("%d, %d became %d, %d", r, w, r2, w2)
	}
	if n, err := unix.Read(r, make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("a raw read gives %d, %v, want the end", n, err)
	}
}

func TestGone(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EIO: true, unix.ENXIO: true, unix.ENODEV: true, unix.EPIPE: true,
		fmt.Errorf("wrapped: %w", unix.EIO): true,
		unix.EAGAIN:                         false, unix.EINTR: false, unix.EBADF: false, nil: false,
	} {
		if Gone(err) != want {
			t.Errorf("Gone(%v) is not %v", err, want)
		}
	}
}
