package load

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// listed is a line of the process list. A number is used again, with its
// parent's number it hardly is.
type listed struct {
	pid, parent uint32
	name        string
}

func processes(t *testing.T) map[uint32]listed {
	t.Helper()
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(snapshot)
	all := map[uint32]listed{}
	var e windows.ProcessEntry32
	e.Size = uint32(unsafe.Sizeof(e))
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		all[e.ProcessID] = listed{e.ProcessID, e.ParentProcessID, windows.UTF16ToString(e.ExeFile[:])}
	}
	return all
}

// startedSince lists what runs and did not before, of the programs that the
// loads start: a parent that has ended leaves no other trace of its children.
func startedSince(t *testing.T, before map[uint32]listed) (list []listed) {
	t.Helper()
	ours := []string{strings.ToLower(filepath.Base(os.Args[0])), "cmd.exe", "start.exe", "ping.exe"}
	for pid, p := range processes(t) {
		if before[pid] != p && slices.Contains(ours, strings.ToLower(p.name)) {
			list = append(list, p)
		}
	}
	return list
}

// Whoever of the processes is ended by TerminateProcess, no process and no file
// is left.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, victim := range []string{"sender", "supervisors and sender"} {
		t.Run(victim, func(t *testing.T) {
			dir, tmp := t.TempDir(), t.TempDir()
			before := processes(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TMP="+tmp, "TEMP="+tmp, parentVar+"="+strings.Join([]string{
				"threads=@threads:8:low", "memory=@memory:1x8M", "disk=@disk:" + dir + ":2M:64K",
				"shell=start /b cmd /c ping -n 1000 127.0.0.1 & ping -n 1000 127.0.0.1",
			}, "\n"))
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
			var started []listed
			eventually(t, "both commands run", func() bool {
				started = startedSince(t, before)
				n := 0
				for _, p := range started {
					if strings.EqualFold(p.name, "ping.exe") {
						n++
					}
				}
				return n == 2
			})
			if n := len(started); n < 1+4+4+1+2 { // with the stand-in: supervisors, workers, a shell, two pings
				t.Errorf("%d processes: %v", n, started)
			}
			terminate(t, cmd, victim, started)
			eventually(t, "everything has ended", func() bool { return len(startedSince(t, before)) == 0 })
			eventually(t, "the files are gone", func() bool {
				files, _ := filepath.Glob(filepath.Join(dir, "*"))
				if victim == "sender" { // nobody is left to delete the folder otherwise
					more, _ := filepath.Glob(filepath.Join(tmp, "*"))
					files = append(files, more...)
				}
				return len(files) == 0
			})
		})
	}
}

// terminate ends the victim with TerminateProcess.
func terminate(t *testing.T, sender *exec.Cmd, victim string, started []listed) {
	t.Helper()
	for _, p := range started {
		if victim == "sender" || p.parent != uint32(sender.Process.Pid) {
			continue
		}
		supervisor, err := os.FindProcess(int(p.pid))
		if err == nil {
			err = supervisor.Kill()
		}
		if err != nil {
			t.Fatal(fmt.Errorf("%v: %w", p, err))
		}
	}
	if err := sender.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	sender.Wait()
}
