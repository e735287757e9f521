package serialport

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// List gives the serial ports of this machine, by name, with what the system's
// own tables tell (sysfs on Linux, the registry on Windows, the names in /dev
// elsewhere). It never opens a port.
func List() ([]Info, error) {
	all, err := list()
	slices.SortFunc(all, func(a, b Info) int { return compareNames(a.Name, b.Name) })
	return all, err
}

// compareNames sorts COM2 before COM10.
func compareNames(a, b string) int {
	pa, na := splitNumber(a)
	pb, nb := splitNumber(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(na, nb), cmp.Compare(a, b))
}

func splitNumber(s string) (prefix string, n uint64) {
	prefix = strings.TrimRight(s, "0123456789")
	n, _ = strconv.ParseUint(s[len(prefix):], 10, 64)
	return prefix, n
}

// portsHint is the hint for a port that does not exist.
func portsHint() string {
	all, err := List()
	if err != nil || len(all) == 0 {
		return "no serial port here: plug in an adapter, or take --port cable, a virtual one"
	}
	var names []string
	for _, i := range all {
		names = append(names, printable(i.Name))
	}
	return "ports here: " + strings.Join(names, ", ")
}

// listByName gives the names in dir that match one of the patterns and none of
// the endings, where the system has no table that can be read without more.
func listByName(dir string, patterns, not []string) ([]Info, error) {
	var all []Info
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			ends := func(s string) bool { return strings.HasSuffix(name, s) }
			if !slices.ContainsFunc(not, ends) && isDevice(name) {
				all = append(all, Info{Name: name, LatencyTimer: -1})
			}
		}
	}
	return all, nil
}

func isDevice(name string) bool {
	i, err := os.Stat(name)
	return err == nil && i.Mode()&os.ModeCharDevice != 0
}
