//go:build rig && linux

package qemu

import (
	"os"
	"os/exec"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

const (
	looped = "/dev/ttyS1" // a UART in loopback mode
	cableA = "/dev/ttyS2" // cabled to each other
	cableB = "/dev/ttyS3"

	fiveMS = 5 * time.Millisecond
)

// oneGuest has a UART in loopback mode and two that are cabled.
func oneGuest(t *testing.T) []UART {
	t.Helper()
	a, b, err := Cable()
	if err != nil {
		t.Fatal(err)
	}
	return []UART{Unwired(), a, b}
}

// TestExact: in virtual time a period of 5 ms is 5 ms to within 100 µs, also
// while the host is busy.
func TestExact(t *testing.T) {
	scenario(t)
	for _, load := range []string{"quiet host", "busy host"} {
		t.Run(load, func(t *testing.T) {
			if load == "busy host" {
				hogHost(t, 2)
			}
			m := boot(t, Guest{Kernel: Cloud, Virtual: true, Quick: true, UARTs: oneGuest(t), Limit: 4 * time.Minute, Script: Script{Steps: steps(
				Loop(looped), trigger(looped, 1), trigger(cableB, 1),
				exchange("loop", looped, looped, fiveMS, 60*time.Second, "--timer", "absolute", "--count", "2000"),
				exchange("cable", cableA, cableB, fiveMS, 60*time.Second, "--timer", "periodic", "--count", "2000"),
				sender("self", looped, fiveMS, "--loopback", "--count", "2000"), Wait("self-sender", 60*time.Second))}})
			o := outcome(t, m)
			for _, run := range []string{"loop", "cable"} {
				t.Run(run, func(t *testing.T) {
					s, r := both(t, o, o, run)
					l := runLog(t, o, run+"-receiver.csv")
					whole(t, s, r, l, 2000)
					announced(t, r, fiveMS)
					equal(t, "missed", s.Missed, 0)
					if run == "cable" && !m.Quick {
						t.Skip("no right to a real-time policy: the cable is as good as the host is quiet")
					}
					exact(t, l, fiveMS, 100*time.Microsecond)
				})
			}
			t.Run("self", func(t *testing.T) {
				exitStatus(t, o, "self-sender", "exit status 0")
				r := oneRun(t, o, "self-sender.json")
				l := runLog(t, o, "self-sender.csv")
				equal(t, "characters", &r.Characters, 2000)
				balance(t, r)
				inOrder(t, l, 2000)
				exact(t, l, fiveMS, 100*time.Microsecond)
			})
		})
	}
}

// exact asserts p1 and p99 of the intervals in the log.
func exact(t *testing.T, l Log, want, within time.Duration) {
	t.Helper()
	v := intervals(l)
	p1, p50, p99 := quantile(v, 0.01), quantile(v, 0.5), quantile(v, 0.99)
	t.Logf("interval p1 %.1f, p50 %.1f, p99 %.1f, max %.1f µs of %d", micro(p1), micro(p50), micro(p99), micro(quantile(v, 1)), len(v))
	between(t, "interval p1", p1, want-within, want+within)
	between(t, "interval p99", p99, want-within, want+within)
}

// hogHost keeps n processors of the host busy until the test ends.
func hogHost(t *testing.T, n int) {
	t.Helper()
	for range n {
		c := exec.Command("sh", "-c", "while :; do :; done")
		c.Stderr = os.Stderr
		if err := Spawn(c); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	}
}

const lowFIFO = "/sys/class/tty/ttyS3/rx_trig_bytes" // of cableB

// TestLowLatency: flag and FIFO are set for the time of a run, and put back.
func TestLowLatency(t *testing.T) {
	scenario(t)
	flag := []string{"--low-latency"}
	if fault("flag") {
		flag = nil
	}
	o := outcome(t, boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: oneGuest(t), Limit: time.Minute, Script: Script{Steps: steps(
		LowLatency("before A", cableA), LowLatency("before B", cableB), Write(lowFIFO, "8"),
		receiver("low", cableB, flag...), listening("low"),
		sender("low", cableA, fiveMS, append(flag, "--count", "400")...), Sleep(time.Second),
		LowLatency("during A", cableA), LowLatency("during B", cableB), Read("trigger during", lowFIFO),
		Wait("low-sender", 20*time.Second), Wait("low-receiver", 20*time.Second),
		LowLatency("after A", cableA), LowLatency("after B", cableB), Read("trigger after", lowFIFO))}}))
	s, r := both(t, o, o, "low")
	whole(t, s, r, runLog(t, o, "low-receiver.csv"), 400)
	value(t, o, "trigger during", "1")
	value(t, o, "trigger after", "8")
	for _, side := range []string{"A", "B"} {
		for _, x := range [][2]string{{"before", "off"}, {"during", "on"}, {"after", "off"}} {
			if got, err := o.Step("lowlatency", x[0]+" "+side); err != nil || got.Value != x[1] {
				t.Errorf("low_latency of %s %s the run is %q, want %q (%v)", side, x[0], got.Value, x[1], err)
			}
		}
	}
}
