package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// command runs the command line in cmd, which takes its quotes by rules of its
// own: no escaping. The worker belongs to the job, so everything below does.
func (w *worker) command() error {
	shell := os.Getenv("COMSPEC")
	if shell == "" {
		shell = "cmd.exe"
	}
	cmd := exec.Command(shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + w.spec.Command + `"`}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	w.ready()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
		return &exitStatus{cmd.ProcessState.ExitCode()}
	}
	return err
}

func takeMemory(size int64) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size), nil
}

func giveMemory(b []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(&b[0])), 0, windows.MEM_RELEASE)
}

// createDoomed makes a file that the system deletes with its last handle.
func createDoomed(dir string) (file, error) {
	path := filepath.Join(dir, fmt.Sprintf("serialtiming-load-%d-%x", os.Getpid(), rand.Uint32()))
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, nil, windows.CREATE_NEW,
		windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func outOfSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// setPriority sets the priority class of the process, with the words of the
// task manager.
func setPriority(word string) error {
	class := map[string]uint32{
		"low": windows.IDLE_PRIORITY_CLASS, "normal": windows.NORMAL_PRIORITY_CLASS, "high": windows.HIGH_PRIORITY_CLASS,
	}[word]
	self := windows.CurrentProcess()
	if err := windows.SetPriorityClass(self, class); err != nil {
		return err
	}
	got, err := windows.GetPriorityClass(self)
	if err == nil && got != class {
		err = fmt.Errorf("the system gave class %#x", got)
	}
	return err
}

func diskFree(dir string) (free, total int64, err error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	var forMe, all, left uint64
	if err := windows.GetDiskFreeSpaceEx(p, &forMe, &all, &left); err != nil {
		return 0, 0, err
	}
	return int64(forMe), int64(all), nil
}

func preferKill() {}

// memoryFree does not ask: a commit that cannot be held fails at once here,
// nobody is killed for it.
func memoryFree() (int64, bool) { return 0, false }

// gate holds threads back at an event.
type gate struct{ event windows.Handle }

func newGate() (*gate, error) {
	const manual = 1
	h, err := windows.CreateEvent(nil, manual, 0, nil)
	return &gate{h}, err
}

func (g *gate) wait() { windows.WaitForSingleObject(g.event, windows.INFINITE) }
func (g *gate) open() { windows.SetEvent(g.event) }
