//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package cable

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// owner is the end that came first: it has the terminal and listens for the
// other end, and then, while the cable is in use, for those that come too late.
type owner struct {
	meeting
	*terminal
	sock *net.UnixListener

	mu     sync.Mutex
	state  state
	who    []Peer // the ends, when taken
	joined chan *Port
}

type state int

const (
	waiting state = iota
	offered       // the descriptors are on their way to an end that came
	taken
	closed // waits no longer
)

// listen creates the terminal and the socket. The caller holds the lock.
func (m meeting) listen() (*owner, error) {
	t, err := newTerminal()
	if err != nil {
		return nil, &Error{Err: err}
	}
	var r [6]byte
	rand.Read(r[:])
	path := filepath.Join(m.dir, m.prefix()+hex.EncodeToString(r[:]))
	sock, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.close()
		return nil, &Error{Err: fmt.Errorf("wait at %s: %w", path, err)}
	}
	// Whoever comes is judged by its credentials (mayMeet), not by this mode.
	if err := os.Chmod(path, 0o666); err != nil {
		t.close()
		sock.Close()
		return nil, &Error{Err: err}
	}
	return &owner{meeting: m, terminal: t, sock: sock, joined: make(chan *Port, 1)}, nil
}

// wait lets the other end in.
func (o *owner) wait(ctx context.Context, opt Options) (*Port, error) {
	opt.Waiting()
	go o.serve()
	timer := time.NewTimer(opt.Wait)
	defer timer.Stop()
	var err error
	select {
	case p := <-o.joined:
		return p, nil
	case <-timer.C:
		err = noPeer(o.name, opt.Wait)
	case <-ctx.Done():
		err = &Error{Err: context.Cause(ctx)}
	}
	return o.giveUp(err)
}

// giveUp stops waiting; an end that came in this very moment is still taken.
func (o *owner) giveUp(err error) (*Port, error) {
	for !o.shut() {
		select {
		case p := <-o.joined:
			return p, nil
		case <-time.After(poll): // an end is being let in, or fails to come in
		}
	}
	o.leave()
	o.terminal.close()
	return nil, err
}

// shut closes the door, unless an end is coming in or has come in.
func (o *owner) shut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == waiting {
		o.state = closed
	}
	return o.state == closed
}

// leave removes what this end put into the meeting place.
func (o *owner) leave() {
	o.sock.Close() // removes its file too
	o.removeLock()
}

// serve answers everybody who comes, until the socket is closed.
func (o *owner) serve() {
	for {
		conn, err := o.sock.AcceptUnix()
		if err != nil {
			return
		}
		go func() {
			if !o.meet(conn) {
				conn.Close()
			}
		}()
	}
}

// meet handles one that came, and says whether it took conn over.
func (o *owner) meet(conn *net.UnixConn) bool {
	if !mayMeet(conn) || conn.SetDeadline(time.Now().Add(answerLimit)) != nil {
		return false
	}
	hello, fds, err := receive(conn)
	closeAll(fds)
	if err != nil || hello.Kind != "hello" || len(hello.Who) != 1 {
		return false
	}
	peer := hello.Who[0].clean()
	if refusal, ok := o.offer(peer, hello.Version); !ok {
		send(conn, refusal)
		return false
	}
	offer := message{Version: wireVersion, Kind: "ok", Who: []Peer{self()}, Path: o.path}
	if send(conn, offer, o.slave, o.master) == nil {
		if ack, fds, err := receive(conn); err == nil && ack.Kind == "ack" {
			closeAll(fds)
			return o.plugIn(conn, peer)
		}
	}
	o.reopen()
	return false
}

// reopen waits on after an end died between its hello and its ack. It may have
// written meanwhile, so the next one gets a new terminal.
func (o *owner) reopen() {
	fresh, err := newTerminal()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.terminal.close()
		o.terminal = fresh
	}
	o.state = waiting
}

// offer reserves the free end for peer, or gives the refusal.
func (o *owner) offer(peer Peer, version int) (message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case version != wireVersion:
		return message{Version: wireVersion, Kind: "version"}, false
	case o.state == closed:
		return message{Version: wireVersion, Kind: "shut"}, false
	case o.state != waiting:
		return message{Version: wireVersion, Kind: "busy", Who: o.who}, false
	}
	o.state = offered
	o.who = []Peer{self(), peer}
	return message{}, true
}

// plugIn closes this end's slave, so that the end of the other is seen, and
// hands the port to wait.
func (o *owner) plugIn(conn *net.UnixConn, peer Peer) bool {
	unix.Close(o.slave)
	e, err := newEnd(o.master, -1, conn, o.leave)
	if err != nil { // only a descriptor that somebody else closed can do this
		unix.Close(o.master)
		return false
	}
	o.mu.Lock()
	o.state = taken
	o.mu.Unlock()
	o.joined <- &Port{line: e, peer: peer, path: o.path}
	return true
}
