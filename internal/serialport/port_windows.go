package serialport

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/windows"

	"serialtiming/internal/serialport/rawio"
)

// Ports are opened here and not through go.bug.st/serial: its handle is hidden
// and Windows lets a port be opened once, so there would be no line errors
// (ClearCommError), no read without garbage (it makes an event and an
// OVERLAPPED for each), and no COM port whose driver lacks modem lines.

// winPort is an open port. A read of one character is always under way: it
// ends with the first character that arrives, and what else is there by then
// is fetched by its exact number. Nothing is cancelled but by Close, so that
// no character can be lost between two reads; and nothing depends on
// COMMTIMEOUTS, which drivers and emulators honour differently.
type winPort struct {
	h      windows.Handle
	config Config
	info   Info

	reading sync.Mutex
	first   *overlapped // the read that waits
	rest    *overlapped // the read of what is there
	begun   bool        // first is under way
	one     []byte      // where first reads to

	writing sync.Mutex
	out     *overlapped

	closed  atomic.Bool
	errored errorCounts
}

// openSystem opens and configures.
func openSystem(name string, c Config) (Port, error) {
	h, err := openHandle(name)
	if err != nil {
		return nil, openError(name, err)
	}
	p := &winPort{h: h, config: c, info: describe(name), one: make([]byte, 1)}
	if err := p.setUp(); err != nil {
		p.Close()
		return nil, openError(name, err)
	}
	return p, nil
}

// openHandle opens exclusively, as Windows wants it.
func openHandle(name string) (windows.Handle, error) {
	path, err := devicePath(name)
	if err != nil {
		return 0, err
	}
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE
	h, err := windows.CreateFile(path, access, 0, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return 0, refusal(path, err)
	}
	var dcb windows.DCB
	dcb.DCBlength = dcbLength
	if err := windows.GetCommState(h, &dcb); err != nil {
		windows.CloseHandle(h)
		return 0, fmt.Errorf("%w: %w", ErrNotPort, err)
	}
	return h, nil
}

