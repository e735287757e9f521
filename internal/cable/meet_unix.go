//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	meetingDir  = "/tmp"          // the same for everybody, whatever TMPDIR says
	filePrefix  = "serialtiming-" // short: a socket's path has room for 103 characters
	wireVersion = 1
	// answerLimit bounds each step of two ends' meeting: they talk over a
	// socket of one machine, so a second is a process that hangs.
	answerLimit = 2 * time.Second
	maxMessage  = 4096
	// busyLimit is how long a cable has to be taken to be called busy: an end
	// whose other end has just exited takes a moment to hear of it.
	busyLimit = 500 * time.Millisecond
)

// message is what ends say when they meet, a line of JSON each: "hello" from
// the one that comes, then "ok" (with the slave's and the master's descriptor)
// or "busy" from the one that is there, then "ack".
type message struct {
	Version int    `json:"v"`
	Kind    string `json:"kind"`
	Who     []Peer `json:"who,omitempty"`
	Path    string `json:"path,omitempty"`
}

// open joins an end that waits, or else becomes the end that waits.
func open(ctx context.Context, name string, o Options) (*Port, error) {
	m := meeting{dir: o.dir, name: name}
	if m.dir == "" {
		m.dir = meetingDir
	}
	if err := m.checkDir(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(busyLimit); ; {
		p, err := m.open(ctx, o)
		if !errors.Is(err, errTaken) || time.Now().After(deadline) {
			return p, err
		}
		time.Sleep(busyLimit / 20)
	}
}

// open tries once.
func (m meeting) open(ctx context.Context, o Options) (*Port, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	p, err := m.join(ctx)
	if p != nil || err != nil {
		unlock()
		return p, err
	}
	own, err := m.listen()
	unlock()
	if err != nil {
		return nil, err
	}
	return own.wait(ctx, o)
}

// meeting is the place where the ends of one cable find each other.
type meeting struct{ dir, name string }

func (m meeting) prefix() string { return filePrefix + m.name + "~" } // no name holds a ~

// checkDir refuses a directory in which others could replace our files.
func (m meeting) checkDir() error {
	i, err := os.Stat(m.dir)
	if err != nil {
		return &Error{Err: err}
	}
	if i.Mode().Perm()&0o022 != 0 && i.Mode()&os.ModeSticky == 0 {
		return &Error{
			Err:  fmt.Errorf("%s is writable for others and not sticky", m.dir),
			Hint: "sudo chmod +t " + m.dir,
		}
	}
	return nil
}

// join connects to the end that waits: (nil, nil) if there is none.
func (m meeting) join(ctx context.Context) (*Port, error) {
	all, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, &Error{Err: err}
	}
	for _, f := range all {
		if f.Type() != os.ModeSocket || !strings.HasPrefix(f.Name(), m.prefix()) {
			continue
		}
		p, err := m.tryJoin(ctx, filepath.Join(m.dir, f.Name()))
		if p != nil || err != nil {
			return p, err
		}
	}
	return nil, nil
}

// tryJoin connects to one socket: (nil, nil) if nobody listens there, in
// which case the file is removed, if it may be.
func (m meeting) tryJoin(ctx context.Context, path string) (*Port, error) {
	d := net.Dialer{Timeout: answerLimit}
	c, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
	case errors.Is(err, unix.ECONNREFUSED):
		os.Remove(path) // left by a process that was killed
		return nil, nil
	case errors.Is(err, unix.ENOENT):
		return nil, nil
	default:
		return nil, &Error{Err: fmt.Errorf("%s: %w", path, err)}
	}
	conn := c.(*net.UnixConn)
	p, err := m.greet(conn)
	if p == nil {
		conn.Close()
	}
	if errors.Is(err, errHungUp) {
		return nil, nil
	}
	return p, err
}

// errTaken: two ends are plugged in.
var errTaken = fmt.Errorf("%w: its two ends are held by", ErrBusy)

// errHungUp: the end that waited stopped waiting while it was greeted.
var errHungUp = errors.New("hung up")

