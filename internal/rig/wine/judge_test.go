package wine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// stream writes events as `go test -json` does: "action test output".
func stream(lines ...string) []byte {
	var b strings.Builder
	for _, l := range lines {
		f := strings.SplitN(l, " ", 3)
		e := map[string]string{"Action": f[0], "Package": "p"}
		if len(f) > 1 && f[1] != "-" {
			e["Test"] = f[1]
		}
		if len(f) > 2 {
			e["Output"] = f[2] + "\n"
		}
		line, _ := json.Marshal(e)
		b.Write(append(line, '\n'))
	}
	return []byte(b.String())
}

func TestJudge(t *testing.T) {
	const wine = `testing.go:1464: TempDir RemoveAll cleanup: unlinkat C:\x: Invalid function.`
	for _, c := range []struct {
		name     string
		events   []byte
		failed   []string
		forgiven int
	}{
		{"passed", stream("pass A", "pass -"), nil, 0},
		{"failed", stream("output A a_test.go:1: wrong", "fail A", "fail -"), []string{"p.A", "p"}, 0},
		{"deletion only", stream("output A "+wine, "fail A", "fail -"), nil, 2},
		{"deletion and more", stream("output A a_test.go:1: wrong", "output A "+wine, "fail A", "fail -"), []string{"p.A", "p"}, 0},
		{"a part's deletion", stream("output A/x "+wine, "fail A/x", "fail A", "fail -"), nil, 3},
		{"one part's deletion, one part's fault",
			stream("output A/x "+wine, "fail A/x", "output A/y a_test.go:3: wrong", "fail A/y", "fail A", "fail -"),
			[]string{"p.A/y", "p.A", "p"}, 1},
		{"the deletion of another test", stream("output A "+wine, "fail A", "output B panic: no", "fail B", "fail -"), []string{"p.B", "p"}, 1},
		{"without a word", stream("fail A", "fail -"), []string{"p.A", "p"}, 0},
		{"the package alone", stream("output - panic: test timed out", "fail -"), []string{"p"}, 0},
		{"no build", []byte(`{"ImportPath":"p","Action":"build-output","Output":"x.go:1: no"}` + "\n" +
			`{"ImportPath":"p","Action":"build-fail"}` + "\n" + `{"Action":"fail","Package":"p"}`), []string{"p", "p"}, 0},
	} {
		v := judge(c.events)
		if !slices.Equal(v.failed, c.failed) || v.forgiven != c.forgiven {
			t.Errorf("%s: failed %q, forgiven %d; want %q, %d", c.name, v.failed, v.forgiven, c.failed, c.forgiven)
		}
	}
}
