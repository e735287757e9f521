package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// roots are the hot loops of the sender, which has the receiver's too for its
// loopback; what they call is followed.
var roots = []string{
	"serialtiming/sender/pace.(*loop).Hot",
	"serialtiming/receiver/capture.(*loop).Hot",
	"serialtiming/receiver/watch.(*watcher).Hot",
	"serialtiming/receiver/watch.(*warm).Hot",
	"serialtiming/sender/probe.(*spinLoop).Hot",
	"serialtiming/sender/probe.(*wakeUps).Hot",
	"serialtiming/sender/probe.(*trips).Hot",
	"serialtiming/sender/probe.(*sleeper).Hot",
}

// leaves may be called and are not followed, with the reason.
var leaves = map[string]string{
	"runtime.nanotime":    "the clock, without a stack check",
	"runtime.memmove":     "assembler, without a stack check",
	"syscall.RawSyscall6": "the raw call",
	"runtime.panicBounds": "never returns",
	"runtime.panicdivide": "never returns",
}

var callTo = regexp.MustCompile(`\b(?:CALL|BL|JMP)\s+([^\s(]\S*|\S*\(\*\S+)\(SB\)`)

// calls gives for each function of the program what it calls.
func calls(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../sender", "../../receiver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := map[string][]string{}
	for _, program := range []string{"sender", "receiver"} {
		callsIn(t, filepath.Join(dir, program), all)
	}
	return all
}

func callsIn(t *testing.T, program string, all map[string][]string) {
	t.Helper()
	out, err := exec.Command("go", "tool", "objdump", "-s", `serialtiming/`, program).Output()
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := s.Text()
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			all[name] = nil
			continue
		}
		if m := callTo.FindStringSubmatch(line); m != nil {
			all[name] = append(all[name], strings.TrimSuffix(m[1], ".abi0"))
		}
	}
}

// Nothing in the hot loops has a stack check or a write barrier: they run
// outside the Go scheduler, which ends the program at either. Whatever a change
// of the code or of the compiler brings in shows here.
func TestHotLoopsHaveNoStackCheck(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the raw loops are Linux's")
	}
	all := calls(t)
	seen := map[string]bool{}
	var follow func(name, path string)
	follow = func(name, path string) {
		if seen[name] {
			return
		}
		seen[name] = true
		callees, known := all[name]
		if !known {
			t.Errorf("%s calls %s, which is not known to be harmless", path, name)
		}
		for _, callee := range callees {
			switch {
			case strings.HasPrefix(callee, "runtime.morestack"):
				t.Errorf("%s has a stack check (by %s)", name, path)
			case leaves[callee] == "":
				follow(callee, path+" > "+callee)
			}
		}
	}
	for _, root := range roots {
		if _, ok := all[root]; !ok {
			t.Fatalf("%s is not in the program", root)
		}
		follow(root, root)
	}
	// The walk itself must be able to fail: it must have come to the waits.
	for _, name := range []string{"serialtiming/internal/wait.(*Waiter).sleepUntil", "serialtiming/internal/wait.(*Beat).Watch"} {
		if !seen[name] {
			t.Errorf("the walk did not come to %s", name)
		}
	}
}
