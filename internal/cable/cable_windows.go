package cable

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	pipePrefix = `\\.\pipe\serialtiming-`
	pipeBuffer = 4096 // bytes a direction; like a pseudo-terminal's
	// pipeAccess lets an ordinary and an elevated process of any local user
	// meet: authenticated users may use the pipe, whatever its creator's
	// integrity level. Remote users are kept out by PIPE_REJECT_REMOTE_CLIENTS.
	pipeAccess = "D:(A;;GA;;;AU)S:(ML;;NW;;;ME)"
)

// open creates the pipe, or joins the one that is there.
func open(ctx context.Context, name string, o Options) (*Port, error) {
	path := pipePrefix + name
	for deadline := time.Now().Add(busyLimit); ; {
		h, err := createPipe(path)
		if err == nil {
			return waitForClient(ctx, name, path, h, o)
		}
		h, err = joinPipe(path)
		if err == nil {
			return newPipe(h, path, windows.GetNamedPipeServerProcessId)
		}
		// Busy at both: taken, or about to be free. Not found: just closed.
		if time.Now().After(deadline) {
			return nil, pipeError(name, err)
		}
		time.Sleep(busyLimit / 20)
	}
}

// busyLimit is how long a cable has to be taken to be called busy.
const busyLimit = 500 * time.Millisecond

func pipeError(name string, err error) error {
	if errors.Is(err, windows.ERROR_PIPE_BUSY) {
		return &Error{
			Err:  fmt.Errorf("%w: both its ends are taken", ErrBusy),
			Hint: "end one of the programs, or take another name on both ends, as in --port cable:" + name + "-2",
		}
	}
	return &Error{Err: err}
}

// createPipe is the end that comes first: the only instance there may be.
func createPipe(path string) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	sd, err := windows.SecurityDescriptorFromString(pipeAccess)
	if err != nil {
		return 0, err
	}
	sa := windows.SecurityAttributes{SecurityDescriptor: sd}
	sa.Length = uint32(unsafe.Sizeof(sa))
	const open = windows.PIPE_ACCESS_DUPLEX | windows.FILE_FLAG_OVERLAPPED | windows.FILE_FLAG_FIRST_PIPE_INSTANCE
	const mode = windows.PIPE_TYPE_BYTE | windows.PIPE_READMODE_BYTE | windows.PIPE_REJECT_REMOTE_CLIENTS
	return windows.CreateNamedPipe(p, open, mode, 1, pipeBuffer, pipeBuffer, 0, &sa)
}

// joinPipe is the end that comes second.
func joinPipe(path string) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	// The pipe's owner may not act in our name, whoever it is.
	const flags = windows.FILE_FLAG_OVERLAPPED | windows.SECURITY_SQOS_PRESENT | windows.SECURITY_ANONYMOUS
	return windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, flags, 0)
}

// waitForClient waits for the other end.
func waitForClient(ctx context.Context, name, path string, h windows.Handle, o Options) (*Port, error) {
	o.Waiting()
	err := connect(ctx, h, time.Now().Add(o.Wait))
	if err == nil {
		return newPipe(h, path, windows.GetNamedPipeClientProcessId)
	}
	windows.CloseHandle(h)
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		return nil, noPeer(name, o.Wait)
	}
	return nil, &Error{Err: err}
}

// connect is ConnectNamedPipe with an end.
func connect(ctx context.Context, h windows.Handle, deadline time.Time) error {
	op, err := newOperation(h)
	if err != nil {
		return err
	}
	defer op.close()
	err = windows.ConnectNamedPipe(h, &op.o)
	for errors.Is(err, windows.ERROR_IO_PENDING) {
		_, err = op.await(50 * time.Millisecond)
		switch {
		case !errors.Is(err, windows.WAIT_TIMEOUT):
		case ctx.Err() != nil:
			return op.cancel(context.Cause(ctx))
		case time.Now().After(deadline):
			return op.cancel(windows.WAIT_TIMEOUT)
		default:
			err = windows.ERROR_IO_PENDING
		}
	}
	if errors.Is(err, windows.ERROR_PIPE_CONNECTED) {
		return nil // it came before we asked
	}
	return err
}

// openLoopback is both ends of a pipe in one process.
func openLoopback() (*Port, error) {
	path := fmt.Sprintf("%sloopback~%d-%d", pipePrefix, windows.GetCurrentProcessId(), time.Now().UnixNano())
	server, err := createPipe(path)
	if err != nil {
		return nil, &Error{Err: err}
	}
	client, err := joinPipe(path)
	if err != nil {
		windows.CloseHandle(server)
		return nil, &Error{Err: err}
	}
	p, err := newPipePort(client, server)
	if err != nil {
		return nil, &Error{Err: err}
	}
	return &Port{line: p, peer: self(), path: path}, nil
}

// newPipe makes a port of a connected pipe.
func newPipe(h windows.Handle, path string, who func(windows.Handle, *uint32) error) (*Port, error) {
	l, err := newPipePort(h, h)
	if err != nil {
		return nil, &Error{Err: err}
	}
	var pid uint32
	if who(h, &pid) != nil {
		pid = 0
	}
	return &Port{line: l, peer: Peer{PID: int(pid)}, path: path}, nil
}
