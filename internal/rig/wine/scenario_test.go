//go:build rig && linux

package wine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPorts(t *testing.T) {
	for _, name := range []string{"sender", "receiver"} {
		p := start(t, name, "ports")
		p.ends(0)
		for _, want := range []string{"COM1 ", "COM2 ", "COM12 ", "cable "} {
			if !strings.Contains(p.stdout.String(), "\n"+want) {
				t.Errorf("%s lists no %s", name, want)
			}
		}
		if strings.Contains(p.stdout.String(), "COM3 ") {
			t.Errorf("%s lists a port that is not the rig's", name)
		}
	}
	if err := theRig.CheckPorts(); err != nil {
		t.Error(err)
	}
}

// adapters are two USB adapters as Windows keeps them in its registry: one that
// is plugged in (it has a key Control) and, under the same port name, one that
// was before. Wine has no devices of its own there.
const adapters = `REGEDIT4

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A6008isPA\0000]
"Service"="FTSER2K"
"Mfg"="@oem12.inf,%ftdi%;FTDI"
"FriendlyName"="USB Serial Port (COM2)"

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A6008isPA\0000\Control]

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A6008isPA\0000\Device Parameters]
"PortName"="COM2"
"LatencyTimer"=dword:00000010

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\USB\VID_2341&PID_0043\957]
"Service"="usbser"
"FriendlyName"="Arduino Uno (COM2)"

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\USB\VID_2341&PID_0043\957\Device Parameters]
"PortName"="COM2"
`

func TestPortsOfAdapters(t *testing.T) {
	regedit(t, adapters)
	defer regedit(t, `REGEDIT4

[-HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\FTDIBUS]
[-HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\USB\VID_2341&PID_0043]
`)
	p := start(t, "sender", "ports")
	p.ends(0)
	want := "COM2   0403:6001  FTSER2K  FTDI, USB Serial Port, serial A6008isPA, latency_timer 16 ms\n"
	if !strings.Contains(p.stdout.String(), want) {
		t.Errorf("not listed: %s", want)
	}
	latency(t)
}

// latency: a latency timer that cannot be set in time is told, with what to do.
func latency(t *testing.T) {
	t.Helper()
	l, err := NewLine()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := theRig.Plug("COM2", l.Names()[0]); err != nil {
		t.Fatal(err)
	}
	r := start(t, "receiver", "--port", "COM2", "--low-latency", "--duration", "1s")
	r.ends(1) // nothing was received
	r.says("latency_timer: asked 1 ms, got 16 ms: Windows takes it over only when the adapter is plugged in")
	r.says("Advanced: Latency Timer 1")
}

// regedit brings a text into the registry.
func regedit(t *testing.T, text string) {
	t.Helper()
	name := filepath.Join(theRig.work, "change.reg")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "regedit", "/S", "change.reg").ends(0)
}

// TestCabledRun is the whole harness on two COM ports, one of them above COM9.
func TestCabledRun(t *testing.T) {
	plug(t)
	r := receive(t, "run.csv", "--port", "COM12", "--json", "run.json")
	s := start(t, "sender", "--port", "COM1", "--period", "5ms", "--count", "1000", "--label", "under Wine",
		"--log", "sender.csv", "--json", "sender.json")
	s.ends(0)
	r.ends(0)
	got := one(t, "run.json")
	whole(t, got, 1000)
	if got.Source.Kind != "port" || got.Runs[0].Label != "under Wine" {
		t.Errorf("source %q, label %q", got.Source.Kind, got.Runs[0].Label)
	}
	for _, g := range got.Runs[0].Granted {
		t.Logf("%s %s: asked %s, got %s %s", g.Side, g.Item, g.Asked, g.Got, g.Why)
	}
	replayed(t, "run.csv", "run.json")
	replayed(t, "sender.csv", "sender.json")
	if !strings.Contains(file(t, "run.csv"), "# clock: QueryPerformanceCounter") {
		t.Error("the log does not name the performance counter")
	}
}

