//go:build rig && linux

package qemu

import (
	"net"
	"strings"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestOverrun: forty characters rush through a UART that nobody serves, in the
// middle of a run. The driver counts one overrun, the report says the same,
// the log has it where it happened, and what the FIFO kept are characters too
// many; and again where one process sends and receives.
func TestOverrun(t *testing.T) {
	scenario(t)
	const n, base = 600, 0x2f8 // of ttyS1
	o := outcome(t, boot(t, Guest{Kernel: Full, Virtual: true, UARTs: []UART{Unwired()}, Limit: 2 * time.Minute, Script: Script{Steps: steps(
		Loop(looped), trigger(looped, 1),
		Overrun(base, 40), // before the run: not the run's
		Sleep(200*time.Millisecond), Count("before", looped),
		receiver("over", looped), listening("over"),
		sender("over", looped, fiveMS, "--count", "600"),
		AwaitTX(looped, untilMiddle, 10*time.Second), Sleep(fiveMS+2*time.Millisecond), Overrun(base, 40),
		Wait("over-sender", 20*time.Second), Wait("over-receiver", 20*time.Second),
		Count("after", looped),
		sender("self", looped, fiveMS, "--loopback", "--count", "600"),
		AwaitTX(looped, n/2, 10*time.Second), Sleep(fiveMS+2*time.Millisecond), Overrun(base, 40),
		Wait("self-sender", 20*time.Second))}}))
	s, r := both(t, o, o, "over")
	before, after := twoCounters(t, o)
	if got := after.Overrun - before.Overrun; got != 1 {
		t.Errorf("the driver counted %d overruns, want 1", got)
	}
	equal(t, "errors.overrun", r.Errors.Overrun, 1)
	equal(t, "sender's sent", s.Sent, n)
	equal(t, "lost", r.Lost, 0)
	// The FIFO keeps 16, and the driver adds a zero for what was lost.
	equal(t, "extra", r.Extra, 17)
	balance(t, r)
	marked(t, runLog(t, o, "over-receiver.csv"), "o", 1)

	exitStatus(t, o, "self-sender", "exit status 0")
	self := oneRun(t, o, "self-sender.json")
	equal(t, "errors.overrun of a loopback run", self.Errors.Overrun, 1)
	equal(t, "errors.framing of a loopback run", self.Errors.Framing, 0)
	equal(t, "extra of a loopback run", self.Extra, 17)
	marked(t, runLog(t, o, "self-sender.csv"), "o", 1)
}

// marked asserts that as many arrivals carry a line error's flag, each the one
// with the zero that the driver hands on for it, and no other does.
func marked(t *testing.T, l Log, flag string, want int) {
	t.Helper()
	found, zero, flags := 0, true, ""
	for i, e := range append(l.Events, LogRow{Batch: 1}) {
		if e.Batch > 0 { // the arrival before is whole
			if strings.Contains(flags, flag) != zero && i > 0 {
				t.Errorf("the arrival before row %d has the flags %q; a zero in it: %v", i, flags, zero)
			}
			zero, flags = false, e.Flags
			found += strings.Count(flags, flag)
		}
		zero = zero || e.Byte == 0
	}
	if found != want {
		t.Errorf("%d arrivals with the flag %s, want %d", found, flag, want)
	}
}

func twoCounters(t *testing.T, o *Outcome) (before, after Counters) {
	t.Helper()
	before, err := o.Counters("before")
	if err != nil {
		t.Fatal(err)
	}
	after, err = o.Counters("after")
	if err != nil {
		t.Fatal(err)
	}
	return before, after
}

// TestBreak: a bare stream, as from a program that knows no announcements,
// with two breaks in the middle, which the log has where they came. QEMU carries a break over telnet only, and
// can cause no framing or parity error.
func TestBreak(t *testing.T) {
	scenario(t)
	const port = "/dev/ttyS1"
	path := socket(t, "line")
	m := boot(t, Guest{Kernel: Cloud, UARTs: []UART{Telnet(path)}, Limit: time.Minute, Script: Script{Steps: steps(
		Hold(port), trigger(port, 1), Count("before", port),
		receiver("brk", port, "--idle", "3s"), listening("brk"), Mark("listening"),
		Wait("brk-receiver", 40*time.Second), Count("after", port))}})
	mark(t, m, "listening")
	line, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	const text = ` !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFG`
	for i, c := range []byte(text) {
		send := []byte{c}
		if i == 15 || i == 25 {
			send = []byte{255, 243, c} // telnet's IAC BRK
		}
		if _, err := line.Write(send); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	o := outcome(t, m)
	exitStatus(t, o, "brk-receiver", "exit status 0")
	before, after := twoCounters(t, o)
	if got := after.Break - before.Break; got != 2 {
		t.Errorf("the driver counted %d breaks, want 2", got)
	}
	r := oneRun(t, o, "brk-receiver.json")
	equal(t, "errors.break", r.Errors.Break, 2)
	equal(t, "errors.overrun", r.Errors.Overrun, 0)
	l := runLog(t, o, "brk-receiver.csv")
	marked(t, l, "b", 2)
	var heard strings.Builder
	for _, e := range l.Events {
		if e.Byte != 0 { // a break reads as a zero where it is not filtered
			heard.WriteByte(e.Byte)
		}
	}
	if heard.String() != text {
		t.Errorf("heard %q, sent %q", heard.String(), text)
	}
	if r.Sent != nil && *r.Sent != 0 {
		t.Errorf("sent is %d, though nobody announced it", *r.Sent)
	}
}
