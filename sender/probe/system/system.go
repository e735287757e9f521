// Package system is what the probes ask of the system below the os package:
// its clocks, a way for one thread to wake another, timer slack, the timer
// resolution of Windows, and which processors there are.
//
// It promises that nothing here measures or judges: each function is one call,
// or the plainest sequence of calls, so that its caller's figures are the
// system's. Where a system has no such thing the functions say so with
// errors.ErrUnsupported, an empty list or ok = false.
package system

// Clock is one of the system's clocks.
type Clock struct {
	Name string // the system's own
	Way  string // how this program reads it: "vDSO", "system call", …
	// Resolution is what the system states, in ns; 0 where it states nothing.
	Resolution int64
	Read       func() int64 // ns since the clock's own zero
}

// Clocks lists the clocks of this system; the first is the one that the hot
// loops read.
func Clocks() []Clock { return clocks() }

// CPUs lists the processors that this process may use, nil where the system
// does not tell or does not let a thread choose.
func CPUs() []int { return cpus() }

// SignalCall says what a Signal is on this system.
func SignalCall() string { return signalCall }

// SetTimerSlack sets by how many ns the system may delay the sleeps of the
// calling thread, and gives what it then reads back. Linux only.
func SetTimerSlack(ns int64) (got int64, err error) { return setTimerSlack(ns) }

// HasTimerSlack tells whether this system has timer slack.
const HasTimerSlack = hasTimerSlack

// HasTimerResolution tells whether this system has a timer resolution that
// processes ask for: Windows.
const HasTimerResolution = hasTimerResolution

// TimerResolution gives the system-wide interval of the timer interrupt that
// is in force, and the finest there is, in ns (NtQueryTimerResolution).
func TimerResolution() (current, finest int64, err error) { return timerResolution() }

// BeginPeriod asks for a timer resolution of so many ms (timeBeginPeriod), in
// the name of this process, and EndPeriod takes that back.
func BeginPeriod(ms uint32) error { return beginPeriod(ms) }

// EndPeriod takes a BeginPeriod back.
func EndPeriod(ms uint32) error { return endPeriod(ms) }

// MultimediaTime is timeGetTime: ms since the start, from a counter that the
// timer interrupt advances.
func MultimediaTime() (ms uint32, ok bool) { return multimediaTime() }

// SleepMillisecond is Sleep(1) of Windows.
func SleepMillisecond() { sleepMillisecond() }

// RuntimeAsksForResolution tells that the Go runtime itself asks for 1 ms in
// this process, as it does where Windows has no high-resolution timers; then
// the process cannot see what others get.
func RuntimeAsksForResolution() bool { return runtimeAsks() }
