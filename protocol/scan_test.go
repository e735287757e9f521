package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scanAll feeds bytes a millisecond apart, and gives all items; frames are
// copied.
func scanAll(s *Scanner, data []byte, at int64) []Item {
	var all []Item
	keep := func(items []Item) {
		for _, it := range items {
			it.Frame = bytes.Clone(it.Frame)
			all = append(all, it)
		}
	}
	for _, b := range data {
		if s.Plain(b) {
			all = append(all, Item{Kind: Payload, Byte: b, At: at})
		} else {
			keep(s.Feed(b, at))
		}
		at += 1e6
	}
	keep(s.Flush())
	return all
}

// show writes items down: payload as it is, F a frame, T a torn one, E a stray
// end.
func show(items []Item) string {
	var out strings.Builder
	for _, it := range items {
		switch it.Kind {
		case Payload:
			fmt.Fprintf(&out, "%c", it.Byte)
		case Announced:
			out.WriteString("<F>")
		case Torn:
			out.WriteString("<T>")
		case StrayEnd:
			out.WriteString("<E>")
		}
	}
	return out.String()
}

func TestScan(t *testing.T) {
	frame, _ := samples()["after"].Append(nil)
	whole := string(frame)
	long := "\x01~ST1;" + strings.Repeat("x", MaxFrame-6)
	for _, c := range []struct{ name, in, want string }{
		{"payload", " !\"#", " !\"#"},
		{"a frame", whole, "<F>"},
		{"frames and payload", whole + " !\"" + whole + whole + " !", "<F> !\"<F><F> !"},
		{"noise SOH", "ab\x01cd", "ab\x01cd"},
		{"noise SOH before '~'", "}\x01~ !", "}\x01~ !"},
		{"noise SOH before '~S'", "\x01~Sx", "\x01~Sx"},
		{"noise SOH twice", "a\x01\x01b", "a\x01\x01b"},
		{"noise SOH before a frame", "a\x01" + whole, "a\x01<F>"},
		{"noise SOH~ before a frame", "a\x01~" + whole, "a\x01~<F>"},
		{"noise SOH at the end", "ab\x01", "ab\x01"},
		{"noise SOH~S at the end", "ab\x01~S", "ab\x01~S"},
		{"noise SOH and EOT", "a\x01\x04b", "a\x01<E>b"},
		{"a damaged byte", strings.Replace(whole, "run=1", "run=2", 1) + " !", "<T> !"},
		{"a control character inside", strings.Replace(whole, "run=1", "run\x011", 1) + " !", "<T> !"},
		{"another wide one", strings.Replace(whole, "run=1", "run\xff1", 1) + " !", "<T> !"},
		{"an early end", whole[:12] + "\x04" + whole[13:20] + " !", "<T>" + whole[13:20] + " !"},
		{"the stream ends in a frame", "ab" + whole[:30], "ab<T>"},
		{"the tail of a frame", whole[30:] + " !", whole[30:len(whole)-1] + "<E> !"},
		{"too long", long + " !", "<T> !"},
		{"just long enough, but nonsense", long[:len(long)-1] + "\x04!", "<T>!"},
		{"delimiters only", "\x01~ST\x04", "<T>"},
		{"nothing", "", ""},
	} {
		if got := show(scanAll(NewScanner(0), []byte(c.in), 0)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestScanInstants(t *testing.T) {
	items := scanAll(NewScanner(0), []byte("a\x01~b"), 100)
	for i, it := range items {
		if want := int64(100 + i*1e6); it.At != want || it.Byte != "a\x01~b"[i] {
			t.Errorf("item %d: %q at %d, want %d", i, it.Byte, it.At, want)
		}
	}
	if len(items) != 4 {
		t.Errorf("%d items", len(items))
	}
	frame, _ := samples()["next"].Append(nil)
	it := scanAll(NewScanner(0), frame, 7)[0]
	if it.At != 7 || it.End != 7+int64(len(frame)-1)*1e6 || !bytes.Equal(it.Frame, frame) {
		t.Errorf("frame from %d to %d: %q", it.At, it.End, it.Frame)
	}
}

// A silence ends what began as a frame.
func TestScanSilence(t *testing.T) {
	frame, _ := samples()["before"].Append(nil)
	gap := int64(FrameGap(0))
	for _, c := range []struct {
		name   string
		before []byte // then the silence
		wait   int64
		after  string
		want   string
	}{
		{"cut short", frame[:50], gap + 1, " !", "<T> !"},
		{"only held up", frame[:50], gap, string(frame[50:]) + " !", "<F> !"},
		{"a frame follows", frame[:50], gap + 1, string(frame), "<T><F>"},
		{"only an SOH", frame[:1], gap + 1, "~ST", "\x01~ST"},
		{"payload, then long nothing", []byte("ab"), 1000 * gap, "c", "abc"},
	} {
		s := NewScanner(0)
		var items []Item
		var at int64
		feed := func(b byte) {
			for _, it := range s.Feed(b, at) {
				items = append(items, it)
			}
		}
		for _, b := range c.before {
			at++
			feed(b)
		}
		at += c.wait
		for i := range len(c.after) {
			feed(c.after[i])
			at++
		}
		if got := show(items); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestScanIdle(t *testing.T) {
	s := NewScanner(0)
	s.Feed(SOH, 0)
	if items := s.Idle(int64(FrameGap(0))); len(items) != 0 || !s.Busy() {
		t.Errorf("given up too early: %v", items)
	}
	if got := show(s.Idle(int64(FrameGap(0)) + 1)); got != "\x01" || s.Busy() {
		t.Errorf("idle gave %q", got)
	}
}

func TestQuietOutlastsTheFrame(t *testing.T) {
	for _, c := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond} {
		if Quiet(c) < FrameGap(c)+c {
			t.Errorf("character time %v: quiet %v, frame gap %v", c, Quiet(c), FrameGap(c))
		}
		if FrameGap(c) < 2*c {
			t.Errorf("character time %v: frame gap %v", c, FrameGap(c))
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	frame, _ := samples()["before"].Append(nil)
	noise := []byte("ab\x01\x01~S\x01\x04cd\x01~ST")
	s := NewScanner(0)
	var at int64
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range noise {
			at += 1e8
			s.Feed(b, at)
		}
		for _, b := range frame[:len(frame)-1] {
			s.Feed(b, at)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever comes, nothing is lost: each byte is payload, a stray end, or part
// of a frame, in the order of arrival.
func FuzzScan(f *testing.F) {
	for _, a := range samples() {
		frame, _ := a.Append(nil)
		f.Add(append(append([]byte(" !\"\x01~\x04"), frame...), " !"...), int64(1e6))
	}
	f.Add([]byte("\x01~ST1;\x01~ST"), int64(3e8))
	f.Fuzz(func(t *testing.T, data []byte, step int64) {
		s := NewScanner(0)
		var back []byte
		var last int64
		take := func(items []Item) {
			for _, it := range items {
				if step >= 0 && step < 1e9 && it.At < last {
					t.Errorf("arrival %d after %d", it.At, last)
				}
				last = it.At
				if it.Kind == Payload || it.Kind == StrayEnd {
					back = append(back, it.Byte)
				} else {
					back = append(back, it.Frame...)
				}
				if _, _, err := openFrame(it.Frame); it.Kind == Announced && err != nil {
					t.Errorf("announced, but %v: %q", err, it.Frame)
				}
			}
		}
		for i, b := range data {
			take(s.Feed(b, int64(i)*step))
		}
		take(s.Flush())
		if !bytes.Equal(back, data) {
			t.Errorf("fed %q, got back %q", data, back)
		}
	})
}
