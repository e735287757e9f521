package realtime

import (
	"errors"

	"golang.org/x/sys/unix"
)

// atStart are the processors that this process may use, before any thread of
// it was bound to one.
var atStart = func() (set unix.CPUSet) {
	_ = unix.SchedGetaffinity(0, &set) // none: nothing will be moved
	return set
}()

func (o *observed) processor() (int, bool) {
	text, ok := content(o.stat)
	if !ok {
		return 0, false
	}
	cpu, err := parseProcessor(text)
	return cpu, err == nil
}

type placed struct{ tid int }

func (p *placed) open() { p.tid = unix.Gettid() }

func (p *placed) move(cpu int, on bool) (string, error) {
	set := atStart
	if on {
		set.Zero()
		set.Set(cpu)
	} else {
		set.Clear(cpu)
	}
	err := errors.ErrUnsupported
	if set.Count() > 0 {
		err = unix.SchedSetaffinity(p.tid, &set)
	}
	var got unix.CPUSet
	if e := unix.SchedGetaffinity(p.tid, &got); e != nil {
		return "", errors.Join(err, e)
	}
	return cpuList(&got), err
}
