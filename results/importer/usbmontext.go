package importer

import (
	"bytes"
	"fmt"
)

// usbmonText reads the kernel's usbmon text interface (/sys/kernel/debug/usb/
// usbmon/1u). Bulk transfers are channels: what came in when it completed, what
// went out when it was submitted. The data is cut at 32 bytes.
//
//	ffff88003d1c2a80 3575914555 C Bi:3:028:1 0 3 = 515806
type usbmonText struct {
	in    *input
	lines *lineReader
	wrap  unwrapper
	data  []byte
}

type usbmonLine struct {
	us    int64
	event byte   // S, C or E
	pipe  []byte // Bi:3:028:1
	len   int64
	words [][]byte
}

func parseUsbmon(line []byte) (u usbmonLine, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 5 || len(f[0]) < 8 || !allOf(f[0], "0123456789abcdef") || len(f[2]) != 1 || len(f[3]) < 5 {
		return u, false
	}
	u.us, ok = parseUint(f[1])
	u.event, u.pipe = f[2][0], f[3]
	if !ok || bytes.IndexByte([]byte("SCE"), u.event) < 0 || bytes.IndexByte([]byte("CZIB"), u.pipe[0]) < 0 ||
		u.pipe[1] != 'i' && u.pipe[1] != 'o' || u.pipe[2] != ':' {
		return u, false
	}
	if u.pipe[0] != 'B' || len(f) < 6 {
		return u, true
	}
	if u.len, ok = parseUint(f[5]); ok && len(f) > 7 && f[6][0] == '=' {
		u.words = f[7:]
	}
	return u, true
}

func detectUsbmonText(h head) string {
	yes, of := h.count(func(l []byte) bool { _, ok := parseUsbmon(l); return ok })
	if yes == 0 || yes*2 < of {
		return fmt.Sprintf("%d of %d lines are a tag, µs, S|C|E and a pipe", yes, of)
	}
	return ""
}

// Older kernels print the seconds modulo 4096.
const usbmonWrap = 4096 * second

func openUsbmonText(in *input) (reader, error) {
	return &usbmonText{in: in, lines: newLineReader(in), wrap: unwrapper{period: usbmonWrap, sink: in.sink}}, nil
}

func (u *usbmonText) next(rec *record) error {
	for {
		line, err := u.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		l, ok := parseUsbmon(line)
		if !ok || l.us > 1e15 {
			u.in.sink.badOrTorn(u.lines.torn, "no usbmon event: %.40q", line)
			continue
		}
		at := l.us * 1000
		if at < usbmonWrap {
			at = u.wrap.put(at)
		}
		in := l.pipe[1] == 'i'
		if l.pipe[0] != 'B' || l.len == 0 || in != (l.event == 'C') || !in && l.event != 'S' {
			continue
		}
		rec.at, rec.step = at, 1000
		rec.ch = u.channel(l.pipe, in)
		rec.data = u.bytes(l)
		rec.unknown = len(l.words) == 0 || l.len > 32
		return nil
	}
}

func (u *usbmonText) channel(pipe []byte, in bool) *channel {
	dir := "tx"
	if in {
		dir = "rx"
	}
	return u.in.ch.add("usb "+string(pipe[3:])+" "+dir, false, dir, string(pipe))
}

// bytes decodes the words `515806 0a`; more than they hold, is not known.
func (u *usbmonText) bytes(l usbmonLine) []byte {
	n := int(min(l.len, maxUnknown))
	u.data = u.data[:0]
	for _, w := range l.words {
		for i := 0; i+1 < len(w) && len(u.data) < n; i += 2 {
			hi, lo := hexDigit(w[i]), hexDigit(w[i+1])
			if hi > 15 || lo > 15 {
				break
			}
			u.data = append(u.data, hi<<4|lo)
		}
	}
	if len(u.data) < n {
		u.data = append(u.data, u.in.sink.placeholders(int64(n-len(u.data)))...)
	}
	return u.data
}
