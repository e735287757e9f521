package load

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// worker is the process of a built-in load.
type worker struct {
	spec Spec
	out  *speaker
	over <-chan struct{} // the supervisor wants an end, or is gone
}

// workMain waits until the supervisor has it in its group, then loads the
// machine until the supervisor is gone.
func workMain(s Spec) int {
	var one [1]byte
	if n, _ := os.Stdin.Read(one[:]); n != 1 {
		return 1
	}
	w := &worker{spec: s, out: &speaker{w: os.Stdout}, over: leaseEnds()}
	// Its threads never come to the scheduler, so a collection would wait for
	// ever; none is needed, since nothing is allocated.
	debug.SetGCPercent(-1)
	work := map[Kind]func() error{
		Command: w.command, Threads: w.threads, Memory: w.memory, Disk: w.disk,
	}[s.Kind]
	if work == nil {
		return 2
	}
	failed := make(chan error, 1)
	go func() { failed <- work() }()
	select {
	case <-w.over:
		return 0
	case err := <-failed:
		if status := (*exitStatus)(nil); errors.As(err, &status) {
			return status.code
		}
		w.out.say(message{Kind: sayFail, Text: err.Error()})
		return 1
	}
}

// exitStatus is the end of a command whose worker ends like it.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

func (w *worker) ready() { w.out.say(message{Kind: sayReady}) }

func (w *worker) note(format string, a ...any) {
	w.out.say(message{Kind: sayNote, Text: fmt.Sprintf(format, a...)})
}

// roomFor lets n threads run at once beside those of the runtime.
func roomFor(n int) {
	debug.SetMaxThreads(n + 1000)
	runtime.GOMAXPROCS(n + 8)
}

// threads runs so many busy threads of the system, as seed 003 did. All of
// them wait in the system, not in the scheduler, before the first of them
// spins: to hand 400 threads over one by one while those before them spin took
// 20 s here.
func (w *worker) threads() error {
	n := w.spec.Threads
	if err := setPriority(w.spec.Priority); err != nil {
		w.note("the threads have not the priority %s: %v", w.spec.Priority, err)
	}
	roomFor(n)
	g, err := newGate()
	if err != nil {
		return err
	}
	var there, spinning atomic.Int64
	for range n {
		go func() {
			runtime.LockOSThread()
			there.Add(1)
			g.wait()
			spinning.Add(1)
			spin()
		}()
	}
	await(&there, n, startLimit)
	g.open()
	await(&spinning, n, spinLimit)
	w.ready()
	select {}
}

// spinLimit bounds the wait for threads that are ready to run: those of a low
// priority may have to wait for a processor as long as anything else runs.
const spinLimit = 2 * time.Second

// await polls: a channel would need the scheduler to run on a thread that may
// be the last in a queue of hundreds.
func await(n *atomic.Int64, want int, limit time.Duration) {
	end := time.Now().Add(limit)
	for n.Load() < int64(want) && time.Now().Before(end) {
		time.Sleep(2 * time.Millisecond)
	}
}

// sink keeps the compiler from leaving the work out.
var sink uint64

// spin computes for ever, without a call.
func spin() {
	x := uint64(1)
	for {
		x = x*6364136223846793005 + 1442695040888963407
		if x == 0 { // comes once in 2^64 rounds
			sink++
		}
	}
}

// memory takes memory, touches every page and gives it back, over and over in
// each worker, as `stress --vm` of seed 002 does.
func (w *worker) memory() error {
	s := w.spec
	if free, ok := memoryFree(); ok && int64(s.Workers)*s.Size > free/10*9 {
		return fmt.Errorf("%d workers of %s are more than nine tenths of the %s that are free: the system would end a process for it",
			s.Workers, sizeText(s.Size), sizeText(free))
	}
	preferKill()
	roomFor(s.Workers)
	var touched atomic.Int64
	failed := make(chan error, s.Workers)
	for range s.Workers {
		go func() {
			runtime.LockOSThread()
			failed <- churn(s.Size, &touched)
		}()
	}
	said := make(chan struct{})
	go func() {
		await(&touched, s.Workers, startLimit)
		close(said)
	}()
	for {
		select {
		case <-said:
			w.ready()
			said = nil
		case err := <-failed:
			return err
		}
	}
}

// churn is one worker; touched counts those that had all their memory once.
func churn(size int64, touched *atomic.Int64) error {
	const page = 4 << 10
	for first := true; ; first = false {
		b, err := takeMemory(size)
		if err != nil {
			return fmt.Errorf("take %s of memory: %w", sizeText(size), err)
		}
		for i := 0; i < len(b); i += page {
			b[i] = 'Z'
		}
		if first {
			touched.Add(1)
		}
		if err := giveMemory(b); err != nil {
			return fmt.Errorf("give memory back: %w", err)
		}
	}
}

// sizeText writes bytes as the command line has them.
func sizeText(n int64) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{40, "T"}, {30, "G"}, {20, "M"}, {10, "K"}} {
		if n >= 1<<u.shift {
			return fmt.Sprintf("%.4g%s", float64(n)/float64(int64(1)<<u.shift), u.name)
		}
	}
	return fmt.Sprint(n)
}
