package load

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// noCommandStatus is cmd's status for a command that it cannot start.
var noCommandStatus = []string{"exit status 9009"}

// detached keeps Ctrl-C of the console away from the supervisor.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

const keeps = false // see keep_linux.go

func keepMain(task) int { return 2 }

func rename(string) {}

// asWorker: a command too is started by a worker, which waits until it belongs
// to the job; everything that it starts then belongs to it from its first
// instruction.
func asWorker(Spec) bool { return true }

// group is a load's job. The system kills what is in it when its last handle
// closes, that is also when the supervisor is killed.
type group struct {
	job  windows.Handle
	gone chan string
}

func startGroup(s Spec, p stdio, env []string) (*group, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	path, args, err := task{Spec: s}.command(roleWork)
	if err != nil {
		return nil, err
	}
	cmd := exec.Cmd{Path: path, Args: args, Env: env, Stdin: p.in, Stdout: p.out, Stderr: p.err, SysProcAttr: detached()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		cmd.Process.Kill()
		return nil, fmt.Errorf("put the load into a job: %w", err)
	}
	g := &group{job: job, gone: make(chan string, 1)}
	go g.watch(cmd.Process)
	return g, nil
}

// newJob makes a job that dies with its handle.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("CreateJobObject: %w", err)
	}
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	if err != nil {
		return 0, fmt.Errorf("SetInformationJobObject: %w", err)
	}
	return job, nil
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// hurry lets the supervisor, which only waits, be heard among hundreds of busy
// threads. The load has started before and keeps the class that it has.
func hurry() { windows.SetPriorityClass(windows.CurrentProcess(), windows.HIGH_PRIORITY_CLASS) }

func (g *group) empty() <-chan string { return g.gone }

// watch waits for the first process, then for all that it left behind.
func (g *group) watch(p *os.Process) {
	status := "unknown status"
	if state, err := p.Wait(); err == nil {
		status = fmt.Sprintf("exit status %d", state.ExitCode())
	}
	for g.active() > 0 {
		time.Sleep(endPoll)
	}
	g.gone <- status
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	userTime, kernelTime, thisUserTime, thisKernelTime int64
	pageFaults, total, active, terminated              uint32
}

const jobBasicAccounting = 1 // JobObjectBasicAccountingInformation

// active is how many processes the job has; 0 also when it does not tell.
func (g *group) active() uint32 {
	var a accounting
	err := windows.QueryInformationJobObject(g.job, jobBasicAccounting, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	if err != nil {
		return 0
	}
	return a.active
}

// end kills the job. Windows has no way to ask a process of another console
// group politely.
func (g *group) end(bool) error {
	if err := windows.TerminateJobObject(g.job, 1); err != nil {
		return fmt.Errorf("TerminateJobObject: %w", err)
	}
	select {
	case <-g.gone:
		return nil
	case <-time.After(endLimit):
		return errNotEnded
	}
}
