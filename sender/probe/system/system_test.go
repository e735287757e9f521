package system

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

// Every clock goes on, never back, and stays away from zero.
func TestClocksGoOn(t *testing.T) {
	runtime.LockOSThread() // one of them counts for this thread
	defer runtime.UnlockOSThread()
	all := Clocks()
	if len(all) < 3 {
		t.Fatalf("only %d clocks", len(all))
	}
	names := map[string]bool{}
	for _, c := range all {
		if key := c.Name + c.Way; names[key] || c.Name == "" || c.Way == "" {
			t.Errorf("clock %q twice or without a name", key)
		} else {
			names[key] = true
		}
		first, last := c.Read(), int64(0)
		end := time.Now().Add(60 * time.Millisecond)
		for last = first; time.Now().Before(end); {
			now := c.Read()
			if now < last {
				t.Fatalf("%s went from %d to %d", c.Name, last, now)
			}
			last = now
		}
		if last <= first || c.Resolution < 0 {
			t.Errorf("%s: %d to %d, resolution %d", c.Name, first, last, c.Resolution)
		}
	}
}

func TestSignal(t *testing.T) {
	s, err := NewSignal()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Wake()
	if !s.Wait() {
		t.Error("a wake before the wait was lost")
	}
	if s.Wait() {
		t.Error("one wake woke twice")
	}
	woke := make(chan bool)
	go func() {
		for range 100 {
			if s.Wait() {
				woke <- true
				return
			}
		}
		woke <- false
	}()
	time.Sleep(20 * time.Millisecond)
	s.Wake()
	if !<-woke {
		t.Error("the wake did not come")
	}
}

func TestTimerSlack(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		got, err := SetTimerSlack(123000)
		if err == nil && got != 123000 {
			t.Errorf("slack reads back %d", got)
		}
		done <- err
	}()
	err := <-done
	if HasTimerSlack == errors.Is(err, errors.ErrUnsupported) || HasTimerSlack && err != nil {
		t.Errorf("%v", err)
	}
}

func TestTimerResolution(t *testing.T) {
	current, finest, err := TimerResolution()
	if HasTimerResolution != (err == nil) || err == nil && (finest <= 0 || current < finest) {
		t.Errorf("%d, %d, %v", current, finest, err)
	}
	if err := BeginPeriod(5); err == nil {
		EndPeriod(5)
	} else if HasTimerResolution {
		t.Error(err)
	}
	if _, ok := MultimediaTime(); ok != HasTimerResolution {
		t.Error("timeGetTime")
	}
}

func TestCPUs(t *testing.T) {
	if list := CPUs(); list != nil && len(list) != runtime.NumCPU() {
		t.Errorf("processors %v, the runtime has %d", list, runtime.NumCPU())
	}
}
