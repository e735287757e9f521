package serialport

import (
	"errors"
	"strings"
	"testing"
)

func TestParseDeviceID(t *testing.T) {
	for _, c := range []struct{ enumerator, device, instance, usb, serial string }{
		{"USB", "VID_2341&PID_0043", "95735353038351F0D1A1", "2341:0043", "95735353038351F0D1A1"},
		{"USB", "VID_2341&PID_0043&MI_00", "6&2a8e8b6f&0&0000", "2341:0043", ""},
		{"FTDIBUS", "VID_0403+PID_6001+A6008isPA", "0000", "0403:6001", "A6008isPA"},
		{"ftdibus", "vid_0403+pid_6001", "0000", "0403:6001", ""},
		{"ACPI", "PNP0501", "1", "", ""},
		{"USB", "ROOT_HUB30", "4&38a7b1c4&0&0", "", ""},
		{"USB", "VID_&PID_", "x", "", ""},
		{"USB", "VID_XYZW&PID_0043", "x", "", ""},
		{"USB", "VID_10C4&PID_EA60", "00\x1b[1m01", "10c4:ea60", "00[1m01"},
	} {
		usb, serial := parseDeviceID(c.enumerator, c.device, c.instance)
		if usb != c.usb || serial != c.serial {
			t.Errorf("%s\\%s\\%s: %q %q, want %q %q", c.enumerator, c.device, c.instance, usb, serial, c.usb, c.serial)
		}
	}
}

func FuzzParseDeviceID(f *testing.F) {
	f.Add("USB", "VID_2341&PID_0043", "957")
	f.Add("FTDIBUS", "VID_0403+PID_6001+A6008isPA", "0000")
	f.Fuzz(func(t *testing.T, enumerator, device, instance string) {
		usb, serial := parseDeviceID(enumerator, device, instance)
		if usb != "" && (len(usb) != 9 || usb[4] != ':') {
			t.Errorf("usb %q", usb)
		}
		if usb == "" && serial != "" {
			t.Errorf("a serial number %q of nothing", serial)
		}
		if printable(serial) != serial {
			t.Errorf("serial number %q is not printable", serial)
		}
	})
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"/dev/ttyUSB0": "/dev/ttyUSB0", "COM3": "COM3", "dev/Gerät": "dev/Gerät",
		"a\x1b[2J": `"a\x1b[2J"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "a\u202eb": `"a\u202eb"`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Config{Baud: 115200, Data: 8, Parity: 'N', Stop: "1"}
	for _, c := range []struct {
		change func(*Config)
		says   string // "" is good
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Data, c.Parity, c.Stop = 7, 'E', "2" }, ""},
		{func(c *Config) { c.Data, c.Parity, c.Stop = 5, 'M', "1.5" }, ""},
		{func(c *Config) { c.Baud = 0 }, "0 baud"},
		{func(c *Config) { c.Baud = -9600 }, "-9600 baud"},
		{func(c *Config) { c.Data = 4 }, "4 data bits"},
		{func(c *Config) { c.Data = 9 }, "9 data bits"},
		{func(c *Config) { c.Parity = 0 }, "parity"},
		{func(c *Config) { c.Parity = 'n' }, "parity"},
		{func(c *Config) { c.Stop = "3" }, "stop bits"},
		{func(c *Config) { c.Stop = "" }, "stop bits"},
	} {
		config := good
		c.change(&config)
		_, err := Open("cable:never-reached\x00", config) // a cable checks them all the same
		if c.says == "" {
			if errors.Is(err, ErrSetting) {
				t.Errorf("%+v: %v", config, err)
			}
			continue
		}
		if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", config, err, c.says)
		}
	}
}

func TestCompareSettings(t *testing.T) {
	c := Config{Baud: 115200, Data: 7, Parity: 'E', Stop: "1"}
	for _, x := range []struct {
		read      Info
		warn, bad bool
	}{
		{Info{Baud: 115200, Line: "7E1"}, false, false},
		{Info{}, false, false},
		{Info{Baud: 117000, Line: "7E1"}, false, false},
		{Info{Baud: 118000, Line: "7E1"}, false, true},
		{Info{Baud: 57600, Line: "7E1"}, false, true},
		{Info{Baud: 57600, Line: "7E1", Virtual: true}, false, true},
		{Info{Baud: 115200, Line: "8N1"}, false, true},
		{Info{Baud: 115200, Line: "8N1", Virtual: true}, true, false},
	} {
		w, err := c.compare(x.read)
		if (w != "") != x.warn || errors.Is(err, ErrSetting) != x.bad {
			t.Errorf("%+v: %q, %v", x.read, w, err)
		}
	}
}

func TestCountersSub(t *testing.T) {
	old := Counters{Framing: 1, Rx: 0xffffffff, Overrun: 7}
	now := Counters{Framing: 3, Rx: 4, Overrun: 7, Break: 2}
	if got, want := now.Sub(old), (Counters{Framing: 2, Rx: 5, Break: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestErrorIsOnePrintableLine(t *testing.T) {
	e := &Error{Op: "open", Port: "/dev/x\x1b[31m\ny", Err: ErrNotFound}
	if s := e.Error(); strings.ContainsAny(s, "\x1b\n") || !strings.Contains(s, "no such port") {
		t.Errorf("%q", s)
	}
}
