package pace

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"serialtiming/internal/clock"
	"serialtiming/internal/wait"
)

// fakeWorld is a machine whose clock moves only as the test says.
type fakeWorld struct {
	t       clock.Instant
	wake    time.Duration // every wait ends so late
	writing time.Duration // every write takes so long
	stalls  map[int]time.Duration
	fail    map[int]error
	sent    []byte
	keep    bool
}

func (f *fakeWorld) world() world {
	n := 0
	return world{
		now: func() clock.Instant { return f.t },
		until: func(_, due clock.Instant) clock.Instant {
			f.t = max(f.t, due.Add(f.wake))
			return f.t
		},
		write: func(b []byte) (int, error) {
			if err := f.fail[n]; err != nil {
				return 0, err
			}
			f.t = f.t.Add(f.writing + f.stalls[n])
			n++
			if f.keep {
				f.sent = append(f.sent, b...)
			}
			return 1, nil
		},
	}
}

// fakeLoop is a loop whose every moment is the test's.
func fakeLoop(t *testing.T, c Config) *loop {
	t.Helper()
	c.Port = deadPort{}
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	return newLoop(&c, 0)
}

type deadPort struct{}

func (deadPort) Write([]byte) (int, error) { return 0, errors.New("dead") }
func (deadPort) Fd() (uintptr, bool)       { return 0, false }

func cycle() []byte {
	var b []byte
	for c := byte(' '); c <= '~'; c++ {
		b = append(b, c)
	}
	return b
}

// Character n leaves at n periods, to the nanosecond of the schedule, for a
// day, with a machine that is always late and sometimes stalls.
func TestADayWithoutDrift(t *testing.T) {
	const period = 5 * time.Millisecond
	const day = 24 * time.Hour
	records := NewRing(8)
	l := fakeLoop(t, Config{Period: period, Duration: day, Kind: wait.Absolute, Payload: cycle(), Records: records})
	f := &fakeWorld{wake: 63 * time.Microsecond, writing: 31 * time.Microsecond}
	w := f.world()
	first := l.sched.First
	seq := int64(0)
	write := w.write
	w.write = func(b []byte) (int, error) {
		for r := records.Peek(); r != nil; r = records.Peek() {
			if want := first.Add(time.Duration(seq) * period); r.Seq != seq || r.Due != want || r.Woke != want.Add(f.wake) {
				t.Fatalf("%+v, want number %d due at %d", *r, seq, want)
			}
			if want := byte(' ' + seq%95); r.Byte != want {
				t.Fatalf("number %d is %q, want %q", seq, r.Byte, want)
			}
			seq++
			records.Advance()
		}
		return write(b)
	}
	if err := l.sendPortable(w); err != nil {
		t.Fatal(err)
	}
	r := l.result()
	if want := int64(day / period); r.Sent != want || r.Missed != 0 {
		t.Errorf("sent %d and missed %d, want %d and none", r.Sent, r.Missed, want)
	}
	if want := first.Add(day - period + f.wake + f.writing); r.LastWrote != want {
		t.Errorf("the last was written at %d, want %d", r.LastWrote, want)
	}
	if late := *r.Lateness; late.Min != int64(f.wake) || late.Max != int64(f.wake) || late.Mean(r.Sent) != float64(f.wake) {
		t.Errorf("lateness %+v, want %v always", late, f.wake)
	}
}

// The pattern of each policy after a stall: the write of character 2 takes 3.4
// periods.
func TestPatternAfterAStall(t *testing.T) {
	const period = 10 * time.Millisecond
	tests := []struct {
		kind   wait.Kind
		policy Policy
		due    []int // ms after the first
		missed int64
	}{
		{wait.Absolute, Skip, []int{0, 10, 20, 60, 70, 80}, 3},
		{wait.Absolute, Burst, []int{0, 10, 20, 30, 40, 50}, 0},
		{wait.Absolute, Shift, []int{0, 10, 20, 64, 74, 84}, 0},
		{wait.Sleep, Shift, []int{0, 10, 20, 64, 74, 84}, 0},
		{wait.Periodic, Skip, []int{0, 10, 20, 60, 70, 80}, 3},
		{wait.Hybrid, Skip, []int{0, 10, 20, 60, 70, 80}, 3},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s", tt.kind, tt.policy), func(t *testing.T) {
			records := NewRing(16)
			l := fakeLoop(t, Config{
				Period: period, Count: int64(len(tt.due)), Kind: tt.kind, CatchUp: tt.policy, Payload: cycle(), Records: records,
			})
			f := &fakeWorld{stalls: map[int]time.Duration{2: 34 * time.Millisecond}, keep: true}
			if err := l.sendPortable(f.world()); err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.due {
				r := records.Peek()
				records.Advance()
				if got := r.Due.Sub(l.sched.First); got != time.Duration(want)*time.Millisecond {
					t.Errorf("character %d was due at %v, want %d ms", i, got, want)
				}
			}
			if l.result().Missed != tt.missed {
				t.Errorf("missed %d, want %d", l.result().Missed, tt.missed)
			}
			// The cycle advances with every character sent, not with the periods.
			if string(f.sent) != ` !"#$%` {
				t.Errorf("sent %q", f.sent)
			}
		})
	}
}

