package audit

import (
	"math"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	const text = "# comment\nCONFIG_HZ=250\nCONFIG_NAME=\"a b\"\n# CONFIG_X is not set\n"
	for _, b := range [][]byte{[]byte(text), gzipped(text)} {
		c, ok := parseConfig(b)
		if !ok || len(c) != 2 || c["CONFIG_HZ"] != "250" || c["CONFIG_NAME"] != "a b" {
			t.Errorf("%v %v", c, ok)
		}
	}
	for _, bad := range []string{"", "no=config", "\x1f\x8bbroken"} {
		if c, ok := parseConfig([]byte(bad)); ok {
			t.Errorf("%q is %v", bad, c)
		}
	}
}

func TestPreemptWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"none voluntary (full)", "full"}, {"none voluntary full (lazy)", "lazy"}, {"(none) voluntary full", "none"},
		{"full", ""}, {"(full", ""}, {"(a b)", ""}, {"(a\tb)", ""}, {"", ""},
	} {
		if got := parsePreempt(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"Linux version 6.18 (gcc (GCC) 15.3.0) #1 SMP PREEMPT_DYNAMIC @0", "dynamic"},
		{"Linux version 6.1-rt (gcc) #1 SMP PREEMPT_RT Debian", "rt"},
		{"Linux version 5.4 (gcc) #1 SMP PREEMPT Tue", "full"},
		{"Linux version 5.4 (gcc) #1 SMP Tue", ""}, {"", ""},
	} {
		if got := versionPreempt(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParseTask(t *testing.T) {
	rest := " S 2" + strings.Repeat(" 0", 35) + " 50 1 0"
	for _, c := range []struct {
		in   string
		want task
		ok   bool
	}{
		{"9 (irq/4-ttyS1)" + rest, task{"irq/4-ttyS1", 50, 1}, true},
		{"9 (a) b) (c))" + rest, task{"a) b) (c)", 50, 1}, true},
		{"9 (short) S 1 2", task{}, false}, {"9 no name", task{}, false}, {")(", task{}, false}, {"", task{}, false},
	} {
		if got, ok := parseTask(c.in); got != c.want || ok != c.ok {
			t.Errorf("%q: %+v %v, want %+v %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestSmallParsers(t *testing.T) {
	for _, c := range []struct {
		in string
		n  int
		ok bool
	}{{"0-3", 4, true}, {"0", 1, true}, {"0-1,6,8-9", 5, true}, {"", 0, true}, {"3-1", 0, false}, {"a", 0, false}, {"0-", 0, false}} {
		if n, ok := parseCPUList(c.in); n != c.n || ok != c.ok {
			t.Errorf("CPU list %q: %d %v", c.in, n, ok)
		}
	}
	for _, c := range []struct {
		in    string
		share float64
		ok    bool
	}{{"cpu 1 1 1 1 1 1 1 3 9 9\n", .3, true}, {"cpu 0 0 0 0 0 0 0 0", 0, false}, {"cpu 1 2", 0, false}, {"", 0, false}, {"cpu a b c d e f g h", 0, false}} {
		if share, ok := stealShare(c.in); math.Abs(share-c.share) > 1e-9 || ok != c.ok {
			t.Errorf("steal %q: %g %v", c.in, share, ok)
		}
	}
	for _, c := range []struct {
		in    string
		areas int
		used  int64
	}{{"Filename Type Size Used Priority\n/a file 10 4 -1\n/b file 10 5 -1\n", 2, 9}, {"", 0, 0}, {"/a file 10 x -1", 0, 0}} {
		if areas, used := swapInUse(c.in); areas != c.areas || used != c.used {
			t.Errorf("swaps %q: %d %d", c.in, areas, used)
		}
	}
	if v, ok := argument("a=1 quiet a=2 b", "a"); v != "2" || !ok {
		t.Errorf("a is %q", v)
	}
	if _, ok := argument("preemptible=1", "preempt"); ok {
		t.Error("a part of a word was taken for it")
	}
	if !hasFlag("flags\t: fpu hypervisor\n", "hypervisor") || hasFlag("flags : hypervisors\n", "hypervisor") || hasFlag("", "x") {
		t.Error("flags of /proc/cpuinfo")
	}
}

func FuzzParsers(f *testing.F) {
	f.Add("CONFIG_HZ=250\n")
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\n")
	f.Add("9 (irq/4) S" + strings.Repeat(" 1", 45))
	f.Add("0-3,5")
	f.Add("none (full)")
	f.Add("/dev/sda2 partition 2097148 51200 -2")
	f.Add("flags : a b\n")
	f.Add(string(gzipped("CONFIG_A=y")))
	f.Fuzz(func(t *testing.T, s string) {
		if c, ok := parseConfig([]byte(s)); ok != (len(c) > 0) {
			t.Errorf("%d options, %v", len(c), ok)
		}
		if w := parsePreempt(s); w != cleaned(w) || strings.ContainsAny(w, "( ") {
			t.Errorf("preemption %q", w)
		}
		if n, ok := parseCPUList(s); n < 0 || n > 0 && !ok {
			t.Errorf("%d processors", n)
		}
		if k, ok := parseTask(s); ok && k.name != cleaned(k.name) {
			t.Errorf("name %q", k.name)
		}
		if share, ok := stealShare(s); ok && (share < 0 || share > 1) {
			t.Errorf("share %g", share)
		}
		if areas, _ := swapInUse(s); areas < 0 {
			t.Errorf("%d areas", areas)
		}
		versionPreempt(s)
		hasFlag(s, "hypervisor")
		argument(s, "nohz")
	})
}
