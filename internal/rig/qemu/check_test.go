//go:build rig && linux

package qemu

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

const (
	usbLatency = "/sys/class/tty/ttyUSB0/device/latency_timer"
	uartFIFO   = "/sys/class/tty/ttyS1/rx_trig_bytes"
)

// TestCheck: what `check` says of a UART and of an FTDI adapter under their
// real drivers, and what a run with --low-latency leaves behind when it is
// killed.
func TestCheck(t *testing.T) {
	scenario(t)
	check := func(name, port string) Step {
		return Run(name, 20*time.Second, "/bin/receiver", "check", "--port", port)
	}
	o := outcome(t, boot(t, Guest{Kernel: Full, UARTs: []UART{Unwired(), Unwired().FTDI("ftdi0")}, Limit: 2 * time.Minute,
		Args: USBBus, Script: Script{Steps: steps(
			AwaitPath(usbPort, 20*time.Second), Write(usbLatency, "16"), Write(uartFIFO, "14"),
			check("uart", looped), check("ftdi", usbPort),
			Write(uartFIFO, "1"), Write(usbLatency, "1"), check("uart-set", looped), check("ftdi-set", usbPort),
			Write(uartFIFO, "14"), Write(usbLatency, "16"),
			killed(looped, uartFIFO), killed(usbPort, usbLatency), killedInLoop(looped))}}))
	t.Run("as it was", func(t *testing.T) {
		says(t, o, "uart.stdout", "port     driver: serial", "a UART: its interrupt", "UART: 16550A", "yellow  port     rx_trig_bytes: 14",
			"low_latency flag: off", "interrupt: IRQ", "-> run with --low-latency as root, or write 1 to rx_trig_bytes",
			"kernel   tick: ", "kernel   preemption: ", "clock    clock source: ")
		says(t, o, "ftdi.stdout", "port     driver: ftdi_sio, USB 0403:6001", "red     port     latency_timer: 16 ms",
			"characters come in batches 16 ms apart", "USB speed: 12 Mbit/s", "-> run with --low-latency")
		redFirst(t, o, "uart.stdout")
		redFirst(t, o, "ftdi.stdout")
	})
	t.Run("set", func(t *testing.T) {
		says(t, o, "uart-set.stdout", "green   port     rx_trig_bytes: 1", "each character interrupts at once")
		says(t, o, "ftdi-set.stdout", "green   port     latency_timer: 1 ms")
	})
	t.Run("killed in its warm-up", func(t *testing.T) {
		for name, want := range map[string]string{"loop before": "on", "loop left": "on", "loop in the end": "off"} {
			if r, err := o.Step("loopmode", name); err != nil || r.Value != want {
				t.Errorf("%s: %q, want %q (%v)", name, r.Value, want, err)
			}
		}
		says(t, o, "loop-check.stdout", "loopback mode of "+looped+": was off", "start sender or receiver on that port once")
		says(t, o, "loop-next.stderr", "put back what a run that died had left: loopback mode")
	})
	for _, x := range []struct{ port, file, was string }{{looped, uartFIFO, "14"}, {usbPort, usbLatency, "16"}} {
		t.Run("killed on "+filepath.Base(x.port), func(t *testing.T) {
			name := filepath.Base(x.port)
			value(t, o, name+" left", "1")
			command := "echo " + x.was + " | sudo tee " + x.file
			says(t, o, name+"-check.stdout", filepath.Base(x.file)+" of "+x.port+": 1, was "+x.was, "-> "+command)
			says(t, o, name+"-plain.stderr", "left "+filepath.Base(x.file)+" of "+x.port+" changed: it was "+x.was, "hint: put it back: "+command)
			value(t, o, name+" still left", "1")
			says(t, o, name+"-again.stderr", "put back what a run that died had left: ")
			value(t, o, name+" in the end", x.was)
			if out := string(o.Files[name+"-after.stdout"]); strings.Contains(out, " of "+x.port+": ") {
				t.Errorf("all is put back, and check still says:\n%s", out)
			}
		})
	}
}

// killedInLoop is a run that dies in its warm-up, while its UART hears itself.
func killedInLoop(port string) []Step {
	return steps(
		Start("loop-killed", "/bin/receiver", "--port", port, "--warmup", "20s"), Sleep(5*time.Second), LoopMode("loop before", port),
		Signal("loop-killed", 9), Wait("loop-killed", 10*time.Second), LoopMode("loop left", port),
		Run("loop-check", 20*time.Second, "/bin/receiver", "check"),
		Run("loop-next", 20*time.Second, "/bin/receiver", "--port", port, "--warmup", "0", "--duration", "500ms"),
		LoopMode("loop in the end", port))
}

// killed is a run with --low-latency that dies, what the next programs say of
// it, and a run that puts back what it left.
func killed(port, file string) []Step {
	name := filepath.Base(port)
	receive := []string{"/bin/receiver", "--port", port, "--warmup", "0", "--duration", "500ms"}
	low := append(receive[:len(receive):len(receive)], "--low-latency")
	return steps(
		Start(name+"-killed", "/bin/receiver", "--port", port, "--warmup", "0", "--low-latency"), Sleep(2*time.Second),
		Signal(name+"-killed", 9), Wait(name+"-killed", 10*time.Second), Read(name+" left", file),
		Run(name+"-check", 20*time.Second, "/bin/receiver", "check"),
		Run(name+"-plain", 20*time.Second, receive...), Read(name+" still left", file),
		Run(name+"-again", 20*time.Second, low...), Read(name+" in the end", file),
		Run(name+"-after", 20*time.Second, "/bin/sender", "check"))
}

// says asserts that a program's output holds all of that.
func says(t *testing.T, o *Outcome, file string, want ...string) {
	t.Helper()
	out := string(o.Files[file])
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("%s does not say %q:\n%s", file, w, out)
		}
	}
}

// redFirst asserts the order of the items.
func redFirst(t *testing.T, o *Outcome, file string) {
	t.Helper()
	rank := map[string]int{"red": 0, "yellow": 1, "green": 2}
	last, items := 0, 0
	for l := range strings.Lines(string(o.Files[file])) {
		level, _, _ := strings.Cut(l, " ")
		now, ok := rank[level]
		if !ok {
			continue
		}
		if now < last {
			t.Errorf("%s: a %s item behind less urgent ones: %s", file, level, l)
		}
		last, items = now, items+1
	}
	if items < 10 {
		t.Errorf("%s: only %d items", file, items)
	}
}
