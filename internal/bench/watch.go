package main

import (
	"fmt"
	"io"
	"time"

	"serialtiming/internal/realtime"
	"serialtiming/receiver/watch"
)

// watchContestants are the path without and with the receiver's watching
// threads.
func watchContestants(o options, s *realtime.Session) []contestant {
	watched := func(thread *realtime.Observed) func() {
		w := watch.Start(s, thread, 200*time.Microsecond)
		w.Place()
		end := polled(w)
		return func() { end(); w.Stop() }
	}
	return []contestant{
		{"without the watch", func() (round, error) { return goPath(o, s, nil) }},
		{"with the watch", func() (round, error) { return goPath(o, s, watched) }},
	}
}

// polled looks at a watch as the receiver does.
func polled(w *watch.Watch) (end func()) {
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				w.Stalls()
			}
		}
	}()
	return func() { close(stop); <-done }
}

// benchWatch compares both and measures what the watching alone costs.
func benchWatch(o options, s *realtime.Session, stdout io.Writer) error {
	if err := compete(stdout, o.title("What the watching threads cost: write to stamp on a pseudo-terminal"), o.rounds, watchContestants(o, s)); err != nil {
		return err
	}
	share, err := watchShare(s, max(o.length, 5*time.Second))
	if err == nil {
		fmt.Fprintf(stdout, "the two threads take %.2f %% of a processor\n\n", 100*share)
	}
	return err
}

// watchShare is what the two threads take of a processor while the receiver's
// own thread sleeps.
func watchShare(s *realtime.Session, d time.Duration) (share float64, err error) {
	_, err = onThread(s, func([]realtime.Grant) error {
		seen := realtime.Observe()
		defer seen.Close()
		began := time.Now()
		w := watch.Start(s, seen, time.Hour)
		w.Place()
		end := polled(w)
		time.Sleep(d)
		end()
		w.Stop()
		share = float64(w.Used()) / float64(time.Since(began))
		return nil
	})
	return share, err
}