// replayed demands that a log gives the live run's report, its source apart.
func replayed(t *testing.T, log, live string) {
	t.Helper()
	p := start(t, "receiver", "replay", log, "--json", "-")
	p.ends(0)
	var again, before map[string]any
	if err := json.Unmarshal(p.stdout.Bytes(), &again); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(file(t, live)), &before); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again["runs"], before["runs"]) {
		t.Errorf("the replay of %s differs:\n%v\n%v", log, again["runs"], before["runs"])
	}
}

func TestNamedPipeCable(t *testing.T) {
	s := start(t, "sender", "--port", "cable:x", "--period", "2ms", "--count", "500", "--label", "pipe")
	time.Sleep(time.Second) // the sender comes first here
	r := start(t, "receiver", "--port", "cable:x", "--json", "pipe.json")
	s.ends(0)
	r.ends(0)
	got := one(t, "pipe.json")
	whole(t, got, 500)
	if got.Source.Kind != "cable" {
		t.Errorf("source %q", got.Source.Kind)
	}
	s.says("waiting up to 30s for the other end of cable:x")
}

func TestEveryPriority(t *testing.T) {
	for _, c := range []struct{ asked, got string }{
		{"realtime", "REALTIME_PRIORITY_CLASS, TIME_CRITICAL (31)"},
		{"realtime:40", "REALTIME_PRIORITY_CLASS, thread -1 (23)"},
		{"high", "HIGH_PRIORITY_CLASS, HIGHEST (15)"},
		{"normal", "NORMAL_PRIORITY_CLASS, NORMAL (8)"},
		{"low", "BELOW_NORMAL_PRIORITY_CLASS, NORMAL (6)"},
	} {
		t.Run(c.asked, func(t *testing.T) {
			r := loopback(t, "--priority", c.asked, "--cpu", "0")
			for item, want := range map[string]string{"priority": c.got, "cpu": "0", "sleep of the machine": "prevented"} {
				if g, ok := grants(r, "sender", item); !ok || g.Got != want || g.Why != "" {
					t.Errorf("%s: %+v, want %s", item, g, want)
				}
			}
		})
	}
}

// loopback is a short run within one process.
func loopback(t *testing.T, args ...string) report {
	t.Helper()
	p := start(t, "sender", append([]string{"--port", "cable", "--loopback", "--period", "4ms", "--count", "100",
		"--json", "loop.json", "--log", "loop.csv"}, args...)...)
	p.ends(0)
	r := one(t, "loop.json")
	whole(t, r, 100)
	return r
}

func TestEveryTimer(t *testing.T) {
	for _, c := range []struct{ asked, call string }{
		{"periodic", "waitable timer, periodic"},
		{"absolute", "waitable timer, one-shot, recomputed from the performance counter"},
		{"sleep", "Sleep"},
		{"hybrid", "waitable timer, one-shot, recomputed from the performance counter, then spin"},
		{"spin", "spin on QueryPerformanceCounter"},
	} {
		t.Run(c.asked, func(t *testing.T) {
			loopback(t, "--timer", c.asked)
			if log := file(t, "loop.csv"); !strings.Contains(log, "# run 1 call: "+c.call) {
				t.Errorf("the log does not say %q", c.call)
			}
		})
	}
}

// TestEveryResolution: Wine's own does not move from 1 ms, so that 0.5 ms has
// to read back as refused.
func TestEveryResolution(t *testing.T) {
	r := loopback(t)
	if g, ok := grants(r, "sender", "timer resolution"); !ok || g.Got != "1ms" || g.Why != "" {
		t.Errorf("1 ms: %+v", g)
	}
	help := start(t, "sender", "--help")
	help.ends(0)
	if !strings.Contains(help.stdout.String(), "--timer-resolution") {
		t.Skip("the sender has no --timer-resolution yet")
	}
	for asked, why := range map[string]string{"0.5ms": "coarser", "default": "finer"} {
		r := loopback(t, "--timer-resolution", asked)
		if g, ok := grants(r, "sender", "timer resolution"); !ok || g.Asked != asked || !strings.Contains(g.Why, why) {
			t.Errorf("%s: %+v", asked, g)
		}
	}
	start(t, "sender", "--port", "cable", "--count", "1", "--timer-resolution", "2ms").ends(2)
}

