// Package realtime asks the system for what a hot loop needs, and reads back
// what it really gave.
//
// It promises: no request is taken as granted because the call succeeded
// (each is read back where the system allows it); a refusal is no error but a
// [Grant] that says why and what to do about it; nothing is asked that would
// harm the process when it is half granted (memory is locked only after the
// limits were looked at); [Session.Restore] puts the process back.
//
// # What makes a Go process late
//
// Why it would wake later than C, one cause at a time. Figures in
// microseconds, p50 and p99 of woke - due at a period of 1 ms, SCHED_FIFO, best
// of interleaved rounds unless said otherwise; Go 1.26, Linux 6.18, a virtual
// machine of two processors that other programs loaded heavily (load average
// 5 to 150). `go run ./internal/bench -parts causes` measures most of it again.
//
//	cause                                         with it          without   kept out by
//	ordinary scheduler and deep idle states       23    / 444      17 / 39   SCHED_FIFO, /dev/cpu_dma_latency
//	time.Sleep (epoll, whole milliseconds)        562   / 3549     17 / 39   internal/wait
//	the Go scheduler around each wait             19.7  / 39.2     17 / 39   raw system calls
//	  its worst of ten rounds, p99                39 702           117
//	stack checks in the loop (preemption)         18.3  / 44.5     17 / 39   wait.Outside; a test reads the machine code
//	  its worst of ten rounds, p99                39 630           117
//	SIGURG ends a raw sleep early                 17.2  / 41       17 / 39   LockThread blocks signals
//	memory not locked                             18.9  / 44       17 / 39   Request.LockMemory
//	the loop holds a processor of the scheduler,
//	  which polls it (quiet machine)              13.7  / 18.5     13.5 / 18.6  wait.Outside
//	  its worst of twenty rounds, p50             22.2             17.4
//	timerfd set again by the waking read          18.8  / 31.5     13.7 / 27 poll to wake, read before the next wait
//	port in the Go runtime's own poller (to the
//	  stamp at the other end of a cable)          24    / 44       8 / 27    wait.FD.Watched tells; open ports with unix.Open
//
// So what counts in the worst rounds is the scheduler: a thread that gives its
// processor back, at a stack check or around a system call, gets it again only
// when ordinary threads of the runtime have run, and on a loaded machine those
// wait for tens of milliseconds. SIGURG and unlocked memory make no difference
// beyond the noise here; they stay because each is rare and large (a wake up
// to a period early; a page fault that waits for a disk).
//
// On a quiet machine the same loop without the schedule and the port wakes at
// 13.2 µs, as C's does (13.4): what Go itself costs is below what this bench
// can see. The periodic timer's 14.0 is the kernel's: C with a timerfd and poll
// has 13.9. Beside cyclictest, twice ten rounds of 2 s of the program without
// the C library: absolute 1.00 and 0.99 times its p50, 0.90 and 1.02 its p99,
// 0.89 and 0.94 its p99.9; beside stress-ng --cpu 2 --vm 1 1.00, 0.91 and 0.83.
//
// Beside cyclictest, best round over best round, in seven runs of the bench at
// loads of 2 to 400: absolute 0.79 to 1.09 times its p50 (middle 0.88) and 0.43
// to 1.17 times its p99 (middle 0.96); periodic 0.72 to 1.12 and 0.49 to 1.19;
// hybrid 0.02 to 0.04 and 0.01 to 0.04, for 17 to 23 % of a processor. Write to
// stamp beside a C loop on a pseudo-terminal: 0.92 to 1.13 times its p50; at
// p99 the kernel's worker between the two ends, an ordinary thread, decides on
// such a machine, for both (0.27 to 4.8).
//
// Also kept out: changes of GOMAXPROCS by the runtime during a run (since Go
// 1.25 it follows the container's limit, and stops the world for it), by
// setting it. And whatever stops the world: to the scheduler a hot loop is one
// long system call (internal/wait, Outside), which nobody has to wait for. The
// collections of a run are made by this package all the same.
//
// A thread that spins at real-time priority uses all of its processor; the
// kernel then takes it away for 50 ms in each second (sched_rt_runtime_us), or
// gives ordinary tasks their share in another way. That is the maximum of the
// spin timer, and it is not the program's.
package realtime
