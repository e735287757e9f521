//go:build darwin || freebsd || openbsd

package system

import (
	"golang.org/x/sys/unix"
)

const signalCall = "pipe"

// Signal wakes one thread from another. Wake before Wait is kept.
type Signal struct {
	fds  [2]int
	poll []unix.PollFd
	byte [1]byte
}

// NewSignal makes one.
func NewSignal() (*Signal, error) {
	s := &Signal{}
	if err := unix.Pipe(s.fds[:]); err != nil {
		return nil, err
	}
	for _, fd := range s.fds {
		unix.CloseOnExec(fd)
	}
	s.poll = []unix.PollFd{{Fd: int32(s.fds[0]), Events: unix.POLLIN}}
	return s, nil
}

// Close frees it.
func (s *Signal) Close() {
	unix.Close(s.fds[0])
	unix.Close(s.fds[1])
}

var one = []byte{1}

// Wake wakes the thread in Wait.
func (s *Signal) Wake() { unix.Write(s.fds[1], one) }

// Wait sleeps until Wake; false after 100 ms without one.
func (s *Signal) Wait() bool {
	if n, _ := unix.Poll(s.poll, 100); n < 1 {
		return false
	}
	n, _ := unix.Read(s.fds[0], s.byte[:])
	return n == 1
}
