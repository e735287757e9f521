package serialport

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// overlapped is one asynchronous call, made once and used again, so that
// reading and writing allocate nothing.
type overlapped struct{ o windows.Overlapped }

// newOverlapped must not be inlined: the system writes into the structure while
// we wait, so it has to lie on the heap, where nothing moves.
//
//go:noinline
func newOverlapped() (*overlapped, error) {
	event, err := windows.CreateEvent(nil, 1, 0, nil) // manual reset
	if err != nil {
		return nil, err
	}
	return &overlapped{windows.Overlapped{HEvent: event}}, nil
}

// await waits for the call that is under way: WAIT_TIMEOUT if it still is.
func (o *overlapped) await(h windows.Handle, limit time.Duration) (int, error) {
	ms := uint32((max(limit, 0) + time.Millisecond - 1) / time.Millisecond)
	s, err := windows.WaitForSingleObject(o.o.HEvent, ms)
	if err != nil {
		return 0, err
	}
	if s == uint32(windows.WAIT_TIMEOUT) {
		return 0, windows.WAIT_TIMEOUT
	}
	var n uint32
	err = windows.GetOverlappedResult(h, &o.o, &n, false)
	return int(n), err
}

// cancel ends the call and waits until the system is done with our memory; the
// call may have succeeded all the same.
func (o *overlapped) cancel(h windows.Handle) (int, error) {
	_ = windows.CancelIoEx(h, &o.o) // fails if the call has just ended
	var n uint32
	err := windows.GetOverlappedResult(h, &o.o, &n, true)
	if errors.Is(err, windows.ERROR_OPERATION_ABORTED) {
		err = nil
	}
	return int(n), err
}

func (o *overlapped) close() {
	if o != nil {
		windows.CloseHandle(o.o.HEvent)
	}
}
