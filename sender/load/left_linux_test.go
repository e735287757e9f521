package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func standIn(values []string) int {
	specs, err := ParseAll(values)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, s := range specs {
		if _, err := Start(context.Background(), s); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("ready")
	select {}
}

// marked lists the processes whose environment holds a mark: all that a
// stand-in and its descendants are, whatever else the machine runs.
func marked(mark string) (lines []string) {
	all := processes()
	for pid, line := range all {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(env, []byte(mark)) && alive(pid) {
			lines = append(lines, fmt.Sprintf("%d %s", pid, line))
		}
	}
	return lines
}

// everything is a load of each kind, with a shell whose grandchildren leave
// group and session, ignore requests, and are orphans.
func everything(dir string) []string {
	return []string{
		"threads=@threads:8:low",
		"memory=@memory:1x8M",
		"disk=@disk:" + dir + ":2M:64K",
		"shell=sleep 1001 & setsid sh -c 'trap \"\" TERM HUP; sleep 1002 & sleep 1003' & (setsid sleep 1004 &) ; head -c 1000 /dev/zero > $TMPDIR/x; sleep 1005; true",
	}
}

// Whoever of the processes is killed, nothing and no file is left.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, victim := range []string{"sender", "supervisors"} {
		t.Run(victim, func(t *testing.T) {
			dir, tmp := t.TempDir(), t.TempDir()
			if before := marked(dir); len(before) > 0 {
				t.Fatalf("there before: %q", before)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), parentVar+"="+strings.Join(everything(dir), "\n"), "TMPDIR="+tmp)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("the stand-in says %q", line)
			}
			var pids []int
			eventually(t, "all sleepers run", func() bool {
				pids, _ = descendants(cmd.Process.Pid)
				n := 0
				for _, p := range pids {
					if strings.HasPrefix(processes()[p], "sleep 100") {
						n++
					}
				}
				return n == 5
			})
			if n := len(marked(dir)); len(pids) < 4+3+6 || n != len(pids)+1 {
				t.Errorf("%d processes below the stand-in, %d with it in the list", len(pids), n)
			}
			kill(t, cmd, victim, pids)
			eventually(t, "everything has ended", func() bool { return !anyAlive(pids) })
			if after := marked(dir); len(after) > 0 {
				t.Errorf("left: %q", after)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "*"))
			if victim == "sender" { // nobody is left to delete it otherwise
				more, _ := filepath.Glob(filepath.Join(tmp, "*"))
				left = append(left, more...)
			}
			if len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// kill ends the victim with SIGKILL.
func kill(t *testing.T, sender *exec.Cmd, victim string, pids []int) {
	t.Helper()
	if victim == "sender" {
		if err := sender.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		sender.Wait()
		return
	}
	all := processes()
	for _, pid := range pids {
		if strings.Contains(all[pid], childWord+" "+roleSupervise) && !strings.Contains(all[pid], "sleep") {
			p, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			p.Kill()
		}
	}
	sender.Process.Kill()
	sender.Wait()
}