func TestBackToBackHasNoLateness(t *testing.T) {
	records := NewRing(16)
	l := fakeLoop(t, Config{Count: 10, Payload: []byte("u"), Records: records})
	f := &fakeWorld{writing: 87 * time.Microsecond}
	if err := l.sendPortable(f.world()); err != nil {
		t.Fatal(err)
	}
	r := l.result()
	if r.Sent != 10 || r.Lateness != nil || r.Missed != 0 || r.LastWrote != clock.Instant(870_000) {
		t.Errorf("%+v", r)
	}
	for n := range 10 {
		rec := records.Peek()
		records.Advance()
		if want := clock.Instant(n) * 87_000; rec.Due != want || rec.Woke != want || rec.Wrote != want+87_000 {
			t.Errorf("%+v, want %d", *rec, want)
		}
	}
}

// Without a schedule the loop waits for room, so that no record is missing.
func TestBackToBackKeepsItsRecords(t *testing.T) {
	records := NewRing(4)
	l := fakeLoop(t, Config{Count: 10, Payload: cycle(), Records: records})
	w := (&fakeWorld{}).world()
	seq := int64(0)
	take := func() {
		for r := records.Peek(); r != nil; r = records.Peek() {
			if r.Seq != seq {
				t.Fatalf("record %d where %d should be", r.Seq, seq)
			}
			seq++
			records.Advance()
		}
	}
	w.pause = func(time.Duration) { take() }
	if err := l.sendPortable(w); err != nil {
		t.Fatal(err)
	}
	take()
	if r := l.result(); r.Sent != 10 || seq != 10 || r.RecordsDropped != 0 || r.Held != 2 {
		t.Errorf("%d records of %+v", seq, r)
	}
}

func TestBackToBackEndsWithTheDuration(t *testing.T) {
	l := fakeLoop(t, Config{Duration: time.Millisecond, Payload: []byte("u")})
	f := &fakeWorld{writing: 100 * time.Microsecond}
	if err := l.sendPortable(f.world()); err != nil || l.sent != 10 {
		t.Errorf("%d sent in 1 ms of 100 us each: %v", l.sent, err)
	}
}

// A write that failed is not sent, and ends the run with what there is.
func TestAFailedWriteIsNotSent(t *testing.T) {
	gone := errors.New("gone")
	records := NewRing(16)
	l := fakeLoop(t, Config{Period: time.Millisecond, Count: 100, Payload: cycle(), Records: records})
	f := &fakeWorld{fail: map[int]error{7: gone}}
	if err := l.sendPortable(f.world()); !errors.Is(err, gone) {
		t.Errorf("ended with %v", err)
	}
	if r := l.result(); r.Sent != 7 || records.Len() != 7 {
		t.Errorf("sent %d, recorded %d; want 7", r.Sent, records.Len())
	}
}

func TestAFullRingIsCounted(t *testing.T) {
	l := fakeLoop(t, Config{Period: time.Millisecond, Count: 10, Payload: cycle(), Records: NewRing(4)})
	if err := l.sendPortable((&fakeWorld{}).world()); err != nil {
		t.Fatal(err)
	}
	if r := l.result(); r.Sent != 10 || r.RecordsDropped != 6 {
		t.Errorf("sent %d, dropped %d records; want 10 and 6", r.Sent, r.RecordsDropped)
	}
}

func TestStopEndsAPortThatTakesNothing(t *testing.T) {
	var stop atomic.Bool
	l := fakeLoop(t, Config{Period: time.Millisecond, Payload: cycle(), Stop: &stop})
	tries := 0
	w := (&fakeWorld{}).world()
	w.write = func([]byte) (int, error) {
		if tries++; tries == 5 {
			stop.Store(true)
		}
		return 0, nil
	}
	if err := l.sendPortable(w); err != nil || l.sent != 0 || tries != 5 {
		t.Errorf("sent %d in %d tries: %v", l.sent, tries, err)
	}
}

func TestATimeThatIsOverEndsAPortThatTakesNothing(t *testing.T) {
	l := fakeLoop(t, Config{Period: time.Millisecond, Duration: time.Second, Payload: cycle()})
	f := &fakeWorld{}
	w := f.world()
	w.write = func([]byte) (int, error) {
		f.t = f.t.Add(100 * time.Millisecond)
		return 0, nil
	}
	if err := l.sendPortable(w); !errors.Is(err, ErrBlocked) {
		t.Errorf("ended with %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := Config{Period: time.Millisecond, Count: 1, Payload: []byte("x"), Port: deadPort{}}
	tests := map[string]func(*Config){
		"no payload":      func(c *Config) { c.Payload = nil },
		"no port":         func(c *Config) { c.Port = nil },
		"negative period": func(c *Config) { c.Period = -1 },
		"negative count":  func(c *Config) { c.Count = -1 },
		"unknown timer":   func(c *Config) { c.Kind = "sundial" },
		"wrong pair":      func(c *Config) { c.Kind, c.CatchUp = wait.Sleep, Burst },
	}
	for name, spoil := range tests {
		c := good
		spoil(&c)
		if r, err := Run(c); err == nil || r.Sent != 0 {
			t.Errorf("%s was taken: %+v", name, r)
		}
	}
}
