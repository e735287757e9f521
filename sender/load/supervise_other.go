//go:build !linux && !darwin && !freebsd && !openbsd && !windows

package load

import (
	"errors"
	"syscall"
)

// Systems on which nothing could be held together: no load but @none.

var noCommandStatus []string

func detached() *syscall.SysProcAttr { return nil }

func asWorker(Spec) bool { return true }

const keeps = false // see keep_linux.go

func keepMain(task) int { return 2 }

func rename(string) {}

func hurry() {}

type group struct{}

func startGroup(Spec, stdio, []string) (*group, error) { return nil, errors.ErrUnsupported }

func (g *group) empty() <-chan string { return nil }

func (g *group) end(bool) error { return errors.ErrUnsupported }
