package importer

import "bytes"

// callKind is what a line of strace is.
type callKind uint8

const (
	callWhole      callKind = iota // read(3, …) = 1
	callUnfinished                 // read(3, <unfinished ...>
	callResumed                    // <... read resumed>…) = 1
	callOther                      // --- SIGTERM …, +++ killed …
)

// straceCall is a line taken apart.
type straceCall struct {
	kind   callKind
	pid    []byte // nothing without -f
	stamp  stamp
	name   []byte
	fd     []byte // digits of the first argument, nothing when it is none
	path   []byte // that -y names, decoded, nil when it does not
	text   []byte // inside the first quotes, still escaped
	result int64  // -1 for errors and ?
	spent  int64  // <T> in ns, -1 without
	entry  int64  // kept for a call that was resumed
}

// maxKept is the longest text of a call that is kept: a path has at most 4096
// bytes, each of which may be an escape of four.
const maxKept = 4 * 4096

// opens says whether the result is a new descriptor.
func (c straceCall) opens() bool {
	switch string(c.name) {
	case "open", "openat", "openat2", "dup", "dup2", "dup3", "socket", "accept", "accept4":
		return c.result >= 0
	}
	return false
}

// opened gives the path that a call opened, nil when it shows none.
func (c straceCall) opened() []byte {
	if !bytes.HasPrefix(c.name, []byte("open")) || len(c.text) == 0 || len(c.text) > maxKept {
		return nil
	}
	return appendUnescaped(nil, c.text)
}

func (c straceCall) clone() straceCall {
	c.pid, c.name, c.fd = bytes.Clone(c.pid), bytes.Clone(c.name), bytes.Clone(c.fd)
	c.path, c.text = bytes.Clone(c.path), nil
	return c
}

// parseStrace reads `[pid N] STAMP call(…) = result <T>`.
func parseStrace(line []byte) (c straceCall, ok bool) {
	c.spent, c.result = -1, -1
	b := c.cutPid(bytes.TrimLeft(line, " "))
	s, n := parseStamp(b)
	if n == 0 || n == len(b) || b[n] != ' ' {
		return c, false
	}
	c.stamp = s
	b = bytes.TrimLeft(b[n:], " ")
	switch {
	case bytes.HasPrefix(b, []byte("+++ ")), bytes.HasPrefix(b, []byte("--- ")):
		c.kind = callOther
		return c, true
	case bytes.HasPrefix(b, []byte("<... ")):
		c.kind = callResumed
		_, b, ok = bytes.Cut(b, []byte("resumed>"))
		if !ok {
			return c, false
		}
		c.quoted(b)
		return c, c.tail(b)
	}
	name, args, found := bytes.Cut(b, []byte{'('})
	if !found || !isName(name) {
		return c, false
	}
	c.name = name
	c.descriptor(args)
	if bytes.HasSuffix(b, []byte("<unfinished ...>")) {
		c.kind = callUnfinished
		return c, true
	}
	c.quoted(args)
	return c, c.tail(args)
}

// cutPid takes off `[pid 123] ` or `123 `.
func (c *straceCall) cutPid(b []byte) []byte {
	if rest, is := bytes.CutPrefix(b, []byte("[pid ")); is {
		if pid, rest, ok := bytes.Cut(rest, []byte("] ")); ok {
			c.pid = bytes.TrimSpace(pid)
			return bytes.TrimLeft(rest, " ")
		}
		return b
	}
	if pid, rest, ok := bytes.Cut(b, []byte{' '}); ok && allOf(pid, "0123456789") {
		c.pid = pid
		return bytes.TrimLeft(rest, " ")
	}
	return b
}

func isName(b []byte) bool {
	for _, c := range b {
		if !(c == '_' || c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z') {
			return false
		}
	}
	return len(b) > 0
}

// descriptor reads `3, ` or `3</dev/pts/1<char 136:1>>, `.
func (c *straceCall) descriptor(args []byte) {
	i := 0
	for i < len(args) && args[i]-'0' <= 9 {
		i++
	}
	if i == 0 || i > 9 || i == len(args) {
		return
	}
	c.fd = args[:i]
	if args[i] != '<' {
		return
	}
	rest := args[i+1:]
	if end := bytes.IndexAny(rest, "<>"); end >= 0 && end < maxKept {
		c.path = appendUnescaped([]byte{}, rest[:end])
	}
}

// quoted finds the first string behind the descriptor.
func (c *straceCall) quoted(args []byte) {
	i := bytes.IndexByte(args, '"')
	if i < 0 {
		return
	}
	b := args[i+1:]
	for j := 0; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			c.text = b[:j]
			return
		}
	}
}

// tail reads `) = 1 <0.000050>`.
func (c *straceCall) tail(b []byte) bool {
	i := bytes.LastIndex(b, []byte(" = "))
	if i < 0 {
		return false
	}
	b = b[i+3:]
	if open := bytes.LastIndexByte(b, '<'); open >= 0 && len(b) > 0 && b[len(b)-1] == '>' {
		if d, n := parseDecimal(b[open+1:], '.'); n > 0 && open+1+n == len(b)-1 {
			if ns, ok := d.ns(unitS); ok && !d.neg {
				c.spent = ns
			}
		}
	}
	end := bytes.IndexByte(b, ' ')
	if end < 0 {
		end = len(b)
	}
	digits, _, _ := bytes.Cut(b[:end], []byte{'<'}) // -y: = 3</dev/ttyUSB0>
	if v, ok := parseUint(digits); ok {
		c.result = v
	}
	return true
}
