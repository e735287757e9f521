// Package script is what the host tells a guest to do: a list of steps that
// the guest's init works off, and the record that it brings back. It is pure
// data, shared by both sides.
package script

import "time"

// Script is one guest's work.
type Script struct {
	Steps []Step `json:"steps"`
	// Deadline is the guest time after which init asks every program for its
	// stacks (SIGQUIT), saves what there is and powers off.
	Deadline time.Duration `json:"deadline"`
}

// Step is one thing to do. Which fields count depends on Do.
type Step struct {
	Do   string        `json:"do"`
	Name string        `json:"name,omitempty"` // of a program, or of a value in the record
	Path string        `json:"path,omitempty"` // of a file or a port
	Text string        `json:"text,omitempty"`
	Args []string      `json:"args,omitempty"`
	For  time.Duration `json:"for,omitempty"`
	Each time.Duration `json:"each,omitempty"`
	N    int64         `json:"n,omitempty"`
	Base uint16        `json:"base,omitempty"` // an I/O port
}

// Result is what became of a step. From and To are guest CLOCK_MONOTONIC, ns.
type Result struct {
	Step  Step   `json:"step"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Value string `json:"value,omitempty"`
	Err   string `json:"err,omitempty"`
}

// Counters are the driver's counts (TIOCGICOUNT) since the port came up.
type Counters struct {
	RX, TX, Framing, Overrun, Parity, Break, BufferOverrun, DCD int32
}

// Start runs a program in the background; its stdout and stderr come back as
// NAME.stdout and NAME.stderr.
func Start(name string, args ...string) Step { return Step{Do: "start", Name: name, Args: args} }

// Wait waits until the program ends; Value is its exit status, "timeout" after
// d: it is then asked for its stacks and killed.
func Wait(name string, d time.Duration) Step { return Step{Do: "wait", Name: name, For: d} }

// Run is Start and Wait.
func Run(name string, d time.Duration, args ...string) Step {
	return Step{Do: "run", Name: name, For: d, Args: args}
}

// Signal sends a signal by number.
func Signal(name string, n int) Step { return Step{Do: "signal", Name: name, N: int64(n)} }

// Sleep lets guest time pass.
func Sleep(d time.Duration) Step { return Step{Do: "sleep", For: d} }

// Read reads a file into the record.
func Read(name, path string) Step { return Step{Do: "read", Name: name, Path: path} }

// Write writes text to a file (sysfs, a port as it is).
func Write(path, text string) Step { return Step{Do: "write", Path: path, Text: text} }

// Hold opens a port and keeps it, so that its UART and counters stay up.
func Hold(path string) Step { return Step{Do: "hold", Path: path} }

// Unhold closes what Hold or Loop opened.
func Unhold(path string) Step { return Step{Do: "unhold", Path: path} }

// Loop holds a port and puts its UART in loopback mode.
func Loop(path string) Step { return Step{Do: "loop", Path: path} }

// Count records the driver's Counters, as JSON.
func Count(name, path string) Step { return Step{Do: "count", Name: name, Path: path} }

// LowLatency records "on" or "off", the port's low_latency flag.
func LowLatency(name, path string) Step { return Step{Do: "lowlatency", Name: name, Path: path} }

// LoopMode records "on" or "off", whether the port's UART is in loopback mode.
func LoopMode(name, path string) Step { return Step{Do: "loopmode", Name: name, Path: path} }

// AwaitTX waits until n more characters than at the step's start left the port.
func AwaitTX(path string, n int, d time.Duration) Step {
	return Step{Do: "await-tx", Path: path, N: int64(n), For: d}
}

// AwaitPath waits for a file to appear; AwaitGone for it to vanish.
func AwaitPath(path string, d time.Duration) Step {
	return Step{Do: "await-path", Path: path, For: d}
}

// AwaitGone waits for a file to vanish.
func AwaitGone(path string, d time.Duration) Step {
	return Step{Do: "await-gone", Path: path, For: d}
}

// AwaitSize waits until a file holds n bytes.
func AwaitSize(path string, n int, d time.Duration) Step {
	return Step{Do: "await-size", Path: path, N: int64(n), For: d}
}

// Mark prints a line on the console for the host, which waits for it.
func Mark(text string) Step { return Step{Do: "mark", Text: text} }

// Stall stops a program (SIGSTOP) for d and lets it go on.
func Stall(name string, d time.Duration) Step { return Step{Do: "stall", Name: name, For: d} }

// Hog spins above every program for d: on one processor all stand still.
func Hog(d time.Duration) Step { return Step{Do: "hog", For: d} }

// Overrun pushes n characters through a UART in loopback mode at I/O port base
// while its interrupts are off: beyond its FIFO of 16 they are an overrun.
func Overrun(base uint16, n int) Step {
	return Step{Do: "overrun", N: int64(n), Base: base}
}

// Emit puts n characters of the cycle on the line of a UART in loopback mode
// at I/O port base, one each period, past its driver: on one processor in
// virtual time the instant is known to what a system call takes. Value is a
// JSON list of [before, after], guest CLOCK_MONOTONIC in ns.
func Emit(name string, base uint16, n int, each time.Duration) Step {
	return Step{Do: "emit", Name: name, N: int64(n), Base: base, Each: each}
}
