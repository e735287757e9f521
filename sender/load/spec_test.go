package load

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const m = 1 << 20
	for _, c := range []struct {
		in   string
		want Spec
	}{
		{"idle=@none", Spec{Label: "idle", Kind: None}},
		{"drag a window = @none", Spec{Label: "drag a window", Kind: None}},
		{"build=make -j4 CC=gcc", Spec{Label: "build", Kind: Command, Command: "make -j4 CC=gcc"}},
		{"t=@threads:0", Spec{Label: "t", Kind: Threads, Priority: "normal"}},
		{"400 threads=@threads:400:low", Spec{Label: "400 threads", Kind: Threads, Threads: 400, Priority: "low"}},
		{"m=@memory:2x128M", Spec{Label: "m", Kind: Memory, Workers: 2, Size: 128 * m}},
		{"m=@memory:1x4096", Spec{Label: "m", Kind: Memory, Workers: 1, Size: 4096}},
		{"d=@disk:/tmp", Spec{Label: "d", Kind: Disk, Dir: "/tmp", Size: DefaultSize, Record: DefaultRecord}},
		{"d=@disk:/tmp:128M", Spec{Label: "d", Kind: Disk, Dir: "/tmp", Size: 128 * m, Record: DefaultRecord}},
		{"d=@disk:/tmp:128m:4k", Spec{Label: "d", Kind: Disk, Dir: "/tmp", Size: 128 * m, Record: 4096}},
		{"d=@disk:/tmp:1K", Spec{Label: "d", Kind: Disk, Dir: "/tmp", Size: 1024, Record: 1024}},
		{`d=@disk:C:\Temp`, Spec{Label: "d", Kind: Disk, Dir: `C:\Temp`, Size: DefaultSize, Record: DefaultRecord}},
		{`d=@disk:C:\Temp:1G:1M`, Spec{Label: "d", Kind: Disk, Dir: `C:\Temp`, Size: 1024 * m, Record: m}},
		{`d=@disk:C:`, Spec{Label: "d", Kind: Disk, Dir: `C:`, Size: DefaultSize, Record: DefaultRecord}},
		{`d=@disk:C::2M`, Spec{Label: "d", Kind: Disk, Dir: `C:`, Size: 2 * m, Record: DefaultRecord}},
		{`d=@disk:c:2M:4K`, Spec{Label: "d", Kind: Disk, Dir: `c:`, Size: 2 * m, Record: 4096}},
		{`d=@disk:./c:2M`, Spec{Label: "d", Kind: Disk, Dir: `./c`, Size: 2 * m, Record: DefaultRecord}},
		{`d=@disk:\\server\share:2M`, Spec{Label: "d", Kind: Disk, Dir: `\\server\share`, Size: 2 * m, Record: DefaultRecord}},
		{`d=@disk:\\?\C:\x:2M`, Spec{Label: "d", Kind: Disk, Dir: `\\?\C:\x`, Size: 2 * m, Record: DefaultRecord}},
	} {
		got, err := Parse(c.in)
		_, text, _ := strings.Cut(c.in, "=")
		c.want.Text = strings.TrimSpace(text)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q)\n  %+v, %v\n  want %+v", c.in, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, why := range map[string]string{
		"":                        "no label",
		"@none":                   "no label",
		"=@none":                  "empty label",
		"a\nb=@none":              "on a line",
		"a=":                      "is empty",
		"a=@nothing":              "no built-in load @nothing",
		"a=@none:1":               "takes nothing",
		"a=@threads":              "a number from 0",
		"a=@threads:":             "nothing stands behind",
		"a=@threads:-1":           "a number from 0",
		"a=@threads:9999999":      "a number from 0",
		"a=@threads:4:realtime":   "low, normal or high",
		"a=@memory:2":             "WORKERSxSIZE",
		"a=@memory:0x1M":          "WORKERSxSIZE",
		"a=@memory:2x":            "is no size",
		"a=@memory:2x1":           "from 4K",
		"a=@memory:9x999999999G":  "from 4K",
		"a=@memory:9x9999999999G": "is no size",
		"a=@disk":                 "needs a folder",
		"a=@disk::1G":             "needs a folder",
		"a=@disk:/tmp:much":       "is no size",
		"a=@disk:/tmp:1G:":        "is no size",
		"a=@disk:/tmp:1G:1K:1":    "is more",
		"a=@disk:/tmp:1K:2K":      "larger than the file",
		"a=@disk:/tmp:1G:1G":      "at most 64M",
		"a=@disk:/tmp:0":          "is no size",
	} {
		if s, err := Parse(in); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%q) = %+v, %v; want %q", in, s, err, why)
		}
	}
}

func TestParseAllRefusesALabelTwice(t *testing.T) {
	specs, err := ParseAll([]string{"a=@none", "b=@none", "C=true"})
	if err != nil || len(specs) != 3 || specs[2].String() != "C=true" {
		t.Errorf("%v, %v", specs, err)
	}
	for _, values := range [][]string{{"a=@none", " a =true"}, {"a=@none", "A=true"}, {"a=@none", "b"}} {
		if _, err := ParseAll(values); err == nil {
			t.Errorf("%q was taken", values)
		}
	}
}

// What is read can be written and read again, and makes no impossible load.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a=@none", "a=@threads:3:low", "a=@memory:2x3M", `a=@disk:C:\x:1G:2K`, "a=ls", "a=@disk:c:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse(in)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Errorf("%q is %+v, again %+v, %v", in, s, again, err)
		}
		if s.Kind == Disk && (s.Record < 1 || s.Record > s.Size || s.Dir == "") || s.Kind == Memory && (s.Workers < 1 || s.Size < LeastMemory) {
			t.Errorf("%q makes %+v", in, s)
		}
	})
}
