package capture

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

type file struct{ f *os.File }

func (p file) Read(b []byte) (int, error) { return p.f.Read(b) }
func (p file) Fd() (uintptr, bool)        { return p.f.Fd(), true }

// terminal opens a raw pseudo-terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// running is a capture in a goroutine of its own.
type running struct {
	ring   *Ring
	stop   atomic.Bool
	result Result
	err    error
	done   chan struct{}
}

func start(port Port) *running {
	r := &running{ring: NewRing(1 << 12), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		runtime.LockOSThread()
		r.result, r.err = Run(Config{Port: port, Ring: r.ring, Stop: &r.stop})
	}()
	return r
}

// wait ends with the capture, or the test.
func (r *running) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(20 * time.Second):
		t.Fatal("the capture did not end")
	}
}

// text waits until so many characters are there and gives all.
func (r *running) text(t *testing.T, want int) (string, []Event) {
	t.Helper()
	var b strings.Builder
	var all []Event
	for deadline := time.Now().Add(20 * time.Second); b.Len() < want && time.Now().Before(deadline); {
		for _, e := range drain(r.ring) {
			b.Write(e.Bytes)
			all = append(all, e)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return b.String(), all
}

func TestRawLoopOnEitherEnd(t *testing.T) {
	for _, name := range []string{"master", "slave"} {
		t.Run(name, func(t *testing.T) {
			in, out := terminal(t)
			if name == "slave" {
				in, out = out, in
			}
			r := start(file{in})
			before := clock.Now()
			for _, s := range []string{"a", "bcd", strings.Repeat("x", 300)} {
				if _, err := out.WriteString(s); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			text, events := r.text(t, 304)
			if want := "abcd" + strings.Repeat("x", 300); text != want {
				t.Errorf("captured %q", text)
			}
			last := before
			for i, e := range events {
				// The first may have come before the capture began.
				if e.Arrived < last || i > 0 && e.Waiting || e.Lost != 0 {
					t.Errorf("%+v after %d", e, last)
				}
				last = e.Arrived
			}
			r.stop.Store(true)
			r.wait(t)
			if r.err != nil || r.result.Characters != 304 || r.result.Lost != 0 || r.result.Last != last {
				t.Errorf("%+v, %v", r.result, r.err)
			}
		})
	}
}

// The other end closes behind its last character: all is delivered, then the
// capture ends and says why.
func TestRawLoopEndsWhenTheOtherEndCloses(t *testing.T) {
	master, slave := terminal(t)
	text := strings.Repeat("0123456789", 100)
	if _, err := slave.WriteString(text); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	r := start(file{master})
	r.wait(t)
	if !errors.Is(r.err, ErrGone) {
		t.Errorf("ended with %v", r.err)
	}
	got, _ := r.text(t, len(text))
	if got != text {
		t.Errorf("%d of %d characters came: %q", len(got), len(text), got)
	}
}

func TestRawLoopEndsWhenTheMasterCloses(t *testing.T) {
	master, slave := terminal(t)
	r := start(file{slave})
	time.Sleep(20 * time.Millisecond)
	master.Close()
	r.wait(t)
	if !errors.Is(r.err, ErrGone) {
		t.Errorf("ended with %v", r.err)
	}
}

func TestRawLoopEndsWhenAPipeEnds(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out.WriteString("last")
	out.Close()
	r := start(file{in})
	r.wait(t)
	if text, _ := r.text(t, 4); text != "last" || !errors.Is(r.err, ErrGone) {
		t.Errorf("%q, ended with %v", text, r.err)
	}
}

// What waited before the capture began is marked: its stamp means nothing.
func TestRawLoopMarksWhatWaited(t *testing.T) {
	master, slave := terminal(t)
	slave.WriteString("old")
	time.Sleep(50 * time.Millisecond)
	r := start(file{master})
	text, events := r.text(t, 3)
	if text != "old" || !events[0].Waiting {
		t.Errorf("%q: %+v", text, events)
	}
	slave.WriteString("new")
	text, events = r.text(t, 3)
	if text != "new" || events[0].Waiting {
		t.Errorf("%q: %+v", text, events)
	}
	r.stop.Store(true)
	r.wait(t)
}

func TestRawLoopStopsInSilence(t *testing.T) {
	master, _ := terminal(t)
	r := start(file{master})
	time.Sleep(20 * time.Millisecond)
	began := time.Now()
	r.stop.Store(true)
	r.wait(t)
	if d := time.Since(began); r.err != nil || d > 20*time.Second {
		t.Errorf("stopped after %v: %v", d, r.err)
	}
}

func TestRawLoopDoesNotAllocate(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	c := Config{Port: file{in}, Ring: NewRing(64), Stop: new(atomic.Bool)}
	l := newLoop(&c)
	fd := wait.FD(in.Fd())
	reader := NewReader(c.Ring)
	n := testing.AllocsPerRun(50, func() {
		out.WriteString("some characters")
		if !fd.Readable(wait.Slice).Now {
			t.Fatal("nothing to read")
		}
		n, _ := fd.Read(l.buf)
		l.arrivedNow(clock.Now(), n)
		if e, ok := reader.Next(); !ok || len(e.Bytes) != 15 {
			t.Fatal(e)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// A ring that nobody empties: a patient loop leaves the rest in the port, and
// any other loses it.
func TestPatience(t *testing.T) {
	for _, patient := range []bool{true, false} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		r := &running{ring: NewRing(64), done: make(chan struct{})}
		go func() {
			defer close(r.done)
			r.result, r.err = Run(Config{Port: file{in}, Ring: r.ring, Stop: &r.stop, ReadSize: slotBytes, Patient: patient})
		}()
		text := strings.Repeat("0123456789", 2000)
		out.WriteString(text) // a pipe holds 64 KiB
		time.Sleep(100 * time.Millisecond)
		got := ""
		if patient {
			got, _ = r.text(t, len(text))
		}
		r.stop.Store(true)
		r.wait(t)
		if patient && (got != text || r.result.Lost != 0) || !patient && r.result.Lost == 0 {
			t.Errorf("patient %v: %d of %d characters, %d lost", patient, len(got), len(text), r.result.Lost)
		}
	}
}
