package serialport

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// errorCounts are the line errors of an open port. Drivers tell them in two
// ways: as statistics (IOCTL_SERIAL_GET_STATS: serial.sys and most others), or
// only as flags that say which kinds there were since the last look. With
// flags alone each look counts at most one of a kind, so the count is a least
// one. A break is in no statistics: it always comes from the flags.
type errorCounts struct {
	mu      sync.Mutex
	h       windows.Handle
	counted bool // the driver has statistics
	flags   Counters
}

// Of ClearCommError (winbase.h).
const (
	ceRxOver  = 0x01 // the driver's buffer
	ceOverrun = 0x02 // the UART
	ceParity  = 0x04
	ceFrame   = 0x08
	ceBreak   = 0x10
)

// start forgets what was there, and finds out what the driver can tell.
func (e *errorCounts) start(h windows.Handle) {
	var flags uint32
	windows.ClearCommError(h, &flags, nil)
	e.h = h
	_, err := serialStats(h)
	e.counted = err == nil
}

// look counts the flags since the last look and gives how many characters
// wait to be read.
func (e *errorCounts) look(h windows.Handle) (there int, err error) {
	var flags uint32
	var stat windows.ComStat
	if err := windows.ClearCommError(h, &flags, &stat); err != nil {
		return 0, err
	}
	e.add(flags)
	return int(stat.CBInQue), nil
}

func (e *errorCounts) add(flags uint32) {
	if flags == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range []struct {
		bit   uint32
		count *uint32
	}{
		{ceRxOver, &e.flags.BufferOverrun}, {ceOverrun, &e.flags.Overrun}, {ceParity, &e.flags.Parity},
		{ceFrame, &e.flags.Framing}, {ceBreak, &e.flags.Break},
	} {
		if flags&f.bit != 0 {
			*f.count++
		}
	}
}

// counters merges both sources.
func (p *winPort) counters() (Counters, error) {
	if _, err := p.errored.look(p.h); err != nil {
		return Counters{}, p.wrap("read the line counters of", err)
	}
	return p.errored.read()
}

func (e *errorCounts) read() (Counters, error) {
	e.mu.Lock()
	c := e.flags
	e.mu.Unlock()
	if !e.counted {
		return c, nil
	}
	s, err := serialStats(e.h)
	if err != nil {
		return c, err
	}
	return Counters{
		Framing: s.framing, Parity: s.parity, Overrun: s.overrun, BufferOverrun: s.bufferOverrun,
		Break: c.Break, Rx: s.received, Tx: s.sent,
	}, nil
}

// serialPerfStats is SERIALPERF_STATS of ntddser.h.
type serialPerfStats struct {
	received, sent                          uint32
	framing, overrun, bufferOverrun, parity uint32
}

// ioctlGetStats is IOCTL_SERIAL_GET_STATS: CTL_CODE(FILE_DEVICE_SERIAL_PORT, 35,
// METHOD_BUFFERED, FILE_ANY_ACCESS).
const ioctlGetStats = 0x1b<<16 | 35<<2

// serialStats asks the driver, on a call of its own: it allocates, and is asked
// before and after a run only.
func serialStats(h windows.Handle) (s serialPerfStats, err error) {
	o, err := newOverlapped()
	if err != nil {
		return s, err
	}
	defer o.close()
	out := new(serialPerfStats)
	var n uint32
	err = windows.DeviceIoControl(h, ioctlGetStats, nil, 0, (*byte)(unsafe.Pointer(out)), uint32(unsafe.Sizeof(*out)), &n, &o.o)
	if err == windows.ERROR_IO_PENDING {
		err = windows.GetOverlappedResult(h, &o.o, &n, true)
	}
	if err == nil && n < uint32(unsafe.Sizeof(*out)) {
		err = ErrUnsupported
	}
	return *out, err
}
