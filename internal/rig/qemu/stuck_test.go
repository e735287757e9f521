//go:build rig && linux

package qemu

import (
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestStuckLine: a line that takes no more characters (an adapter that hangs,
// flow control that somebody left on) must not keep a sender from ending, by
// itself or by Ctrl-C.
func TestStuckLine(t *testing.T) {
	scenario(t)
	line, end, err := Stuck()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	const port = "/dev/ttyS1"
	o := outcome(t, boot(t, Guest{Kernel: Cloud, UARTs: []UART{line}, Limit: time.Minute, Script: Script{Steps: steps(
		sender("stuck", port, time.Millisecond, "--count", "100000", "--plain"), Sleep(8*time.Second),
		Signal("stuck-sender", 2), Wait("stuck-sender", 10*time.Second))}}))
	exitStatus(t, o, "stuck-sender", "exit status 1")
	s := oneRun(t, o, "stuck-sender.json")
	if s.Sent == nil || *s.Sent == 0 || *s.Sent > 8000 {
		t.Errorf("sent is %v of what the line took", show(s.Sent))
	}
}
