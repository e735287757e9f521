package capture

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"serialtiming/internal/clock"
)

// script is a port that gives prepared reads, one a call, on a clock that
// moves 1 µs a reading.
type script struct {
	reads [][]byte
	err   error // after the last
	stop  *atomic.Bool
	t     clock.Instant
}

func (s *script) now() clock.Instant { s.t += 1000; return s.t }

func (s *script) Fd() (uintptr, bool) { return 0, false }

func (s *script) Read(b []byte) (int, error) {
	if len(s.reads) == 0 {
		if s.err == nil {
			s.stop.Store(true)
		}
		return 0, s.err
	}
	n := copy(b, s.reads[0])
	s.reads = s.reads[1:]
	return n, nil
}

// captured runs the portable loop over a script.
func captured(t *testing.T, ringEvents int, s *script) ([]Event, Result, error) {
	t.Helper()
	c := Config{Port: s, Ring: NewRing(ringEvents), Stop: new(atomic.Bool)}
	s.stop = c.Stop
	l := newLoop(&c)
	err := l.capturePortable(s.Read, s.now)
	return drain(c.Ring), l.result, err
}

// drain takes all events, with bytes of their own.
func drain(r *Ring) []Event {
	var all []Event
	reader := NewReader(r)
	for e, ok := reader.Next(); ok; e, ok = reader.Next() {
		e.Bytes = bytes.Clone(e.Bytes)
		all = append(all, e)
	}
	return all
}

func TestEventsKeepTheirReads(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 20) // four slots
	reads := [][]byte{[]byte(" "), []byte("!\""), nil, long, long[:slotBytes], long[:slotBytes+1]}
	events, r, err := captured(t, 16, &script{reads: reads})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		at   clock.Instant
		text []byte
	}{{1000, reads[0]}, {2000, reads[1]}, {4000, long}, {5000, reads[4]}, {6000, reads[5]}}
	if len(events) != len(want) {
		t.Fatalf("%d events, want %d: %v", len(events), len(want), events)
	}
	for i, w := range want {
		if e := events[i]; e.Arrived != w.at || !bytes.Equal(e.Bytes, w.text) || e.Lost != 0 || e.Waiting {
			t.Errorf("event %d: %+v, want %q at %d", i, e, w.text, w.at)
		}
	}
	if r.Events != 5 || r.Characters != 332 || r.Lost != 0 || r.First != 1000 || r.Last != 6000 {
		t.Errorf("%+v", r)
	}
}

func TestAFullRingIsCountedInCharacters(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 200)
	c := Config{Ring: NewRing(4)}
	l := newLoop(&c)
	give := func(b []byte) { l.arrivedNow(7, copy(l.buf, b)) }
	give([]byte("a"))
	give(long) // no room for four: lost as a whole
	give([]byte("bc"))
	give([]byte("d"))
	give([]byte("e"))
	give([]byte("fg")) // lost
	events := drain(c.Ring)
	give([]byte("h"))
	events = append(events, drain(c.Ring)...)
	want := []struct {
		text string
		lost int64
	}{{"a", 0}, {"bc", 200}, {"d", 0}, {"e", 0}, {"h", 2}}
	if len(events) != len(want) {
		t.Fatalf("%d events: %v", len(events), events)
	}
	for i, w := range want {
		if string(events[i].Bytes) != w.text || events[i].Lost != w.lost {
			t.Errorf("event %d: %+v, want %+v", i, events[i], w)
		}
	}
	if l.result.Characters != 208 || l.result.Lost != 202 || c.Ring.Dropped() != 202 {
		t.Errorf("%+v, ring dropped %d", l.result, c.Ring.Dropped())
	}
}

func TestAPortThatGoesGivesAllItHad(t *testing.T) {
	broken := errors.New("input/output error")
	for _, end := range []error{broken, io.EOF} {
		events, r, err := captured(t, 16, &script{reads: [][]byte{[]byte("a"), []byte("b")}, err: end})
		if len(events) != 2 || r.Characters != 2 {
			t.Errorf("%v: %d events, %+v", end, len(events), r)
		}
		if !errors.Is(err, ErrGone) || end == broken && !errors.Is(err, broken) {
			t.Errorf("%v: ended with %v", end, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]Config{
		"no port":  {Ring: NewRing(2)},
		"no ring":  {Port: &script{}},
		"bad size": {Port: &script{}, Ring: NewRing(2), ReadSize: -1},
	} {
		if _, err := Run(c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// Every byte comes out once, in order, in the event it came in, whatever the
// sizes; what found no room is counted.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{1, 64, 65, 128, 200, 255}, uint8(8))
	f.Add([]byte{255, 255, 255}, uint8(2))
	f.Fuzz(func(t *testing.T, sizes []byte, capacity uint8) {
		c := Config{Ring: NewRing(int(capacity) + 1), ReadSize: 256}
		l := newLoop(&c)
		var sent, got, lost int64
		for i, size := range sizes {
			if size == 0 {
				continue
			}
			for k := range int(size) {
				l.buf[k] = byte(i)
			}
			l.arrivedNow(clock.Instant(i+1), int(size))
			sent += int64(size)
			if i%3 == 2 {
				for _, e := range drain(c.Ring) {
					if len(e.Bytes) != int(sizes[e.Arrived-1]) || e.Bytes[len(e.Bytes)-1] != byte(e.Arrived-1) {
						t.Fatalf("event %d has %d bytes, want %d", e.Arrived, len(e.Bytes), sizes[e.Arrived-1])
					}
					got += int64(len(e.Bytes))
					lost += e.Lost
				}
			}
		}
		for _, e := range drain(c.Ring) {
			got += int64(len(e.Bytes))
			lost += e.Lost
		}
		if lost+int64(l.unsaid) != l.result.Lost {
			t.Errorf("events tell of %d lost, %d untold, result says %d", lost, l.unsaid, l.result.Lost)
		}
		if got+l.result.Lost != sent || l.result.Characters != sent {
			t.Errorf("%d came out, %d lost of %d", got, l.result.Lost, sent)
		}
	})
}
