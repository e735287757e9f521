//go:build freebsd || openbsd || netbsd || dragonfly

package serialport

import "runtime"

// list goes by name. FreeBSD and DragonFly make a node only for hardware that
// is there; OpenBSD and NetBSD have nodes for hardware that is not, which only
// opening would tell.
func list() ([]Info, error) {
	patterns := map[string][]string{
		"freebsd":   {"cuau[0-9]*", "cuaU[0-9]*"},
		"dragonfly": {"cuaa[0-9]*", "cuaU[0-9]*"},
		"openbsd":   {"cua0[0-9]", "cuaU[0-9]*"},
		"netbsd":    {"dty0[0-9]", "dtyU[0-9]*"},
	}
	return listByName("/dev", patterns[runtime.GOOS], []string{".init", ".lock"})
}
