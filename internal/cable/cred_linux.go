package cable

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the user at the other end of a socket, from the kernel.
func peerUID(conn *net.UnixConn) (uid int, known bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	raw.Control(func(fd uintptr) {
		c, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid, known = int(c.Uid), true
		}
	})
	return uid, known
}
