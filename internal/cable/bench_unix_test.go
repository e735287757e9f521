//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCharacters is one character a write, back to back, counted at the
// other end in the same process: ns a character, and the share of characters
// that came with others.
func BenchmarkCharacters(b *testing.B) {
	dir, err := os.MkdirTemp("/tmp", "st")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ch := make(chan *Port, 1)
	go func() {
		p, _ := Open(context.Background(), "b", Options{dir: dir})
		ch <- p
	}()
	to, err := Open(context.Background(), "b", Options{dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close()
	from := <-ch
	defer from.Close()
	_, w, _ := from.Fds()
	b.ResetTimer()
	go func() {
		for i := 0; i < b.N; {
			n, err := syscall.Write(int(w), []byte{byte(i)})
			if err == syscall.EAGAIN {
				time.Sleep(10 * time.Microsecond)
			}
			i += max(n, 0)
		}
	}()
	batched := 0
	buf := make([]byte, 4096)
	for got := 0; got < b.N; {
		n, err := to.Read(buf, 5*time.Second)
		if n == 0 || err != nil {
			b.Fatalf("after %d: %v", got, err)
		}
		got += n
		if n > 1 {
			batched += n
		}
	}
	b.ReportMetric(100*float64(batched)/float64(b.N), "%batched")
}
