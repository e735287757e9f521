package load

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

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
// group and session, ignore requests, are orphans, and have no environment.
func everything(dir string) []string {
	return []string{
		"threads=@threads:8:low",
		"memory=@memory:1x8M",
		"disk=@disk:" + dir + ":2M:64K",
		"shell=sleep 1001 & setsid sh -c 'trap \"\" TERM HUP; sleep 1002 & sleep 1003' & (env -i setsid sleep 1004 &) ; head -c 1000 /dev/zero > $TMPDIR/x; sleep 1005; true",
	}
}

// Whoever of the processes is killed, nothing and no file is left.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, victim := range []string{"sender", "supervisors", "keepers", "supervisors and sender", "keepers and sender"} {
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
			// With the stand-in and without the one that has no environment.
			if n := len(marked(dir)); len(pids) < 4+4+3+6 || n != len(pids) {
				t.Errorf("%d processes below the stand-in, %d with it in the list", len(pids), n)
			}
			kill(t, cmd, victim, pids)
			eventually(t, "everything has ended", func() bool { return !anyAlive(pids) })
			eventually(t, "the files are gone", func() bool {
				more, _ := filepath.Glob(filepath.Join(tmp, "*"))
				left, _ := filepath.Glob(filepath.Join(dir, "*"))
				return len(left)+len(more) == 0
			})
			cmd.Process.Kill() // where it is no victim
			cmd.Wait()
			if after := marked(dir); len(after) > 0 {
				t.Errorf("left: %q", after)
			}
		})
	}
}

// kill ends the victims with SIGKILL: those of the loads, then the sender.
func kill(t *testing.T, sender *exec.Cmd, victim string, pids []int) {
	t.Helper()
	role := map[byte]string{'s': roleSupervise, 'k': roleKeep}[victim[0]]
	all := processes()
	for _, pid := range pids {
		if victim != "sender" && strings.Contains(all[pid], childWord+" "+role+" ") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !strings.HasSuffix(victim, "sender") {
		return
	}
	if err := sender.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	sender.Wait()
}

// killall -9 sender must not end those who clean up behind it.
func TestWhoCleansUpHasAnotherName(t *testing.T) {
	l := start(t, "c=sleep 1000")
	pids, _ := descendants(l.cmd.Process.Pid)
	for i, want := range []string{"load-keeper\n", "load-supervisor\n"} {
		pid := l.cmd.Process.Pid
		if i > 0 {
			pid = pids[0]
		}
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) != want {
			t.Errorf("%q, %v; want %q", name, err, want)
		}
	}
}

// A supervisor that is killed is the load's end, with a reason; the stop behind
// it is harmless.
func TestAKilledSupervisorIsTheEndOfTheLoad(t *testing.T) {
	for _, value := range []string{"c=setsid sleep 1000 & sleep 1001", "t=@threads:2:low"} {
		l := start(t, value)
		pids, _ := descendants(l.cmd.Process.Pid)
		if len(pids) == 0 {
			t.Fatal("no supervisor")
		}
		syscall.Kill(pids[0], syscall.SIGKILL)
		<-l.Done()
		if err := l.Err(); err == nil || err.Error() != endedOutside {
			t.Errorf("%s: %v", value, err)
		}
		if anyAlive(pids) {
			t.Errorf("%s: something is left", value)
		}
		if _, err := os.Stat(l.dir); err == nil {
			t.Errorf("%s: %s is left", value, l.dir)
		}
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	}
}
