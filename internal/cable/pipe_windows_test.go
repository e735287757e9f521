package cable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// ends plugs in both ends of a cable of the test's own.
func ends(t *testing.T) (a, b *Port) {
	t.Helper()
	name := fmt.Sprintf("test-%d", time.Now().UnixNano())
	var errA, errB error
	var wait sync.WaitGroup
	wait.Go(func() { a, errA = Open(context.Background(), name, Options{Wait: 10 * time.Second}) })
	wait.Go(func() { b, errB = Open(context.Background(), name, Options{Wait: 10 * time.Second}) })
	wait.Wait()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// readAll reads until the other end is gone.
func readAll(p *Port) ([]byte, error) {
	var all []byte
	b := make([]byte, 1000)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		n, err := p.Read(b, 100*time.Millisecond)
		all = append(all, b[:n]...)
		if err != nil {
			return all, err
		}
	}
	return all, errors.New("it never ended")
}

func TestPipeCarriesBothWaysAndLosesNothing(t *testing.T) {
	a, b := ends(t)
	want := bytes.Repeat([]byte("0123456789"), 5000)
	if n, err := b.Write([]byte("hello")); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	back := make([]byte, 10)
	if n, err := a.Read(back, 5*time.Second); string(back[:n]) != "hello" || err != nil {
		t.Errorf("%q, %v", back[:n], err)
	}
	got := make(chan []byte)
	go func() {
		all, err := readAll(b)
		if !errors.Is(err, ErrGone) {
			t.Errorf("the end: %v", err)
		}
		got <- all
	}()
	if n, err := a.Write(want); n != len(want) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	a.Close() // at once: what was written must come all the same
	if all := <-got; !bytes.Equal(all, want) {
		t.Errorf("%d characters of %d came, or other ones", len(all), len(want))
	}
}

func TestPipeKnowsItsPeer(t *testing.T) {
	a, b := ends(t)
	if a.Peer().PID == 0 || b.Peer().PID == 0 {
		t.Errorf("peers %v and %v", a.Peer(), b.Peer())
	}
	if _, _, ok := a.Fds(); ok {
		t.Error("a pipe has no descriptors for raw calls")
	}
}

func TestPipeTakesTwo(t *testing.T) {
	a, _ := ends(t)
	_, err := Open(context.Background(), a.Path()[len(pipePrefix):], Options{Wait: time.Second})
	var e *Error
	if !errors.Is(err, ErrBusy) || !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("a third end: %v", err)
	}
}

func TestPipeWaitEnds(t *testing.T) {
	began, waited := time.Now(), 0
	_, err := Open(context.Background(), "nobody", Options{Wait: 200 * time.Millisecond, Waiting: func() { waited++ }})
	if !errors.Is(err, ErrNoPeer) || waited != 1 {
		t.Errorf("%v, told %d times", err, waited)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Open(ctx, "nobody", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestPipeLoopback(t *testing.T) {
	p, err := OpenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Write([]byte("abc"))
	b := make([]byte, 10)
	if n, err := p.Read(b, 5*time.Second); string(b[:n]) != "abc" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	if n, err := p.Read(b, 30*time.Millisecond); n != 0 || err != nil {
		t.Errorf("nothing was there: %d, %v", n, err)
	}
}

func TestPipeFlushAndDrain(t *testing.T) {
	a, b := ends(t)
	a.Write([]byte("stale"))
	time.Sleep(50 * time.Millisecond)
	if err := a.Drain(100 * time.Millisecond); !errors.Is(err, ErrUnread) {
		t.Errorf("nobody has read: %v", err)
	}
	if err := b.Flush(); err != nil {
		t.Error(err)
	}
	if err := a.Drain(5 * time.Second); err != nil {
		t.Errorf("all was read: %v", err)
	}
	a.Write([]byte("new"))
	buf := make([]byte, 10)
	if n, err := b.Read(buf, 5*time.Second); string(buf[:n]) != "new" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

func TestPipeCloseEndsAWrite(t *testing.T) {
	a, _ := ends(t)
	ended := make(chan error, 1)
	go func() {
		_, err := a.Write(make([]byte, 1<<20)) // more than a pipe holds
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	a.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the write went on")
	}
}

func TestPipeMakesNoGarbage(t *testing.T) {
	a, b := ends(t)
	one, buf := []byte("x"), make([]byte, 64)
	n := testing.AllocsPerRun(100, func() {
		a.Write(one)
		b.Read(buf, 100*time.Millisecond)
	})
	if n != 0 {
		t.Errorf("%v allocations a character", n)
	}
}

// A hot loop must come back from a cable that nobody reads.
func TestPipeWriteOfOneGivesUp(t *testing.T) {
	a, b := ends(t)
	sent := 0
	for range 1 << 20 {
		began := time.Now()
		n, err := a.Write([]byte{byte(sent)})
		if took := time.Since(began); err != nil || took > 5*time.Second {
			t.Fatalf("%d: %v after %v", sent, err, took)
		}
		if n == 0 {
			break
		}
		sent++
	}
	a.Close()
	all, _ := readAll(b)
	if len(all) != sent || sent == 0 || sent == 1<<20 {
		t.Errorf("%d taken, %d came", sent, len(all))
	}
	for i, c := range all {
		if c != byte(i) {
			t.Fatalf("character %d is %d: one that was given up has come", i, c)
		}
	}
}
