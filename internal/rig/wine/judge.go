package wine

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

var (
	// wineCannotDelete is what Wine 8 answers to the deletion that os.RemoveAll
	// asks for; a test that fails by this alone has passed.
	wineCannotDelete = regexp.MustCompile(`testing\.go:\d+: TempDir RemoveAll cleanup: .*: Invalid function\.`)

	// otherWords is a line that a test said itself, or its end by a panic.
	otherWords = regexp.MustCompile(`\.go:\d+: |panic: `)
)

// verdict is what a `go test -json` came to.
type verdict struct {
	passed, skipped, forgiven int
	ran, failed               []string // PACKAGE.TEST that passed; that failed
	output                    string   // of those that failed
}

// judge reads the events of `go test -json`. Tests end before those that
// contain them, and before their package.
func judge(events []byte) (v verdict) {
	said := map[string]string{}   // by test: its own lines
	guilty := map[string]bool{}   // has failed by itself or by a part of it
	innocent := map[string]bool{} // has failed only by Wine
	for d := json.NewDecoder(bytes.NewReader(events)); ; {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if d.Decode(&e) != nil {
			return v
		}
		name := strings.TrimSuffix(e.Package+"."+e.Test, ".")
		switch e.Action {
		case "output", "build-output":
			said[name+e.ImportPath] += e.Output
		case "pass":
			v.passed++
			v.ran = append(v.ran, name)
		case "skip":
			v.skipped++
		case "build-fail":
			v.fail(e.ImportPath, said[e.ImportPath])
		case "fail":
			above := e.Package
			if i := strings.LastIndex(name, "/"); e.Test != "" && strings.Contains(e.Test, "/") {
				above = name[:i]
			}
			if !guilty[name] && (innocent[name] || onlyDeletion(said[name])) {
				v.forgiven++
				innocent[above], innocent[e.Package] = true, true
				continue
			}
			guilty[above], guilty[e.Package] = true, true
			v.fail(name, said[name])
		}
	}
}

// onlyDeletion tells whether a test that failed said nothing else than that.
func onlyDeletion(said string) bool {
	rest := wineCannotDelete.ReplaceAllString(said, "")
	return rest != said && !otherWords.MatchString(rest)
}

func (v *verdict) fail(name, output string) {
	v.failed = append(v.failed, name)
	v.output += output
}
