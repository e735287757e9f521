package serialport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// serialStruct is struct serial_struct of include/uapi/linux/serial.h.
type serialStruct struct {
	typ, line                 int32
	port                      uint32
	irq, flags, xmitFIFO      int32
	customDivisor, baudBase   int32
	closeDelay                uint16
	ioType, _                 byte
	hub6                      int32
	closingWait, closingWait2 uint16
	iomemBase                 uintptr
	iomemRegShift             uint16
	portHigh                  uint32
	iomapBase                 uintptr
}

// Of include/uapi/linux/tty_flags.h.
const asyncLowLatency = 1 << 13

// setting gives the file of a terminal's setting, "" for the flag, which has
// none that could be written.
func (s sysfs) setting(tty, name string) string {
	dir := filepath.Join(s.sys, "class", "tty", tty)
	switch name {
	case SettingTimer:
		return filepath.Join(dir, "device", name)
	case SettingTrigger:
		return filepath.Join(dir, name)
	}
	return ""
}

// ttyOf is the name by which sysfs knows a port.
func ttyOf(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return filepath.Base(name)
}

// lowLatency asks driver and adapter, and gives what puts it back. Since Linux
// 3.15 the flag makes a 16550 no faster, but with it ftdi_sio sets the
// adapter's timer to 1 ms, which needs no right to write into sysfs.
func (p *unixPort) lowLatency(name string) (l Latency, undo func() error) {
	tty := ttyOf(name)
	fd, _ := p.raw.Fds()
	p.putBack(tty, forLatency)
	p.refresh(tty)
	timer, trigger := p.info.LatencyTimer, p.info.TriggerBytes
	note, err := leaveNote(tty, forLatency, changes(fd, timer, trigger))
	if err != nil {
		p.info.Warnings = append(p.info.Warnings, "should this run die nobody will know what to put back: "+err.Error())
	}
	var undoFlag func() error
	var wroteTimer, wroteTrigger bool
	l.Flag, undoFlag = setFlag(fd)
	if timer >= 0 {
		l.Timer, wroteTimer = setNumber(system.setting(tty, SettingTimer), timer, " ms")
	}
	if trigger > 0 {
		l.Trigger, wroteTrigger = setNumber(system.setting(tty, SettingTrigger), trigger, "")
	}
	p.refresh(tty)
	return l, func() error {
		err := undoFlag()
		if wroteTimer {
			err = errors.Join(err, writeNumber(system.setting(tty, SettingTimer), timer))
		}
		if wroteTrigger {
			err = errors.Join(err, writeNumber(system.setting(tty, SettingTrigger), trigger))
		}
		if err = ignoreGone(err); err == nil {
			note.drop()
		}
		return err
	}
}

// putBack puts back what a dead run has left, and says so.
func (p *unixPort) putBack(tty, what string) {
	fd, _ := p.raw.Fds()
	if left := putBack(tty, what, fd); left != "" {
		p.info.Warnings = append(p.info.Warnings, "put back what a run that died had left: "+left)
	}
}

// leave ends what would make the port of no use to anyone.
func (p *unixPort) leave(name string) { p.putBack(ttyOf(name), forLoop) }

// changes are the settings that are not yet as they are going to be.
func changes(fd, timer, trigger int) (c []kept) {
	if flags, err := getSerial(fd); err == nil && flags.flags&asyncLowLatency == 0 {
		c = append(c, kept{SettingFlag, 0})
	}
	if timer > 1 {
		c = append(c, kept{SettingTimer, timer})
	}
	if trigger > 1 {
		c = append(c, kept{SettingTrigger, trigger})
	}
	return c
}

// refresh reads the numbers that are in force.
func (p *unixPort) refresh(tty string) {
	if p.info.LatencyTimer >= 0 {
		p.info.LatencyTimer = system.number(tty, SettingTimer, p.info.LatencyTimer)
	}
	if p.info.TriggerBytes > 0 {
		p.info.TriggerBytes = system.number(tty, SettingTrigger, p.info.TriggerBytes)
	}
}

// number reads a setting.
func (s sysfs) number(tty, name string, unknown int) int {
	path := s.setting(tty, name)
	return readNumber(filepath.Dir(path), filepath.Base(path), unknown)
}

// ignoreGone: what vanished has nothing to be put back into.
func ignoreGone(err error) error {
	if Gone(err) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func getSerial(fd int) (s serialStruct, err error) {
	return s, ioctl(fd, unix.TIOCGSERIAL, unsafe.Pointer(&s))
}

// setFlag turns the driver's low_latency on.
func setFlag(fd int) (Setting, func() error) {
	none := func() error { return nil }
	old, err := getSerial(fd)
	if err != nil {
		return Setting{Why: "the driver has no low_latency flag"}, none
	}
	was := onOff(old.flags&asyncLowLatency != 0)
	if was == "on" {
		return Setting{Before: was, After: was}, none
	}
	s := old
	s.flags |= asyncLowLatency
	if err := ioctl(fd, unix.TIOCSSERIAL, unsafe.Pointer(&s)); err != nil {
		return Setting{Before: was, After: was, Why: err.Error(), Hint: "run it with sudo"}, none
	}
	now, err := getSerial(fd)
	if err != nil {
		now = s
	}
	g := Setting{Before: was, After: onOff(now.flags&asyncLowLatency != 0)}
	if g.After == "off" {
		g.Why = "the driver ignored it"
	}
	return g, func() error { return ioctl(fd, unix.TIOCSSERIAL, unsafe.Pointer(&old)) }
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// setNumber brings a setting to 1, unless it is there already, and reads it
// back. before is what it was before the driver's flag was set.
func setNumber(path string, before int, unit string) (s Setting, wrote bool) {
	s.Before = strconv.Itoa(before) + unit
	now := func() int { return readNumber(filepath.Dir(path), filepath.Base(path), before) }
	if now() != 1 {
		err := writeNumber(path, 1)
		wrote = err == nil
		if !wrote {
			s.Why = strings.TrimPrefix(err.Error(), "open "+path+": ")
			s.Hint = "echo 1 | sudo tee " + path
		}
	}
	s.After = strconv.Itoa(now()) + unit
	return s, wrote
}

// writeNumber writes into a file of sysfs; it creates none.
func writeNumber(path string, n int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, n)
	return errors.Join(err, f.Close())
}
