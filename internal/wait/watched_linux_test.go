package wait

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWatched(t *testing.T) {
	r, w, err := os.Pipe() // the os package hands both to the poller
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	raw, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	watched, dup := false, -1
	raw.Control(func(fd uintptr) {
		watched = FD(fd).Watched()
		dup, err = unix.Dup(int(fd))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	if !watched {
		t.Error("a descriptor of the os package does not count as watched")
	}
	r.Close()
	if FD(dup).Watched() {
		t.Error("a duplicate counts as watched after the os package let go")
	}
	plain, _ := pipe(t)
	if plain.Watched() {
		t.Error("a plain descriptor counts as watched")
	}
}

func TestWatches(t *testing.T) {
	const info = "pos:\t0\nflags:\t02\ntfd:       15 events:       19 data: 1\ntfd:       4 events: 80002019 data: 5\n"
	for fd, want := range map[int]bool{15: true, 4: true, 1: false, 5: false, 19: false} {
		if got := watches(info, fd); got != want {
			t.Errorf("%d: %v", fd, got)
		}
	}
}
