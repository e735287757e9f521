package wait

// Loop is a hot loop.
type Loop interface {
	// Hot runs it. On Linux it and everything that it calls has no stack
	// check (//go:nosplit all the way down: where there is one, the runtime
	// ends the program), allocates nothing and stores no pointer.
	Hot()
}

// Outside runs a hot loop on the calling goroutine's thread. On Linux that is
// outside the Go scheduler: to the runtime the whole loop is one system call.
// So it holds no processor of the scheduler: nothing that stops the world (a
// collection, statistics) has to wait for it, the scheduler neither preempts
// it nor polls to see whether it should, and the rest of the program runs on.
// Entering and leaving a call costs 35 µs at the median; here it is paid once.
//
// With the race detector, which needs the scheduler's processor, and on the
// other systems the loop is an ordinary one.
func Outside(l Loop) { outside(l) }
