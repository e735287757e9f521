//go:build darwin || freebsd || openbsd

package load

import "syscall"

// adopts: there is no subreaper that this package uses here. The load is its
// first process's group; what leaves the group escapes.
const adopts = false

func adopt() {}

const keeps = false // see keep_linux.go

func keepMain(task) int { return 2 }

func rename(string) {}

// hurry: the supervisor is alone in its group.
func hurry() { syscall.Setpriority(syscall.PRIO_PGRP, 0, -15) }

func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func descendants(int) ([]int, bool) { return nil, false }
