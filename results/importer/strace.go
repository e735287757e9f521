package importer

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// strace reads strace -ttt, -tt and -r, with -T, -f, -y, -xx in any mixture.
//
//	1796039122.116921 read(3</dev/ttyUSB0>, "\37", 131072) = 1 <0.019800>
//
// A stamp is the instant at which a call was entered. The bytes of a read that
// waited arrived when it returned: at entry + <T>, without -T at the latest
// when the same thread entered its next call, which is taken then.
//
// A read that returned 0 ends a stream, as closing or opening the descriptor
// does. Which stream is the last one, only the end of the log shows: the log
// is read twice.
type strace struct {
	in      *input
	lines   *lineReader
	clock   straceClock
	waiting map[string]*straceRead // by pid: a read without <T>, until its thread's next line
	entered map[string]straceCall  // by pid: an unfinished call
	ready   []*straceRead
	free    []*straceRead
	streams map[string]*stream
	scan    bool // first pass
	ended   bool
	others  int // reads and writes of files, pipes and sockets
}

// straceRead is a read or write that brought bytes.
type straceRead struct {
	at, step int64
	ch       *channel
	data     []byte
	unknown  bool // its text was cut
}

// stream counts the streams of one descriptor: those with data in all, and the
// present one.
type stream struct {
	last, now int
	hasData   bool
	path      []byte // that an open in the log named, nil when none did
}

// end is the end of a stream, if one had begun.
func (st *stream) end() {
	if st.hasData {
		st.now, st.hasData = st.now+1, false
	}
}

// stream finds the stream of the descriptor that a call is about, nil beyond a
// limit that no serial program reaches.
func (s *strace) stream(c straceCall) *stream {
	key := append(append([]byte(nil), c.pid...), ' ')
	if c.opens() {
		key = strconv.AppendInt(key, c.result, 10)
	} else {
		key = append(key, c.fd...)
	}
	st := s.streams[string(key)]
	if st == nil && len(s.streams) < maxChannels {
		st = &stream{}
		s.streams[string(key)] = st
	}
	return st
}

// maxWaiting bounds what is kept of reads whose return is not known yet.
const maxWaiting = 100

// A descriptor that is polled returns 0 all the time without ending anything.
const maxStreams = 16

func detectStrace(h head) string {
	calls := 0
	yes, of := h.count(func(l []byte) bool {
		c, ok := parseStrace(l)
		if ok && c.kind == callWhole {
			calls++
		}
		return ok
	})
	if calls == 0 || yes*2 < of {
		return fmt.Sprintf("%d of %d lines are a stamp and a system call", calls, of)
	}
	return ""
}

