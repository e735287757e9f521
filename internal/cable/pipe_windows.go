package cable

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/windows"

	"serialtiming/internal/serialport/rawio"
)

// slice is the longest single wait: close is noticed that soon.
const slice = 50 * time.Millisecond

// operation is one overlapped call, made once and used again, so that reading
// and writing allocate nothing.
type operation struct {
	h windows.Handle
	o windows.Overlapped
}

// newOperation must not be inlined: the system writes into the operation while
// we wait, so it has to lie on the heap, where nothing moves, and the compiler
// does not see the system's hold on it.
//
//go:noinline
func newOperation(h windows.Handle) (*operation, error) {
	event, err := windows.CreateEvent(nil, 1, 0, nil) // manual reset
	if err != nil {
		return nil, err
	}
	return &operation{h: h, o: windows.Overlapped{HEvent: event}}, nil
}

// await waits for a call that is under way: WAIT_TIMEOUT if it still is.
func (op *operation) await(limit time.Duration) (int, error) {
	ms := uint32((max(limit, 0) + time.Millisecond - 1) / time.Millisecond)
	s, err := windows.WaitForSingleObject(op.o.HEvent, ms)
	if err != nil {
		return 0, err
	}
	if s == uint32(windows.WAIT_TIMEOUT) {
		return 0, windows.WAIT_TIMEOUT
	}
	var n uint32
	err = windows.GetOverlappedResult(op.h, &op.o, &n, false)
	return int(n), err
}

// cancel ends a call that is under way, and gives why.
func (op *operation) cancel(why error) error {
	_, _ = op.settle()
	return why
}

// settle cancels and waits: the call may have succeeded all the same, and the
// system must be done with our memory.
func (op *operation) settle() (int, error) {
	_ = windows.CancelIoEx(op.h, &op.o) // fails if the call has just ended
	var n uint32
	err := windows.GetOverlappedResult(op.h, &op.o, &n, true)
	if errors.Is(err, windows.ERROR_OPERATION_ABORTED) {
		err = nil
	}
	return int(n), err
}

func (op *operation) close() { windows.CloseHandle(op.o.HEvent) }

// pipe is one end: the handles to read from and to write to are the same one
// but for a loopback.
type pipe struct {
	r, w    *operation
	reading sync.Mutex
	writing sync.Mutex
	closed  atomic.Bool
	scratch []byte // of flush; not on the stack, see newOperation
}

// newPipePort takes over the handles, also when it fails.
func newPipePort(r, w windows.Handle) (*pipe, error) {
	ro, err := newOperation(r)
	if err == nil {
		var wo *operation
		if wo, err = newOperation(w); err == nil {
			return &pipe{r: ro, w: wo, scratch: make([]byte, pipeBuffer)}, nil
		}
		ro.close()
	}
	windows.CloseHandle(r)
	if w != r {
		windows.CloseHandle(w)
	}
	return nil, err
}

func (p *pipe) fds() (r, w uintptr, ok bool) { return 0, 0, false }

func (p *pipe) read(b []byte, timeout time.Duration) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.closed.Load() {
		return 0, ErrClosed
	}
	err := windows.ReadFile(p.r.h, b, nil, &p.r.o)
	if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
		return 0, classify(err)
	}
	n, err := p.finish(p.r, time.Now().Add(timeout))
	return n, classify(err)
}

// finish waits for a call until deadline or close, then cancels it.
func (p *pipe) finish(op *operation, deadline time.Time) (int, error) {
	for {
		n, err := op.await(min(time.Until(deadline), slice))
		if !errors.Is(err, windows.WAIT_TIMEOUT) {
			return n, err
		}
		if p.closed.Load() {
			n, _ := op.settle()
			return n, ErrClosed
		}
		if time.Now().After(deadline) {
			return op.settle()
		}
	}
}

// writeLimit is when a write that the other end does not read is tried again.
const writeLimit = 100 * time.Millisecond

// write hands over all of b. A single character gives up after writeLimit with
// (0, nil), so that a hot loop, which writes no more at a time, can look
// whether to stop.
func (p *pipe) write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	done := 0
	for done < len(b) {
		if p.closed.Load() {
			return done, ErrClosed
		}
		err := windows.WriteFile(p.w.h, b[done:], nil, &p.w.o)
		if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
			return done, classify(err)
		}
		n, err := p.finish(p.w, time.Now().Add(writeLimit))
		done += n
		if err != nil {
			return done, classify(err)
		}
		if n == 0 && len(b) == 1 {
			return 0, nil
		}
	}
	return done, nil
}

// drain: FlushFileBuffers waits until the other end has read everything, and
// cannot be given a limit, so another goroutine waits in it.
func (p *pipe) drain(limit time.Duration) error {
	if p.closed.Load() {
		return ErrClosed
	}
	done := make(chan error, 1)
	go func() { done <- windows.FlushFileBuffers(p.w.h) }()
	select {
	case err := <-done:
		return classify(err)
	case <-time.After(limit):
		return ErrUnread
	}
}

func (p *pipe) flush() error {
	for range 64 { // a sender that never pauses must not hold us here
		n, err := p.read(p.scratch, 0)
		if n == 0 || err != nil {
			return err
		}
	}
	return nil
}

// close leaves what was written to the other end: a handle that is closed
// without DisconnectNamedPipe throws nothing away.
func (p *pipe) close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	p.writing.Lock()
	defer p.writing.Unlock()
	p.r.close()
	p.w.close()
	err := windows.CloseHandle(p.r.h)
	if p.w.h != p.r.h {
		err = errors.Join(err, windows.CloseHandle(p.w.h))
	}
	return err
}

func classify(err error) error {
	if err != nil && rawio.Gone(err) { // asking makes garbage
		return ErrGone
	}
	return err
}