// devicePath is \\.\COM10: without that prefix only COM1 to COM9 would be
// found, and any file of that name. What is no plain name is no port.
func devicePath(name string) (*uint16, error) {
	plain := plainName(name)
	if plain == "" || strings.ContainsAny(plain, "\\/:*?\"<>|\x00") {
		return nil, fmt.Errorf("%w: a port is called COM3 or the like", ErrNotPort)
	}
	return windows.UTF16PtrFromString(`\\.\` + plain)
}

// plainName is COM3, however it was written.
func plainName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, `\\.\`), ":")
}

// refusal tells "busy" from "denied", which are one error here: a port that
// somebody has open refuses every open, one that this user may not have
// refuses reading and writing only.
func refusal(path *uint16, err error) error {
	switch {
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case !errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return err
	}
	h, again := windows.CreateFile(path, 0, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if again != nil {
		return fmt.Errorf("%w: another program has it open", ErrBusy)
	}
	windows.CloseHandle(h)
	return fmt.Errorf("%w: %w", ErrDenied, err)
}

// setUp configures the open port and starts the first read.
func (p *winPort) setUp() error {
	for _, o := range []**overlapped{&p.first, &p.rest, &p.out} {
		made, err := newOverlapped()
		if err != nil {
			return err
		}
		*o = made
	}
	if err := p.configure(); err != nil {
		return err
	}
	// The driver's buffers: a second of the fastest usual line. A driver that
	// takes no advice keeps its own.
	windows.SetupComm(p.h, 1<<16, 1<<12)
	if err := windows.SetCommTimeouts(p.h, &windows.CommTimeouts{}); err != nil {
		return fmt.Errorf("SetCommTimeouts: %w", err)
	}
	if p.config.LowLatency {
		p.info.Latency = p.lowLatency()
	}
	if !p.config.KeepInput {
		if err := windows.PurgeComm(p.h, windows.PURGE_RXCLEAR); err != nil {
			return fmt.Errorf("PurgeComm: %w", err)
		}
	}
	p.errored.start(p.h)
	if !p.errored.counted {
		p.info.Warnings = append(p.info.Warnings, "its driver counts no line errors, it only tells that there were some: their number is a least one")
	}
	return nil
}

func (p *winPort) Info() Info          { return p.info }
func (p *winPort) Fd() (uintptr, bool) { return 0, false }

// Read waits for the first character, then fetches what else is there.
func (p *winPort) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	n, err := p.firstByte(p.config.ReadTimeout)
	if n == 0 || err != nil {
		return 0, p.wrap("read from", err)
	}
	b[0] = p.one[0]
	more, err := p.waiting(b[1:])
	return 1 + more, p.wrap("read from", err)
}

// firstByte waits at most limit for the read that is under way.
func (p *winPort) firstByte(limit time.Duration) (int, error) {
	if p.closed.Load() {
		return 0, ErrClosed
	}
	if !p.begun {
		err := windows.ReadFile(p.h, p.one, nil, &p.first.o)
		if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
			return 0, err
		}
		p.begun = true
	}
	n, err := p.first.await(p.h, limit)
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		// Counts errors that came without a character, and finds out a driver
		// that does not end the read of an unplugged adapter.
		_, err = p.errored.look(p.h)
		return 0, err
	}
	p.begun = false
	if p.closed.Load() {
		return 0, ErrClosed
	}
	return n, err
}

// waiting reads as many characters as the driver says are there, so that the
// read ends at once.
func (p *winPort) waiting(b []byte) (int, error) {
	there, err := p.errored.look(p.h)
	if err != nil || there == 0 || len(b) == 0 {
		return 0, err
	}
	b = b[:min(len(b), there)]
	err = windows.ReadFile(p.h, b, nil, &p.rest.o)
	if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
		return 0, err
	}
	n, err := p.rest.await(p.h, DrainLimit)
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		return p.rest.cancel(p.h)
	}
	return n, err
}

// Write waits until the driver has taken all of b. A single character gives up
// after 100 ms with (0, nil), so that a hot loop, which writes no more at a
// time, can look whether to stop.
func (p *winPort) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	done := 0
	for done < len(b) {
		n, err := p.writeSome(b[done:])
		done += n
		if err != nil {
			return done, p.wrap("write to", err)
		}
		if n == 0 && len(b) == 1 {
			return 0, nil
		}
	}
	return done, nil
}

// writeLimit is when a write that the driver does not take is tried again.
const writeLimit = 100 * time.Millisecond

func (p *winPort) writeSome(b []byte) (int, error) {
	if p.closed.Load() {
		return 0, ErrClosed
	}
	err := windows.WriteFile(p.h, b, nil, &p.out.o)
	if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
		return 0, err
	}
	n, err := p.out.await(p.h, writeLimit)
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		return p.out.cancel(p.h)
	}
	return n, err
}

// Drain looks at the driver's output queue, since FlushFileBuffers cannot be
// given a limit.
func (p *winPort) Drain() error {
	for end := time.Now().Add(DrainLimit); ; time.Sleep(time.Millisecond) {
		if p.closed.Load() {
			return p.wrap("drain", ErrClosed)
		}
		var flags uint32
		var stat windows.ComStat
		if err := windows.ClearCommError(p.h, &flags, &stat); err != nil {
			return p.wrap("drain", err)
		}
		p.errored.add(flags)
		if stat.CBOutQue == 0 {
			return p.wrap("drain", p.flushOut())
		}
		if time.Now().After(end) {
			return p.wrap("drain", fmt.Errorf("%d characters were not taken within %v", stat.CBOutQue, DrainLimit))
		}
	}
}

// flushOut waits for what has left the queue and is still in the UART.
func (p *winPort) flushOut() error {
	done := make(chan error, 1)
	go func() { done <- windows.FlushFileBuffers(p.h) }()
	select {
	case err := <-done:
		return err
	case <-time.After(DrainLimit):
		return fmt.Errorf("the last characters were not sent within %v", DrainLimit)
	}
}

// Flush throws away what has arrived, also the character that the read under
// way has got already.
func (p *winPort) Flush() error {
	p.reading.Lock()
	defer p.reading.Unlock()
	if err := windows.PurgeComm(p.h, windows.PURGE_RXCLEAR); err != nil {
		return p.wrap("flush", err)
	}
	if !p.begun {
		return nil
	}
	_, err := p.first.await(p.h, 0)
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		return nil // none has come: it waits on
	}
	p.begun = false
	return p.wrap("flush", err)
}

// Close ends a read or write that is under way, within 100 ms.
func (p *winPort) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.begun {
		_, _ = p.first.cancel(p.h)
		p.begun = false
	}
	for _, o := range []*overlapped{p.first, p.rest, p.out} {
		o.close()
	}
	return p.wrap("close", windows.CloseHandle(p.h))
}

// wrap gives an error its class. A port that is open and then denies, or ends
// a read that nobody cancelled, was unplugged: that is how the drivers of USB
// adapters tell it.
func (p *winPort) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	for _, e := range []error{windows.ERROR_OPERATION_ABORTED, windows.ERROR_ACCESS_DENIED, windows.ERROR_FILE_NOT_FOUND, windows.ERROR_IO_DEVICE, windows.ERROR_NOT_READY} {
		if errors.Is(err, e) {
			err = fmt.Errorf("%w: %w", rawio.ErrGone, err)
		}
	}
	return Fault(p, op, err)
}
