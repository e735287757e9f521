// Package house keeps the rules of the rooms: who may import whom, and where
// system calls live.
package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "serialtiming"

type pkg struct {
	ImportPath string
	Imports    []string
}

// packages lists the module as that system builds it.
func packages(t *testing.T, goos string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", module+"/...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", goos, err)
	}
	var all []pkg
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module+"/")
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("%s: only %d packages", goos, len(all))
	}
	return all
}

// own gives the module's room that an import names, "" for another module's.
func own(path string) string {
	room, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return room
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return own(path) == "" && !strings.Contains(first, ".")
}

func under(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }

// libraries are the few that serve results' rooms.
var libraries = map[string][]string{
	"results/report":   {"gonum.org/v1/plot"},
	"results/importer": {"github.com/klauspost/compress", "github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/text"},
}

// forbidden says why one package may not import another, "" if it may.
func forbidden(from, path string) string {
	to := own(path)
	switch {
	case under(from, "internal/rig"), under(from, "internal/house"), under(from, "internal/bench"):
		return ""
	case from == "protocol" || from == "results":
		if !standard(path) {
			return "it is pure: standard library only"
		}
	case under(from, "results"):
		if to != "" && to != "results" && !under(to, from) {
			return "results' rooms import results only"
		}
		if to == "" && !standard(path) && !listed(from, path) {
			return "not one of the libraries that serve this room"
		}
	case under(from, "internal"):
		if to != "" && !under(to, "internal") {
			return "internal rooms know none of the others"
		}
	case under(from, "sender"):
		if under(to, "receiver") && to != "receiver/capture" && to != "receiver/assemble" {
			return "of the receiver only capture and assemble"
		}
	case under(from, "receiver"):
		if under(to, "sender") {
			return "the receiver does not know the sender"
		}
	}
	return ""
}

func listed(room, path string) bool {
	for at, libs := range libraries {
		for _, l := range libs {
			if under(room, at) && under(path, l) {
				return true
			}
		}
	}
	return false
}

func TestWhoImportsWhom(t *testing.T) {
	for _, goos := range []string{"linux", "windows", "darwin", "freebsd", "openbsd"} {
		for _, p := range packages(t, goos) {
			for _, i := range p.Imports {
				if why := forbidden(p.ImportPath, i); why != "" {
					t.Errorf("%s: %s imports %s: %s", goos, p.ImportPath, i, why)
				}
			}
		}
	}
}

// kernel says whether a package talks to the system below the os package.
func kernel(path string) bool {
	return path == "golang.org/x/sys/unix" || path == "golang.org/x/sys/windows" || path == "golang.org/x/sys/windows/registry"
}

// kernelRooms may.
var kernelRooms = []string{"internal/clock", "internal/wait", "internal/realtime", "internal/serialport",
	"internal/cable", "internal/audit", "internal/bench", "internal/rig", "sender/load", "sender/probe/system"}

func TestSystemCallsStayInTheirRooms(t *testing.T) {
	for _, goos := range []string{"linux", "windows", "darwin", "freebsd"} {
		for _, p := range packages(t, goos) {
			allowed := false
			for _, r := range kernelRooms {
				allowed = allowed || under(p.ImportPath, r)
			}
			for _, i := range p.Imports {
				if kernel(i) && !allowed {
					t.Errorf("%s: %s imports %s", goos, p.ImportPath, i)
				}
				if i == "go.bug.st/serial" && p.ImportPath != "internal/serialport" {
					t.Errorf("%s: %s imports %s: only internal/serialport knows it", goos, p.ImportPath, i)
				}
			}
		}
	}
}

func TestTheRulesCanBeBroken(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"protocol", module + "/results"}, {"results", module + "/protocol"}, {"results", "golang.org/x/sys/unix"},
		{"results/report", module + "/protocol"}, {"results/report", "github.com/spf13/pflag"},
		{"internal/cli", module + "/results"}, {"sender", module + "/receiver"}, {"receiver/capture", module + "/sender/pace"},
	} {
		if forbidden(c.from, c.to) == "" {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
	for _, c := range []struct{ from, to string }{
		{"protocol", "hash/crc32"}, {"results/report", module + "/results"}, {"sender", module + "/receiver/assemble"}, {"internal/cli", module + "/internal/realtime"},
	} {
		if why := forbidden(c.from, c.to); why != "" {
			t.Errorf("%s may not import %s: %s", c.from, c.to, why)
		}
	}
}
