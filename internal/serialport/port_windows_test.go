package serialport

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// ports are two ports cabled to each other, named by the environment as
// COM1,COM2: only a rig has them.
func ports(t *testing.T) (a, b string) {
	t.Helper()
	first, second, ok := bytes.Cut([]byte(os.Getenv("SERIALTIMING_PORTS")), []byte(","))
	if !ok {
		t.Skip("SERIALTIMING_PORTS names no two cabled ports")
	}
	return string(first), string(second)
}

func open(t *testing.T, name string, c Config) Port {
	t.Helper()
	p, err := Open(name, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

var usual = Config{Baud: 115200, Data: 8, Parity: 'N', Stop: "1"}

// receive reads until n characters have come, or nothing more does.
func receive(t *testing.T, p Port, n int) []byte {
	t.Helper()
	var all []byte
	b := make([]byte, 256)
	for end := time.Now().Add(20 * time.Second); len(all) < n && time.Now().Before(end); {
		k, err := p.Read(b)
		if err != nil {
			t.Fatalf("after %d characters: %v", len(all), err)
		}
		all = append(all, b[:k]...)
	}
	return all
}

func TestWindowsPortCarriesEverything(t *testing.T) {
	nameA, nameB := ports(t)
	a, b := open(t, nameA, usual), open(t, nameB, usual)
	if i := b.Info(); i.Baud != 115200 || i.Line != "8N1" {
		t.Errorf("read back %d baud %q", i.Baud, i.Line)
	}
	want := make([]byte, 2000)
	for i := range want {
		want[i] = byte(i)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range want[:100] { // one by one, then the rest at once
			if n, err := a.Write(want[i : i+1]); n != 1 || err != nil {
				t.Errorf("write %d: %d, %v", i, n, err)
			}
		}
		if n, err := a.Write(want[100:]); n != len(want)-100 || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
		if err := a.Drain(); err != nil {
			t.Error(err)
		}
	})
	if got := receive(t, b, len(want)); !bytes.Equal(got, want) {
		t.Errorf("%d characters of %d came, or other ones", len(got), len(want))
	}
	wait.Wait()
}

func TestWindowsReadTimesOut(t *testing.T) {
	nameA, _ := ports(t)
	c := usual
	c.ReadTimeout = 50 * time.Millisecond
	p := open(t, nameA, c)
	began := time.Now()
	n, err := p.Read(make([]byte, 10))
	if took := time.Since(began); n != 0 || err != nil || took < 30*time.Millisecond || took > 2*time.Second {
		t.Errorf("%d, %v after %v", n, err, took)
	}
}

func TestWindowsFlush(t *testing.T) {
	nameA, nameB := ports(t)
	a, b := open(t, nameA, usual), open(t, nameB, usual)
	b.Read(make([]byte, 1)) // a read is under way now
	a.Write([]byte("stale"))
	time.Sleep(300 * time.Millisecond)
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	a.Write([]byte("new"))
	if got := receive(t, b, 3); string(got) != "new" {
		t.Errorf("%q came", got)
	}
}

func TestWindowsReadsAndWritesMakeNoGarbage(t *testing.T) {
	nameA, nameB := ports(t)
	c := usual
	c.ReadTimeout = 20 * time.Millisecond
	a, b := open(t, nameA, c), open(t, nameB, c)
	one, buf := []byte("x"), make([]byte, 64)
	if n := testing.AllocsPerRun(50, func() { a.Write(one) }); n != 0 {
		t.Errorf("a write allocates %v times", n)
	}
	came := 0
	if n := testing.AllocsPerRun(50, func() { k, _ := b.Read(buf); came += k; a.Write(one) }); n != 0 {
		t.Errorf("a read allocates %v times", n)
	}
	if came == 0 {
		t.Error("nothing came")
	}
}

func TestWindowsCloseEndsARead(t *testing.T) {
	nameA, _ := ports(t)
	c := usual
	c.ReadTimeout = 100 * time.Millisecond
	p := open(t, nameA, c)
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := p.Read(make([]byte, 8)); err != nil {
				ended <- err
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the read went on")
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("a write after Close: %v", err)
	}
}

func TestWindowsRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		class error
	}{
		{"COM99", ErrNotFound}, {`\\.\COM99`, ErrNotFound}, {"NUL", ErrNotPort}, {`C:\windows`, ErrNotPort},
		{`..\x`, ErrNotPort}, {"", ErrNotPort}, {"a\x00b", ErrNotPort},
	} {
		p, err := Open(c.name, usual)
		if err == nil {
			p.Close()
		}
		var e *Error
		if !errors.Is(err, c.class) || !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%q: %v, want %v and a hint", c.name, err, c.class)
		}
	}
}

func TestWindowsSettingsAreReadBack(t *testing.T) {
	nameA, _ := ports(t)
	for _, c := range []Config{
		{Baud: 9600, Data: 7, Parity: 'E', Stop: "1"}, {Baud: 300, Data: 8, Parity: 'O', Stop: "2"},
		{Baud: 921600, Data: 8, Parity: 'N', Stop: "1"},
	} {
		p, err := Open(nameA, c)
		if errors.Is(err, ErrSetting) { // honest: the port did not take it
			t.Logf("%+v: %v", c, err)
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if i := p.Info(); i.Baud != c.Baud || i.Line != "" && i.Line != c.line() { // "": a pseudo-terminal cannot tell
			t.Errorf("%d %s became %d %s", c.Baud, c.line(), i.Baud, i.Line)
		}
		p.Close()
	}
}

func TestErrorFlagsAreCounted(t *testing.T) {
	var e errorCounts
	for _, flags := range []uint32{ceFrame, ceFrame | ceParity, 0, ceBreak, ceRxOver | ceOverrun, ceFrame} {
		e.add(flags)
	}
	c, err := e.read()
	if want := (Counters{Framing: 3, Parity: 1, Break: 1, Overrun: 1, BufferOverrun: 1}); err != nil || c != want {
		t.Errorf("%+v, %v; want %+v", c, err, want)
	}
}

func TestLineOfDCB(t *testing.T) {
	for _, c := range []struct {
		d    windows.DCB
		want string
	}{
		{windows.DCB{ByteSize: 8, Parity: windows.NOPARITY, StopBits: windows.ONESTOPBIT}, "8N1"},
		{windows.DCB{ByteSize: 7, Parity: windows.EVENPARITY, StopBits: windows.TWOSTOPBITS}, "7E2"},
		{windows.DCB{ByteSize: 5, Parity: windows.MARKPARITY, StopBits: windows.ONE5STOPBITS}, "5M1.5"},
		{windows.DCB{ByteSize: 8, Parity: 77}, ""},
	} {
		if got := lineOfDCB(&c.d); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}
