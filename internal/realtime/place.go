package realtime

import (
	"strconv"
	"strings"
)

// CPU gives the processor that the thread runs on, or ran on last; ok is false
// where the system does not tell.
func (o *Observed) CPU() (cpu int, ok bool) { return o.processor() }

// Placed is a thread that others may move between processors.
type Placed struct{ placed }

// PlaceThread makes the calling thread movable, to which its goroutine is
// locked.
func PlaceThread() *Placed {
	p := &Placed{}
	p.open()
	return p
}

// On keeps the thread on one processor, Off on the others that this process
// had when it began. Either gives the processors in force, as the kernel
// writes a list (0-3,6), and the error that it met: errors.ErrUnsupported
// where the system has no such call, or no other processor.
func (p *Placed) On(cpu int) (got string, err error)  { return p.move(cpu, true) }
func (p *Placed) Off(cpu int) (got string, err error) { return p.move(cpu, false) }

// parseProcessor reads the processor out of a thread's stat (field 39, proc(5)).
func parseProcessor(stat string) (int, error) {
	// The command in parentheses may hold anything; the last one ends it.
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 37 {
		return 0, errShape
	}
	return strconv.Atoi(f[36])
}