// greet says hello and takes what comes.
func (m meeting) greet(conn *net.UnixConn) (*Port, error) {
	if !mayMeet(conn) {
		return nil, &Error{
			Err:  fmt.Errorf("%w: another user has this cable", ErrBusy),
			Hint: "take another name on both ends, as in --port cable:" + m.name + "-2",
		}
	}
	if err := conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return nil, &Error{Err: err}
	}
	hello := message{Version: wireVersion, Kind: "hello", Who: []Peer{self()}}
	if err := send(conn, hello); err != nil {
		return nil, errHungUp
	}
	r, fds, err := receive(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &Error{
			Err:  fmt.Errorf("%w: the process that waits at the other end does not answer", ErrBusy),
			Hint: "end that process, or take another name on both ends",
		}
	}
	if err != nil {
		return nil, errHungUp
	}
	if r.Kind != "ok" {
		closeAll(fds)
		return nil, m.refused(r)
	}
	return m.accept(conn, r, fds)
}

// refused tells why the end that was there did not take us.
func (m meeting) refused(r message) error {
	if r.Kind != "busy" {
		return &Error{
			Err:  fmt.Errorf("the other end speaks version %d of the cable, this one %d", r.Version, wireVersion),
			Hint: "take sender and receiver of the same version",
		}
	}
	var who []string
	for _, p := range r.Who[:min(len(r.Who), 2)] {
		who = append(who, p.clean().String())
	}
	return &Error{
		Err:  fmt.Errorf("%w %s", errTaken, strings.Join(who, " and ")),
		Hint: "end one of them, or take another name on both ends, as in --port cable:" + m.name + "-2",
	}
}

// accept takes the descriptors, says ack, and is plugged in.
func (m meeting) accept(conn *net.UnixConn, r message, fds []int) (*Port, error) {
	if len(fds) != 2 || !isTerminal(fds[0]) || !isTerminal(fds[1]) {
		closeAll(fds)
		return nil, errHungUp
	}
	if err := send(conn, message{Version: wireVersion, Kind: "ack"}); err != nil {
		closeAll(fds)
		return nil, errHungUp
	}
	e, err := newEnd(fds[0], fds[1], conn, func() {})
	if err != nil {
		closeAll(fds)
		return nil, &Error{Err: err}
	}
	p := &Port{line: e, path: r.Path}
	if len(r.Who) > 0 {
		p.peer = r.Who[0].clean()
	}
	return p, nil
}

// mayMeet: both ends belong to one user, or one of them is root.
func mayMeet(conn *net.UnixConn) bool {
	uid, known := peerUID(conn)
	return !known || uid == 0 || os.Geteuid() == 0 || uid == os.Geteuid()
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	return err == nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// send writes one message, with descriptors.
func send(conn *net.UnixConn, m message, fds ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_, _, err = conn.WriteMsgUnix(append(b, '\n'), rights, nil)
	return err
}

// receive reads one message and the descriptors that came with it, which are
// the caller's to close.
func receive(conn *net.UnixConn) (message, []int, error) {
	var m message
	var fds []int
	line := make([]byte, 0, maxMessage)
	oob := make([]byte, unix.CmsgSpace(4*8))
	for !bytes.HasSuffix(line, []byte("\n")) {
		if len(line) == cap(line) {
			closeAll(fds)
			return m, nil, errors.New("message too long")
		}
		n, oobn, _, _, err := conn.ReadMsgUnix(line[len(line):cap(line)], oob)
		fds = append(fds, rights(oob[:oobn])...)
		if err != nil {
			closeAll(fds)
			return m, nil, err
		}
		line = line[:len(line)+n]
	}
	if err := json.Unmarshal(line, &m); err != nil {
		closeAll(fds)
		return m, nil, err
	}
	return m, fds, nil
}

// rights takes descriptors out of a control message.
func rights(oob []byte) []int {
	var fds []int
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			continue
		}
		for _, fd := range got {
			unix.CloseOnExec(fd)
		}
		fds = append(fds, got...)
	}
	return fds
}
