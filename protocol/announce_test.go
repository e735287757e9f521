package protocol

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are announcements as they are sent, by the name of their golden
// file.
func samples() map[string]*Announcement {
	granted := []Grant{
		{"priority", "realtime", "SCHED_FIFO 80", ""},
		{"memory", "locked", "not locked", "RLIMIT_MEMLOCK is 8 MiB; 50%: no"},
	}
	return map[string]*Announcement{
		"before": {
			Kind: Before, Run: 1, Label: "no interface operations", PeriodNS: 5_000_000, Count: 1000,
			Baud: 115200, Line: "8N1", Char: "cycle", Timer: "absolute", CatchUp: "skip", Granted: granted,
		},
		"after": {
			Kind: After, Run: 1, Label: "no interface operations", PeriodNS: 5_000_000, Count: 1000,
			Baud: 115200, Line: "8N1", Char: "cycle", Timer: "absolute", CatchUp: "skip", Granted: granted,
			Sent: 1000, Missed: 2, Lateness: &Lateness{61_000, 105_000, 2_300_000}, Last: true,
		},
		"next": {
			Kind: After, Run: 2, Label: "compiler; 100 % = *", PeriodNS: 0, DurationNS: 60_000_000_000,
			Char: "nul", Lateness: &Lateness{P50: -1}, NextMS: 2000,
		},
		"label": {
			Kind: Before, Run: 3, Label: "Tür auf\x1b[31m\n日本語\x00\xff", PeriodNS: 1_000_000, Char: "0x55",
			Extra: []Pair{{"colour", "blau"}, {"x_2", ""}, {"colour", "rot\x01\x04"}},
		},
	}
}

func TestAnnouncementGolden(t *testing.T) {
	for name, a := range samples() {
		frame, err := a.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".frame")
		if *update {
			if err := os.WriteFile(golden, frame, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(frame, want) {
			t.Errorf("%s: sent as %q, want %q", name, frame, want)
		}
		if got, err := Decode(want); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%s: read as %+v, %v", name, got, err)
		}
	}
}

// checkFrame holds what is true of every frame.
func checkFrame(t *testing.T, frame []byte) {
	t.Helper()
	if len(frame) > MaxFrame || frame[0] != SOH || frame[len(frame)-1] != EOT || !printable(frame[1:len(frame)-1]) {
		t.Errorf("not a frame: %q", frame)
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	a := samples()["before"]
	frame, _ := a.Append(nil)
	checkFrame(t, frame)
	got, err := a.Append([]byte("there"))
	if err != nil || string(got) != "there"+string(frame) {
		t.Errorf("%q, %v", got, err)
	}
	buf := make([]byte, 0, MaxFrame)
	if got, _ := a.Append(buf); &got[0] != &buf[:1][0] {
		t.Error("not appended to the caller's memory")
	}
}

func TestAppendErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Announcement
		want string
	}{
		{"too long", Announcement{Label: strings.Repeat("ü", 200)}, ErrFrameTooLong.Error()},
		{"negative", Announcement{PeriodNS: -1}, "period_ns=-1"},
		{"known key", Announcement{Extra: []Pair{{"label", "x"}}}, `"label"`},
		{"no key", Announcement{Extra: []Pair{{"", "x"}}}, `""`},
		{"bad key", Announcement{Extra: []Pair{{"a=b", "x"}}}, `"a=b"`},
	} {
		dst, err := c.a.Append([]byte("there"))
		if err == nil || !strings.Contains(err.Error(), c.want) || string(dst) != "there" {
			t.Errorf("%s: %q, %v", c.name, dst, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"no kind", "run=1;", "no key kind"},
		{"another kind", "kind=during;", `"kind"="during"`},
		{"not a number", "kind=after;sent=many;", `"sent"="many"`},
		{"negative", "kind=after;sent=-5;", `"sent"="-5"`},
		{"too large", "kind=after;sent=9223372036854775808;", `"sent"`},
		{"broken escape", "kind=before;label=50%;", `"label"="50%"`},
		{"two latenesses", "kind=after;lateness_ns=1,2;", `"lateness_ns"`},
		{"half a grant", "kind=before;granted=cpu:1;", `"granted"`},
		{"bad key", "kind=before;Größe=1;", "damaged"},
		{"upper case", "kind=before;KEY=1;", `"KEY"`},
	} {
		frame, err := appendFrame(nil, Version, []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if a, err := Decode(frame); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
}

func TestNewerVersion(t *testing.T) {
	frame, _ := appendFrame(nil, Version+1, []byte("what:will=be"))
	var newer *VersionError
	if _, err := Decode(frame); !errors.As(err, &newer) || newer.Version != Version+1 {
		t.Errorf("version %d: %v", Version+1, err)
	}
	items := scanAll(NewScanner(0), frame, 0)
	if len(items) != 1 || items[0].Kind != Announced {
		t.Errorf("scanned as %v", items)
	}
}

// Every damage of one byte, and every frame cut short, is noticed.
func TestDamage(t *testing.T) {
	whole, _ := samples()["after"].Append(nil)
	for i := range whole {
		for _, flip := range []byte{1, 0x10, 0x80, byte(1 + rand.IntN(255))} {
			frame := bytes.Clone(whole)
			frame[i] ^= flip
			if a, err := Decode(frame); !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: %+v, %v", i, a, err)
			}
		}
		if a, err := Decode(whole[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %+v, %v", i, a, err)
		}
	}
}

// What is encoded decodes to the same.
func FuzzEncode(f *testing.F) {
	f.Add("no interface operations", "absolute", int64(5), 1, true)
	f.Add("a;b=c*d%e:f\x01\x04\xff日", ":", int64(1<<62), 0, false)
	f.Fuzz(func(t *testing.T, label, text string, n int64, run int, after bool) {
		a := &Announcement{Run: run, Label: label, Timer: text, PeriodNS: n, Count: n,
			Granted: []Grant{{label, text, "", label}}, Extra: []Pair{{"other", text}}}
		if after {
			a.Kind, a.Sent, a.Last, a.Lateness = After, n, true, &Lateness{n, -n, 0}
		}
		frame, err := a.Append(nil)
		if err != nil {
			return
		}
		checkFrame(t, frame)
		if got, err := Decode(frame); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%+v became %+v, %v", a, got, err)
		}
	})
}

// Whatever decodes, encodes again and decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, a := range samples() {
		frame, _ := a.Append(nil)
		_, body, _ := openFrame(frame)
		f.Add(body, frame)
	}
	f.Fuzz(func(t *testing.T, body, raw []byte) {
		Decode(raw)
		frame, err := appendFrame(nil, Version, body)
		if err != nil {
			return
		}
		a, err := Decode(frame)
		if err != nil {
			return
		}
		again, err := a.Append(nil)
		if errors.Is(err, ErrFrameTooLong) {
			return
		}
		if err != nil {
			t.Fatalf("%+v does not encode: %v", a, err)
		}
		checkFrame(t, again)
		if got, err := Decode(again); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%+v became %+v, %v", a, got, err)
		}
	})
}
