//go:build !linux && !windows && !darwin && !freebsd && !openbsd

package system

import (
	"errors"
	"time"
)

func clocks() []Clock {
	return []Clock{{"time.Now", "Go runtime", 0, func() int64 { return time.Now().UnixNano() }}}
}

func cpus() []int { return nil }

const signalCall = ""

// Signal does not exist on this system.
type Signal struct{}

// NewSignal fails.
func NewSignal() (*Signal, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (s *Signal) Close() {}

// Wake does nothing.
func (s *Signal) Wake() {}

// Wait never succeeds.
func (s *Signal) Wait() bool { return false }
