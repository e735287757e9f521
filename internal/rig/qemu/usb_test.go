//go:build rig && linux

package qemu

import (
	"strings"
	"testing"
	"time"

	"serialtiming/internal/rig/qemu/relay"
	. "serialtiming/internal/rig/qemu/script"
)

const (
	usbPort  = "/dev/ttyUSB0"
	usbTimer = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"
	wired    = "/dev/ttyS1" // the other end of its cable

	rows200 = 6000 // bytes of a receiver's log: its head, and some 200 rows
)

// TestUSB: an FTDI adapter under the real ftdi_sio driver, cabled to a UART of
// the same machine; in real time, since it is unplugged from outside. QEMU's
// adapter does not wait for its latency timer, so batches 16 ms apart are not
// to be seen here.
func TestUSB(t *testing.T) {
	scenario(t)
	a, b, err := RelayedCable(relay.Line{}, relay.Line{}) // which does not wait for an adapter that is gone
	if err != nil {
		t.Fatal(err)
	}
	low := []string{"--low-latency"}
	if fault("flag") {
		low = nil
	}
	qmpPath := socket(t, "qmp")
	m := boot(t, Guest{Kernel: Full, UARTs: []UART{a, b.FTDI("ftdi0")}, Limit: 3 * time.Minute,
		Args: append(QMPArgs(qmpPath), USBBus...), Script: Script{Steps: steps(
			AwaitPath(usbPort, 10*time.Second),
			Run("sender-ports", 10*time.Second, "/bin/sender", "ports"),
			Run("receiver-ports", 10*time.Second, "/bin/receiver", "ports"),

			Write(usbTimer, "16"),
			receiver("plain", usbPort), listening("plain"),
			sender("plain", wired, fiveMS, "--count", "200"), Sleep(time.Second), Read("plain timer", usbTimer),
			Wait("plain-sender", 20*time.Second), Wait("plain-receiver", 20*time.Second),

			receiver("low", usbPort, low...), listening("low"),
			sender("low", wired, fiveMS, "--count", "200"), Sleep(time.Second), Read("low timer", usbTimer),
			Wait("low-sender", 20*time.Second), Wait("low-receiver", 20*time.Second), Read("timer after", usbTimer),

			receiver("pulled", usbPort), listening("pulled"),
			sender("pulled", wired, fiveMS, "--count", "100000"), AwaitSize("/out/pulled-receiver.csv", rows200, 30*time.Second), Mark("unplug"),
			Wait("pulled-receiver", 20*time.Second), Signal("pulled-sender", 2), Wait("pulled-sender", 20*time.Second),
			AwaitGone(usbPort, 5*time.Second), Mark("gone"), AwaitPath(usbPort, 20*time.Second),

			exchange("again1", wired, usbPort, fiveMS, 20*time.Second, "--count", "200"),
			exchange("again2", wired, usbPort, fiveMS, 20*time.Second, "--count", "200"),

			receiver("cut", wired), listening("cut"),
			sender("cut", usbPort, fiveMS, "--count", "100000"), AwaitSize("/out/cut-receiver.csv", rows200, 30*time.Second), Mark("unplug again"),
			Wait("cut-sender", 20*time.Second), Wait("cut-receiver", 20*time.Second),
		)}})
	plugging(t, m, qmpPath)
	o := outcome(t, m)

	t.Run("ports", func(t *testing.T) { listed(t, o) })
	t.Run("latency timer", func(t *testing.T) {
		for run, timer := range map[string]string{"plain": "16", "low": "1"} {
			both(t, o, o, run)
			value(t, o, run+" timer", timer)
		}
		value(t, o, "timer after", "16")
	})
	t.Run("receiver unplugged", func(t *testing.T) {
		r := unplugged(t, o, "pulled-receiver")
		if r.Label != "pulled" {
			t.Errorf("label %q, want what was announced", r.Label)
		}
		l := runLog(t, o, "pulled-receiver.csv")
		inOrder(t, l, r.Characters)
	})
	t.Run("replugged", func(t *testing.T) {
		// On a busy host the emulated bus drops a packet now and then: one of
		// two runs must be whole.
		s, r := both(t, o, o, "again1")
		l := runLog(t, o, "again1-receiver.csv")
		if r.Characters != 200 || r.Sent == nil {
			t.Logf("the first run heard %d characters of 200", r.Characters)
			s, r = both(t, o, o, "again2")
			l = runLog(t, o, "again2-receiver.csv")
		}
		whole(t, s, r, l, 200)
	})
	t.Run("sender unplugged", func(t *testing.T) {
		s := unplugged(t, o, "cut-sender")
		equal(t, "rows of the log", ptr(int64(len(runLog(t, o, "cut-sender.csv").Events))), *orZero(s.Sent))
		exitStatus(t, o, "cut-receiver", "exit status 0")
		r := oneRun(t, o, "cut-receiver.json")
		inOrder(t, runLog(t, o, "cut-receiver.csv"), r.Characters)
		if r.Characters < 100 || r.Characters > *orZero(s.Sent) {
			t.Errorf("%d characters arrived of %d sent", r.Characters, *orZero(s.Sent))
		}
	})
}

