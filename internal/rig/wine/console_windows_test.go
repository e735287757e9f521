package wine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"serialtiming/internal/cli"
)

// The events of a console (wincon.h).
var events = []struct {
	name   string
	number uintptr
}{{"Ctrl-C", 0}, {"Ctrl-Break", 1}, {"close", 2}, {"logoff", 5}, {"shutdown", 6}}

const eventVariable = "SERIALTIMING_CONSOLE_EVENT"

// TestConsoleEventsEndARunInOrder has a child raise each event in itself, in the
// way of the system: a new thread in CtrlRoutine. Each must cancel the context
// and leave the program the time to write its report: on close, logoff and
// shutdown Windows ends the process as soon as the handlers are through.
func TestConsoleEventsEndARunInOrder(t *testing.T) {
	for _, e := range events {
		if os.Getenv(eventVariable) == e.name {
			raise(t, e.number)
			return
		}
	}
	for _, e := range events {
		t.Run(e.name, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestConsoleEventsEndARunInOrder$", "-test.v")
			c.Env = append(os.Environ(), eventVariable+"="+e.name)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "report written") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// raise is the child.
func raise(t *testing.T, event uintptr) {
	ctx, stop := cli.Interrupts(context.Background())
	defer stop()
	kernel32 := syscall.NewLazyDLL("kernel32.dll")
	routine := syscall.NewLazyDLL("kernelbase.dll").NewProc("CtrlRoutine")
	if err := routine.Find(); err != nil {
		t.Fatal(err)
	}
	thread, _, err := kernel32.NewProc("CreateThread").Call(0, 0, routine.Addr(), event, 0, 0)
	if thread == 0 {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the event did not arrive")
	}
	time.Sleep(300 * time.Millisecond) // a report takes its time
	fmt.Println("report written")
}
