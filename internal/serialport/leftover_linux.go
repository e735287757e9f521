package serialport

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// note is what a run writes down before it changes a terminal's settings, as
// JSON in a file named after the terminal and what the note is for.
type note struct {
	Boot     string `json:"boot"` // of this machine: at the next one all is as it was
	Node     uint64 `json:"node"` // inode of the terminal: another one when it was plugged in again
	Settings []kept `json:"settings"`

	file *os.File // locked while the run lives
	path string
}

// What notes are for.
const (
	forLatency = "latency"
	forLoop    = "loop"
)

// kept is a setting and what it was; of the flag 0 is off.
type kept struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
}

// noteDirs are where notes may lie; the first is this user's.
var noteDirs = func() []string {
	const root = "/run"
	if os.Geteuid() == 0 {
		return []string{filepath.Join(root, "serialtiming")}
	}
	own := os.Getenv("XDG_RUNTIME_DIR")
	if own == "" {
		own, _ = os.UserCacheDir()
	}
	if own == "" {
		return []string{filepath.Join(root, "serialtiming")}
	}
	return []string{filepath.Join(own, "serialtiming"), filepath.Join(root, "serialtiming")}
}

func bootID() string {
	id, _ := readText("/proc/sys/kernel/random", "boot_id")
	return id
}

// node identifies a terminal as it is plugged in now, 0 if it is not there.
func (s sysfs) node(tty string) uint64 {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(s.dev, tty), &st) != nil {
		return 0
	}
	return st.Ino
}

// leaveNote writes a note and keeps it locked; nil when nothing will change.
// The lock is there before the note has its name, so that nobody ever finds
// the note of a living run without it.
func leaveNote(tty, what string, c []kept) (n *note, err error) {
	if len(c) == 0 {
		return nil, nil
	}
	dir := noteDirs()[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	n = &note{Boot: bootID(), Node: system.node(tty), Settings: c, path: noteFile(dir, tty, what)}
	if n.file, err = os.CreateTemp(dir, "."+tty+"-*"); err != nil {
		return nil, err
	}
	b, err := json.Marshal(n)
	if err == nil {
		_, err = n.file.Write(append(b, '\n'))
	}
	err = errors.Join(err, n.file.Chmod(0o644), unix.Flock(int(n.file.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	if err == nil {
		err = os.Rename(n.file.Name(), n.path)
	}
	if err != nil {
		os.Remove(n.file.Name())
		n.file.Close()
		return nil, err
	}
	return n, nil
}

func noteFile(dir, tty, what string) string { return filepath.Join(dir, tty+"."+what+".json") }

// noteOf gives the terminal that a note is about.
func noteOf(path string) string {
	tty, _, _ := strings.Cut(filepath.Base(path), ".")
	return tty
}

// drop removes a note when all is put back; of nil it does nothing.
func (n *note) drop() {
	if n == nil {
		return
	}
	os.Remove(n.path)
	n.file.Close()
}

// staleNote reads a note whose run is dead; nil when there is none.
func staleNote(path string) *note {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // it lives
	}
	var n note
	if json.NewDecoder(f).Decode(&n) != nil {
		return nil
	}
	return &n
}

// stale gives the dead notes that still mean something, and removes the others
// where it may.
func stale(tty, what string) map[string]*note {
	all := map[string]*note{}
	for _, dir := range noteDirs() {
		files, _ := filepath.Glob(noteFile(dir, tty, what))
		for _, path := range files {
			n, tty := staleNote(path), noteOf(path)
			switch {
			case n == nil:
			case n.Boot != bootID() || n.Node != system.node(tty) || len(n.left(tty)) == 0:
				os.Remove(path)
			default:
				all[path] = n
			}
		}
	}
	return all
}

// left are the settings that are not what they were.
func (n *note) left(tty string) (left []kept) {
	unsure := false // the flag cannot be read, as of USB adapters
	for _, k := range n.Settings {
		switch now, known := system.settingNow(tty, k.Name); {
		case !known && k.Name == SettingLoop:
			left = append(left, k)
		case !known && k.Name == SettingFlag:
			unsure = true
			left = append(left, k)
		case known && now != k.Before:
			left = append(left, k)
		}
	}
	if unsure && len(left) == 1 && len(n.Settings) > 1 {
		return nil // the flag holds the timer down: with the timer it is put back
	}
	return left
}

// settingNow reads a setting without opening the terminal.
func (s sysfs) settingNow(tty, name string) (n int, known bool) {
	if name == SettingFlag {
		text, ok := readText(filepath.Join(s.sys, "class", "tty", tty), "flags")
		flags, err := strconv.ParseUint(text, 0, 32)
		if !ok || err != nil {
			return 0, false
		}
		return int(flags & asyncLowLatency), true
	}
	if s.setting(tty, name) == "" {
		return 0, false
	}
	n = s.number(tty, name, -1)
	return n, n >= 0
}

func leftovers() (all []Leftover) {
	for path, n := range stale("*", "*") {
		for _, k := range n.left(noteOf(path)) {
			all = append(all, system.leftover(noteOf(path), k))
		}
	}
	slices.SortFunc(all, func(a, b Leftover) int { return strings.Compare(a.Port, b.Port) })
	return all
}

func (s sysfs) leftover(tty string, k kept) Leftover {
	port := filepath.Join(s.dev, tty)
	l := Leftover{Port: port, Name: k.Name, Before: strconv.Itoa(k.Before)}
	now, known := s.settingNow(tty, k.Name)
	if k.Name == SettingLoop {
		l.Before, l.Remedy = "off", "start sender or receiver on that port once"
		return l
	}
	if k.Name == SettingFlag {
		l.Before, l.Remedy = "off", "sudo setserial "+printable(port)+" ^low_latency"
		if known {
			l.Now = onOff(now != 0)
		}
		return l
	}
	l.Now = strconv.Itoa(now)
	l.Remedy = fmt.Sprintf("echo %d | sudo tee %s", k.Before, s.setting(tty, k.Name))
	return l
}

// putBack puts back what a dead run has left of an open terminal, and says
// what; "" for nothing.
func putBack(tty, what string, fd int) string {
	var done []string
	for path, n := range stale(tty, what) {
		failed := false
		for _, k := range n.left(tty) {
			if err := system.restore(tty, fd, k); err != nil {
				failed = true
				continue
			}
			done = append(done, k.Name)
		}
		if !failed {
			os.Remove(path)
		}
	}
	return strings.Join(done, ", ")
}

func (s sysfs) restore(tty string, fd int, k kept) error {
	switch k.Name {
	case SettingLoop:
		return unix.IoctlSetPointerInt(fd, unix.TIOCMBIC, loopBit)
	case SettingTimer, SettingTrigger:
		return writeNumber(s.setting(tty, k.Name), k.Before)
	}
	v, err := getSerial(fd)
	if err != nil {
		return err
	}
	v.flags &^= asyncLowLatency
	return ioctl(fd, unix.TIOCSSERIAL, unsafe.Pointer(&v))
}
