package qemu

import (
	"fmt"
	"io"
)

// cpioWriter writes an archive in the newc format, as the kernel unpacks it
// into its first root (Documentation/driver-api/early-userspace/buffer-format).
// Owner, times and device of every entry are zero.
type cpioWriter struct {
	w   io.Writer
	off int
	ino int
	err error
}

const (
	cpioDir  = 0o040000
	cpioFile = 0o100000
	cpioChar = 0o020000
)

// dir adds a directory, file a regular file, char a character device. Names
// have no leading slash; a directory stands before what is in it.
func (c *cpioWriter) dir(name string) { c.entry(name, cpioDir|0o755, 0, 0, nil) }

func (c *cpioWriter) file(name string, perm int, data []byte) {
	c.entry(name, cpioFile|perm, 0, 0, data)
}

func (c *cpioWriter) char(name string, perm, major, minor int) {
	c.entry(name, cpioChar|perm, major, minor, nil)
}

// close ends the archive and gives the first error of all writes.
func (c *cpioWriter) close() error {
	c.ino = -1
	c.entry("TRAILER!!!", 0, 0, 0, nil)
	return c.err
}

func (c *cpioWriter) entry(name string, mode, major, minor int, data []byte) {
	c.ino++
	links, mtime, zero := 1, 0, 0
	c.put(fmt.Appendf(nil, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		c.ino, mode, zero, zero, links, mtime, len(data), zero, zero, major, minor, len(name)+1, zero))
	c.put(append([]byte(name), 0))
	c.pad()
	c.put(data)
	c.pad()
}

func (c *cpioWriter) put(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.off += n
	c.err = err
}

func (c *cpioWriter) pad() {
	c.put(make([]byte, (4-c.off%4)%4))
}
