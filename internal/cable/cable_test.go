package cable

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"a", true}, {"A-1._z", true}, {strings.Repeat("n", 64), true}, {"..", true},
		{"", false}, {strings.Repeat("n", 65), false}, {"a b", false}, {"a/b", false},
		{"../x", false}, {"a~", false}, {"ä", false}, {"a\x1b[2J", false}, {"a\x00", false},
	} {
		err := CheckName(c.name)
		if (err == nil) != c.ok {
			t.Errorf("CheckName(%q) = %v, want ok %v", c.name, err, c.ok)
		}
		if err != nil && !errors.Is(err, ErrName) {
			t.Errorf("CheckName(%q) = %v, want ErrName", c.name, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("CheckName(%q) says control characters raw: %q", c.name, err)
		}
	}
}

func TestPeerIsCleaned(t *testing.T) {
	p := Peer{PID: 7, Command: "a\x1b[31m\n" + strings.Repeat("x", 50)}.clean()
	if want := "a[31m" + strings.Repeat("x", 27); p.Command != want {
		t.Errorf("clean gives %q, want %q", p.Command, want)
	}
	for _, c := range []struct {
		p    Peer
		want string
	}{{Peer{}, "an unknown process"}, {Peer{PID: 3}, "pid 3"}, {Peer{3, "receiver"}, "receiver (pid 3)"}} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%#v is %q, want %q", c.p, got, c.want)
		}
	}
}
