package importer

import (
	"bytes"
	"fmt"
)

// ftrace reads the kernel's trace as trace_pipe, trace-cmd report and perf
// script print it. A read ends with its sys_exit: that is when the bytes came,
// and its return value is their number. Interrupts are channels that must be
// chosen.
//
//	cat-28712   [000] .....  1167.472104: sys_read -> 0x1
//	cat-28712   [000]        1167.472104: sys_exit_read: 0x1
type ftrace struct {
	in    *input
	lines *lineReader
	fds   map[string]string // task: the fd that its last sys_read entry named
}

type traceLine struct {
	task  []byte
	at    decimal
	event []byte // name and what follows
}

// parseTrace finds `[cpu] flags time: event`; the task stands before it.
func parseTrace(line []byte) (t traceLine, ok bool) {
	for from := 0; ; {
		open := bytes.IndexByte(line[from:], '[')
		if open < 0 {
			return t, false
		}
		open += from
		end := bytes.IndexByte(line[open:], ']')
		if end < 0 {
			return t, false
		}
		if allOf(line[open+1:open+end], "0123456789") {
			t.task = bytes.TrimSpace(line[:open])
			return t, t.after(line[open+end+1:])
		}
		from = open + 1
	}
}

// after reads what stands behind the cpu.
func (t *traceLine) after(b []byte) bool {
	b = bytes.TrimLeft(b, " ")
	if len(b) > 0 && b[0]-'0' > 9 || bytes.IndexByte(b, ' ') < bytes.IndexByte(b, ':') {
		_, b, _ = bytes.Cut(b, []byte{' '}) // the flags
		b = bytes.TrimLeft(b, " ")
	}
	d, n := parseDecimal(b, '.')
	if n == 0 || d.exp >= 0 || n == len(b) || b[n] != ':' {
		return false
	}
	t.at, t.event = d, bytes.TrimLeft(b[n+1:], " ")
	return len(t.event) > 0 && len(t.task) > 0
}

func detectFtrace(h head) string {
	yes, of := h.count(func(l []byte) bool {
		_, ok := parseTrace(l)
		return ok || l[0] == '#'
	})
	lines, _ := h.count(func(l []byte) bool { _, ok := parseTrace(l); return ok })
	if lines == 0 || yes*2 < of {
		return fmt.Sprintf("%d of %d lines are TASK [CPU] TIME: EVENT", lines, of)
	}
	return ""
}

func openFtrace(in *input) (reader, error) {
	f := &ftrace{in: in, lines: newLineReader(in), fds: map[string]string{}}
	// The first exit of a task comes without its entry: the next one tells.
	for _, l := range in.head.full() {
		if t, ok := parseTrace([]byte(l)); ok {
			if fd, ok := readEntry(t.event); ok && f.fds[string(t.task)] == "" {
				f.fds[string(t.task)] = string(fd)
			}
		}
	}
	return f, nil
}

func (f *ftrace) next(rec *record) error {
	for {
		line, err := f.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		t, ok := parseTrace(line)
		ns, fits := t.at.ns(unitS)
		if !ok || !fits {
			if !bytes.HasPrefix(line, []byte("cpus=")) {
				f.in.sink.badOrTorn(f.lines.torn, "no TASK [CPU] TIME: EVENT: %.40q", line)
			}
			continue
		}
		rec.at, rec.step = ns, t.at.step(unitS)
		if f.row(t, rec) {
			return nil
		}
	}
}

func (f *ftrace) row(t traceLine, rec *record) bool {
	if fd, ok := readEntry(t.event); ok {
		known := f.fds[string(t.task)] != ""
		if known || len(f.fds) < maxChannels && len(t.task) < maxChannelName {
			f.fds[string(t.task)] = string(fd)
		}
		return false
	}
	if n, ok := readExit(t.event); ok {
		if n <= 0 {
			return false
		}
		name, fd := string(t.task), f.fds[string(t.task)]
		aliases := []string{"rx"}
		if fd != "" {
			aliases = append(aliases, "fd "+fd, name)
			name += " fd " + fd
		}
		rec.ch = f.in.ch.add(name, false, aliases...)
		rec.data = f.in.sink.placeholders(n)
		return true
	}
	return f.other(t, rec)
}

// readEntry gives the fd of `sys_read(fd: 3, …)` or `sys_enter_read: fd: 0x3, …`.
func readEntry(event []byte) ([]byte, bool) {
	if !bytes.HasPrefix(event, []byte("sys_read(")) && !bytes.Contains(event, []byte("sys_enter_read:")) {
		return nil, false
	}
	_, rest, ok := bytes.Cut(event, []byte("fd: "))
	if !ok {
		return nil, false
	}
	end := bytes.IndexAny(rest, ", )")
	if end < 0 {
		end = len(rest)
	}
	fd := bytes.TrimLeft(bytes.TrimPrefix(rest[:end], []byte("0x")), "0")
	if len(fd) == 0 {
		fd = []byte{'0'}
	}
	return fd, end > 0
}

// readExit gives the return value of `sys_read -> 0x1` or `sys_exit_read: 0x1`.
func readExit(event []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(event, []byte("sys_read -> "))
	if !ok {
		_, rest, ok = bytes.Cut(event, []byte("sys_exit_read:"))
	}
	if !ok {
		return 0, false
	}
	rest = bytes.TrimSpace(rest)
	if hex, is := bytes.CutPrefix(rest, []byte("0x")); is {
		if len(hex) == 0 || len(hex) > 15 { // 16 digits: a negative error number
			return -1, true
		}
		var n int64
		for _, c := range hex {
			if hexDigit(c) > 15 {
				return 0, false
			}
			n = n<<4 | int64(hexDigit(c))
		}
		return n, true
	}
	n, ok := parseUint(rest)
	return n, ok || bytes.HasPrefix(rest, []byte("-"))
}

// other makes channels of what is no system call.
func (f *ftrace) other(t traceLine, rec *record) bool {
	name, rest, _ := bytes.Cut(t.event, []byte{':'})
	if bytes.HasPrefix(name, []byte("sys_")) || bytes.Contains(t.event, []byte("sys_enter")) ||
		bytes.Contains(t.event, []byte("sys_exit")) || bytes.Contains(name, []byte("_exit")) {
		return false
	}
	if len(name) > 60 || bytes.IndexByte(name, '(') > 0 {
		return false
	}
	if bytes.Contains(name, []byte("irq_handler_entry")) {
		name = append(append(append([]byte(nil), name...), ':'), rest...)
	}
	rec.ch = f.in.ch.add(string(name), true)
	rec.data = f.in.sink.placeholders(1)
	return true
}
