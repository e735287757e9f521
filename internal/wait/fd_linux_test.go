package wait

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func pipe(t *testing.T) (r, w FD) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(p[0]); unix.Close(p[1]) })
	return FD(p[0]), FD(p[1])
}

func nonblock(t *testing.T, fd FD) {
	t.Helper()
	if _, err := fd.Nonblock(); err != nil {
		t.Fatal(err)
	}
}

func TestReadAndPut(t *testing.T) {
	r, w := pipe(t)
	nonblock(t, r)
	buf := make([]byte, 8)
	if n, status := r.Read(buf); n != 0 || !status.Retry() || status.Err() == nil {
		t.Errorf("an empty pipe: %d, %v", n, status.Err())
	}
	if ready := r.Readable(0); ready.Now || ready.Gone || ready.Status != OK {
		t.Errorf("an empty pipe is %+v", ready)
	}
	for _, c := range []byte("ab") {
		if n, status := w.Put(&c); n != 1 || status != OK {
			t.Fatalf("put: %d, %v", n, status.Err())
		}
	}
	if ready := r.Readable(Slice); !ready.Now {
		t.Errorf("two bytes wait, and it is %+v", ready)
	}
	if n, status := r.Read(buf); n != 2 || status != OK || string(buf[:2]) != "ab" {
		t.Errorf("read %d bytes %q: %v", n, buf, status.Err())
	}
}

func TestNoRoom(t *testing.T) {
	_, w := pipe(t)
	nonblock(t, w)
	b := byte('x')
	full := false
	for range 1 << 20 {
		if n, status := w.Put(&b); n == 0 {
			full = status.Retry()
			break
		}
	}
	if !full {
		t.Fatal("the pipe never said that it is full")
	}
	began := time.Now()
	if ready := w.Writable(time.Hour); ready.Now {
		t.Errorf("a full pipe is %+v", ready)
	}
	if d := time.Since(began); d > Slice+patience {
		t.Errorf("a poll took %v", d)
	}
}

func TestGoneAndFailed(t *testing.T) {
	r, w := pipe(t)
	unix.Close(int(w))
	if ready := r.Readable(0); !ready.Gone {
		t.Errorf("a pipe without writers is %+v", ready)
	}
	if n, status := r.Read(make([]byte, 1)); n != 0 || status != OK {
		t.Errorf("its read: %d, %v", n, status.Err())
	}
	bad := FD(1 << 20)
	b := byte('x')
	if _, status := bad.Put(&b); status.Retry() || !errors.Is(status.Err(), unix.EBADF) {
		t.Errorf("no descriptor: %v", status.Err())
	}
	if _, err := bad.Nonblock(); err == nil {
		t.Error("no descriptor was set to non-blocking")
	}
}

func TestNonblockIsPutBack(t *testing.T) {
	r, _ := pipe(t)
	mode := func() int {
		flags, err := unix.FcntlInt(uintptr(r), unix.F_GETFL, 0)
		if err != nil {
			t.Fatal(err)
		}
		return flags & unix.O_NONBLOCK
	}
	outer, err := r.Nonblock()
	if err != nil || mode() == 0 {
		t.Fatal("still blocking", err)
	}
	inner, err := r.Nonblock()
	if err != nil {
		t.Fatal(err)
	}
	if inner(); mode() == 0 {
		t.Error("the inner user took the outer one's mode away")
	}
	if outer(); mode() != 0 {
		t.Error("still non-blocking")
	}
}
