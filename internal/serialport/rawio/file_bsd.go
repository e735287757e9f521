//go:build darwin || freebsd || openbsd || netbsd || dragonfly

package rawio

import "golang.org/x/sys/unix"

func replace(fd, place int) error {
	err := unix.Dup2(fd, place)
	unix.CloseOnExec(place)
	return err
}

// settle is not needed: there is no queue between the two sides.
func settle(int) {}