// TestWhatWineRefuses: a refusal is in the report, and fails a run that
// demands real time.
func TestWhatWineRefuses(t *testing.T) {
	r := loopback(t)
	for _, item := range []string{"memory", "power throttling"} {
		if g, ok := grants(r, "sender", item); !ok || g.Why == "" {
			t.Errorf("%s: %+v; does Wine have it now?", item, g)
		}
	}
	p := start(t, "sender", "--port", "cable", "--loopback", "--count", "10", "--require-realtime")
	p.ends(1)
	p.says("real time was required and not granted")
}

func TestCtrlC(t *testing.T) {
	plug(t)
	r := receive(t, "ctrlc.csv", "--port", "COM12", "--json", "ctrlc.json")
	s := start(t, "sender", "--port", "COM1", "--period", "5ms", "--duration", "60s")
	time.Sleep(3 * time.Second)
	s.interrupt()
	ended(t, s, 5*time.Second)
	ended(t, r, 10*time.Second) // it hears of the end from the sender
	got := one(t, "ctrlc.json")
	whole(t, got, n(got.Runs[0].Sent))
	if got.Runs[0].Characters < 100 {
		t.Errorf("only %d characters in 3 s", got.Runs[0].Characters)
	}
}

// ended demands status 0 in time.
func ended(t *testing.T, p *program, limit time.Duration) {
	t.Helper()
	began := time.Now()
	p.ends(0)
	if took := time.Since(began); took > limit {
		t.Errorf("%s ended after %v", p.name, took)
	}
}

func TestCtrlCOfTheReceiver(t *testing.T) {
	plug(t)
	r := receive(t, "ctrlr.csv", "--port", "COM12", "--json", "ctrlr.json")
	s := start(t, "sender", "--port", "COM1", "--period", "5ms", "--duration", "60s", "--plain")
	time.Sleep(3 * time.Second)
	r.interrupt()
	ended(t, r, 5*time.Second)
	if got := one(t, "ctrlr.json"); got.Runs[0].Characters < 100 {
		t.Errorf("only %d characters in 3 s", got.Runs[0].Characters)
	}
	s.interrupt()
	ended(t, s, 5*time.Second)
	silent := receive(t, "silent.csv", "--port", "COM12")
	silent.interrupt()
	silent.ends(1)
}

// TestBadPorts: a port that is busy is not among them, Wine opens it twice.
func TestBadPorts(t *testing.T) {
	for _, c := range []struct {
		port, says string
		status     int
	}{
		{"COM99", "no such port", 1},
		{"COM99", "ports here: COM1, COM2, COM12", 1},
		{"NUL", "not a serial port", 1},
		{`C:\windows`, "not a serial port", 1},
		{"", "no port was named", 2},
	} {
		p := start(t, "sender", "--port", c.port, "--count", "10")
		p.ends(c.status)
		p.says(c.says)
		p.says("sender: hint: ")
	}
}

// TestUnplug takes the line away in the middle of a run.
func TestUnplug(t *testing.T) {
	l := plug(t)
	r := receive(t, "gone.csv", "--port", "COM12", "--json", "gone.json")
	s := start(t, "sender", "--port", "COM1", "--period", "5ms", "--duration", "60s")
	time.Sleep(3 * time.Second)
	l.Unplug(1)
	r.ends(1)
	r.says("the line is gone")
	r.says("receiver: hint: COM12 vanished")
	if got := one(t, "gone.json"); got.Runs[0].Characters < 100 {
		t.Errorf("only %d characters in 3 s", got.Runs[0].Characters)
	}
	l.Unplug(0)
	s.ends(1)
	s.says("the line is gone")
}
