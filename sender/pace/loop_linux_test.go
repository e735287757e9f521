package pace

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"serialtiming/internal/clock"
	"serialtiming/internal/realtime"
	"serialtiming/internal/wait"
)

// file is a descriptor as a port.
type file struct{ f *os.File }

func (p file) Write(b []byte) (int, error) { return p.f.Write(b) }
func (p file) Fd() (uintptr, bool)         { return p.f.Fd(), true }

func open(t *testing.T, name string) file {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return file{f}
}

// The raw loop, with every timer: as many characters as asked, in order, on
// the grid, no instant before the one it follows.
func TestRawLoop(t *testing.T) {
	for _, k := range wait.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			records := NewRing(200)
			r, err := Run(Config{
				Period: time.Millisecond, Count: 200, Kind: k, Payload: cycle(), Port: open(t, os.DevNull), Records: records,
			})
			if err != nil || r.Sent != 200 || r.RecordsDropped != 0 || r.Call != k.Call() {
				t.Fatalf("%+v, %v", r, err)
			}
			last := r.FirstDue - 1
			for n := range int64(200) {
				rec := records.Peek()
				records.Advance()
				if rec.Seq != n || rec.Byte != byte(' '+n%95) || rec.Due <= last || rec.Woke < rec.Due || rec.Wrote < rec.Woke {
					t.Fatalf("%+v after one due at %d", *rec, last)
				}
				if k.KeepsGrid() && rec.Due.Sub(r.FirstDue)%time.Millisecond != 0 {
					t.Fatalf("%+v is off the grid of %d", *rec, r.FirstDue)
				}
				last = rec.Due
			}
			if r.Lateness == nil || r.Lateness.Min < 0 || r.Lateness.Max < r.Lateness.Min {
				t.Errorf("lateness %+v", r.Lateness)
			}
		})
	}
}

func TestRawLoopWritesThePayload(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := Run(Config{Count: 200, Payload: cycle(), Port: file{w}}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	buf := make([]byte, 300)
	n, _ := r.Read(buf)
	if want := strings.Repeat(string(cycle()), 3)[:200]; string(buf[:n]) != want {
		t.Errorf("wrote %q", buf[:n])
	}
}

// A full device: the errno comes out, the character is not sent.
func TestRawLoopEndsWithTheError(t *testing.T) {
	r, err := Run(Config{Count: 5, Payload: cycle(), Port: open(t, "/dev/full")})
	if err == nil || !strings.Contains(err.Error(), "no space") || r.Sent != 0 {
		t.Errorf("sent %d: %v", r.Sent, err)
	}
}

// A pipe that nobody reads takes a page and then nothing more.
func TestRawLoopStopsOnABlockedPort(t *testing.T) {
	for name, c := range map[string]Config{
		"stop":     {Stop: new(atomic.Bool)},
		"duration": {Duration: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			room, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096)
			if err != nil {
				t.Fatal(err)
			}
			c.Payload, c.Port = cycle(), file{w}
			if c.Stop != nil {
				time.AfterFunc(time.Second, func() { c.Stop.Store(true) })
			}
			began := time.Now()
			result, err := Run(c)
			if c.Stop != nil && err != nil || c.Stop == nil && !errors.Is(err, ErrBlocked) {
				t.Errorf("ended with %v", err)
			}
			if result.Sent != int64(room) {
				t.Errorf("sent %d", result.Sent)
			}
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestRawLoopStopsInALongPeriod(t *testing.T) {
	var stop atomic.Bool
	time.AfterFunc(50*time.Millisecond, func() { stop.Store(true) })
	began := time.Now()
	r, err := Run(Config{Period: time.Hour, Payload: cycle(), Port: open(t, os.DevNull), Stop: &stop})
	if err != nil || r.Sent != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestRawLoopDoesNotAllocate(t *testing.T) {
	c := Config{Period: 100 * time.Microsecond, Count: 1 << 40, Payload: cycle(), Port: open(t, os.DevNull), Records: NewRing(64)}
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	l := newLoop(&c, clock.Now())
	w, err := wait.New(wait.Config{Kind: wait.Absolute, Period: c.Period, Start: l.sched.First})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	l.waiter = w
	fd, _ := c.Port.Fd()
	n := testing.AllocsPerRun(10, func() {
		l.count = l.sent + 50
		if status := l.run(wait.FD(fd)); status != wait.OK {
			t.Fatal(status.Err())
		}
	})
	if n != 0 {
		t.Errorf("%v allocations in 50 characters", n)
	}
}

// The prepared loop never comes to the scheduler by itself; whatever stops the
// world, and a collection made as it should be, must end all the same.
func TestRawLoopLetsTheWorldStop(t *testing.T) {
	session, err := realtime.Prepare(realtime.Request{Priority: "realtime", CPU: -1, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Restore()
	for name, stopper := range map[string]func(){
		"statistics": func() { runtime.ReadMemStats(new(runtime.MemStats)) },
		"collection": func() { runtime.GC() },
	} {
		t.Run(name, func(t *testing.T) {
			port := open(t, os.DevNull)
			var stop atomic.Bool
			result := make(chan Result)
			go func() {
				session.LockThread()
				r, _ := Run(Config{Period: time.Millisecond, Payload: cycle(), Port: port, Stop: &stop})
				result <- r
			}()
			time.Sleep(100 * time.Millisecond)
			done := make(chan struct{})
			go func() { stopper(); close(done) }()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Error("not done in 30 s")
			}
			stop.Store(true)
			if r := <-result; r.Sent == 0 || r.GaveWay != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
