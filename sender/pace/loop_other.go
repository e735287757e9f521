//go:build !linux

package pace

// send goes the portable way: there are no raw system calls on Windows and
// macOS.
func (l *loop) send(p Port) error {
	return l.sendPortable(realWorld(l, p))
}