func openStrace(in *input) (reader, error) {
	if err := in.rewindable(); err != nil {
		return nil, err
	}
	s := &strace{in: in, streams: map[string]*stream{}}
	s.begin(true)
	var rec record
	for {
		if err := s.next(&rec); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	in.sink.mute = false
	for _, st := range s.streams {
		if st.last = st.now; !st.hasData {
			st.last = max(0, st.last-1)
		}
		if st.last > maxStreams {
			in.sink.warn("reads return 0 all the time: taken for a descriptor that is polled, not for the end of a stream")
		}
		st.now, st.hasData, st.path = 0, false, nil
	}
	if err := in.rewind(); err != nil {
		return nil, err
	}
	in.sink.line, in.sink.report.Torn = 0, false
	s.begin(false)
	return s, nil
}

func (s *strace) begin(scan bool) {
	s.scan, s.in.sink.mute = scan, scan
	s.lines = newLineReader(s.in)
	s.clock = straceClock{wrap: unwrapper{period: dayNs, sink: s.in.sink}}
	s.waiting, s.entered = map[string]*straceRead{}, map[string]straceCall{}
	s.ready, s.ended, s.others = nil, false, 0
}

func (s *strace) next(rec *record) error {
	for len(s.ready) == 0 {
		if s.ended {
			return io.EOF
		}
		line, err := s.lines.next()
		if err == io.EOF {
			s.ended = true
			if len(s.waiting) > 0 {
				s.in.sink.warn("the last read of a thread has neither <T> nor a line after it: when it returned is not known")
			}
			if s.others > 0 && len(s.in.ch.all) == 0 && !s.scan {
				s.in.sink.warn("only terminals and devices are channels: %d reads and writes of others are left out", s.others)
			}
			return io.EOF
		}
		if err != nil {
			return err
		}
		s.line(line)
	}
	r := s.ready[0]
	s.ready = append(s.ready[:0], s.ready[1:]...)
	rec.at, rec.step, rec.ch, rec.data, rec.unknown = r.at, r.step, r.ch, r.data, r.unknown
	s.free = append(s.free, r)
	return nil
}

func (s *strace) line(line []byte) {
	if len(line) == 0 {
		return
	}
	c, ok := parseStrace(line)
	if !ok {
		s.in.sink.badOrTorn(s.lines.torn, "no stamp and system call: %.40q", line)
		return
	}
	at := s.clock.put(c.stamp)
	if w := s.waiting[string(c.pid)]; w != nil {
		w.at = at
		s.ready = append(s.ready, w)
		delete(s.waiting, string(c.pid))
	}
	switch c.kind {
	case callUnfinished:
		if len(s.entered) < maxChannels && len(line) < maxKept {
			kept := c.clone()
			kept.entry = at
			s.entered[string(c.pid)] = kept
		}
	case callResumed:
		e, ok := s.entered[string(c.pid)]
		if !ok {
			return
		}
		delete(s.entered, string(c.pid))
		c.name, c.fd, c.path = e.name, e.fd, e.path
		c.pid = e.pid
		if c.spent >= 0 {
			s.call(c, e.entry)
		} else {
			c.spent = 0 // the stamp of <... resumed> is the return
			s.call(c, at)
		}
	case callWhole:
		s.call(c, at)
	}
}

// call takes a call that returned; entry is when it was entered.
func (s *strace) call(c straceCall, entry int64) {
	dir, st := directionOf(c.name), s.stream(c)
	switch {
	case st == nil:
		return
	case c.opens():
		st.end()
		st.path = c.opened()
		return
	case string(c.name) == "close" || dir == "rx" && c.result == 0:
		st.end()
		return
	case dir == "" || c.result <= 0:
		return
	}
	if c.path == nil {
		c.path = st.path
	}
	if c.path != nil && !isDevice(c.path) {
		s.others++
		return
	}
	if dir == "rx" {
		st.hasData = true
	}
	if s.scan {
		return
	}
	r := s.take()
	r.step, r.ch = c.stamp.step, s.channel(c, dir, st)
	r.data, r.unknown = s.data(r.data[:0], c)
	switch {
	case dir == "tx":
		r.at = entry
	case c.spent >= 0:
		r.at = entry + c.spent
	case len(s.waiting) < maxWaiting:
		s.waiting[string(c.pid)] = r
		return
	default:
		s.in.sink.bad("the reads of more than %d threads wait for a line of their thread: when this one returned is not known", maxWaiting)
		return
	}
	s.ready = append(s.ready, r)
}

func (s *strace) take() *straceRead {
	if n := len(s.free); n > 1 { // the one given out last is still in use
		r := s.free[0]
		s.free = append(s.free[:0], s.free[1:]...)
		return r
	}
	return &straceRead{}
}

// data decodes the text of a call; where it was cut, placeholders fill up to
// the return value.
func (s *strace) data(dst []byte, c straceCall) (data []byte, cut bool) {
	dst = appendUnescaped(dst, c.text)
	n := c.result
	if cut = int64(len(dst)) < n; cut {
		return append(dst, s.in.sink.placeholders(n-int64(len(dst)))...), true
	}
	return dst[:n], false
}

// channel names `fd 3 rx`, with the thread and the stream where there are
// several.
func (s *strace) channel(c straceCall, dir string, st *stream) *channel {
	fd := "fd " + string(c.fd)
	name := fd + " " + dir
	if len(c.pid) > 0 {
		name = "pid " + string(c.pid) + " " + name
	}
	if dir == "tx" {
		return s.in.ch.add(name, true, "tx", fd+" tx", string(c.path))
	}
	if st.now < st.last && st.last <= maxStreams {
		return s.in.ch.add(fmt.Sprintf("%s stream %d", name, st.now+1), true)
	}
	return s.in.ch.add(name, false, "rx", fd+" rx", fd, string(c.fd), string(c.path))
}

func directionOf(call []byte) string {
	switch string(call) {
	case "read", "pread64", "readv", "recv", "recvfrom", "recvmsg":
		return "rx"
	case "write", "pwrite64", "writev", "send", "sendto", "sendmsg":
		return "tx"
	}
	return ""
}

// isDevice tells a terminal or device by the name that -y prints.
func isDevice(path []byte) bool {
	return bytes.HasPrefix(path, []byte("/dev/"))
}

// straceClock adds up -r, and turns -tt and -ttt into one scale.
type straceClock struct {
	now  int64
	wrap unwrapper
}

func (k *straceClock) put(s stamp) int64 {
	switch {
	case s.kind == timeOfDay:
		return k.wrap.put(s.ns)
	case s.ns < 1e8*second: // -r: no epoch is that early
		k.now += s.ns
		return k.now
	}
	return s.ns
}