func ptr(n int64) *int64 { return &n }

func orZero(p *int64) *int64 {
	if p == nil {
		return new(int64)
	}
	return p
}

// plugging pulls the adapter when the guest says so, plugs it in again, and
// pulls it once more.
func plugging(t *testing.T, m *Machine, qmpPath string) {
	t.Helper()
	do := func(q *QMP, command string, args map[string]any) {
		if err := q.Do(command, args); err != nil {
			t.Fatal(err)
		}
	}
	mark(t, m, "unplug")
	q, err := DialQMP(qmpPath, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	do(q, "device_del", map[string]any{"id": "ftdi0"})
	mark(t, m, "gone")
	do(q, "device_add", map[string]any{"driver": FTDIDevice, "id": "ftdi1", "chardev": "uart2", "always-plugged": true})
	mark(t, m, "unplug again")
	do(q, "device_del", map[string]any{"id": "ftdi1"})
}

// listed: both programs find the adapter with its ids, and the UART.
func listed(t *testing.T, o *Outcome) {
	for _, program := range []string{"sender", "receiver"} {
		out := string(o.Files[program+"-ports.stdout"])
		line := ""
		for l := range strings.Lines(out) {
			if strings.Contains(l, usbPort) {
				line = l
			}
		}
		if !strings.Contains(strings.ToLower(line), "0403:6001") {
			t.Errorf("%s ports says %q of %s, want its ids 0403:6001", program, line, usbPort)
		}
		if !strings.Contains(out, wired) {
			t.Errorf("%s ports does not list %s:\n%s", program, wired, out)
		}
	}
}

// value asserts what a step read.
func value(t *testing.T, o *Outcome, name, want string) {
	t.Helper()
	r, err := o.Step("read", name)
	if got := strings.TrimSpace(r.Value); err != nil || got != want {
		t.Errorf("%s is %q, want %q (%v)", name, got, want, err)
	}
}

// unplugged asserts how a program ends whose port vanished: status 1, an error
// and a hint that name the port, a report of what there is.
func unplugged(t *testing.T, o *Outcome, program string) RunReport {
	t.Helper()
	exitStatus(t, o, program, "exit status 1")
	hint := ""
	for l := range strings.Lines(string(o.Files[program+".stderr"])) {
		if strings.Contains(l, "hint:") {
			hint += l
		}
	}
	if !strings.Contains(hint, usbPort) {
		t.Errorf("%s gave no hint that names %s:\n%s", program, usbPort, o.Files[program+".stderr"])
	}
	r := oneRun(t, o, program+".json")
	if r.Characters < 100 {
		t.Errorf("%s reports %d characters of about 400", program, r.Characters)
	}
	return r
}
