package realtime

import (
	"runtime"
	"testing"
	"time"
)

func TestParseRunDelay(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
		ok   bool
	}{{"15 123456 9\n", 123456, true}, {"15", 0, false}, {"", 0, false}, {"a b c", 0, false}} {
		if got, err := parseRunDelay(c.text); (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

func TestParseThreadUsage(t *testing.T) {
	stat := "12 (a) b) S 1 2 3 4 5 6 77 8 9 10 11\n"
	c, err := parseThreadUsage(stat, "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n")
	if err != nil || c.PageFaults != 77+9 || c.MajorFaults != 9 || c.InvoluntarySwitches != 6 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "12 (a) S 1", "12 (a) S 1 2 3 4 5 6 x 8 9 10"} {
		if _, err := parseThreadUsage(bad, "nonvoluntary_ctxt_switches: 1\n"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if _, err := parseThreadUsage(stat, "voluntary_ctxt_switches: 1\n"); err == nil {
		t.Error("no switches: no error")
	}
}

func TestObserveSeesTheThreadFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows another thread's counters")
	}
	seen, end := make(chan *Observed), make(chan bool)
	go func() {
		runtime.LockOSThread()
		seen <- Observe()
		<-end
	}()
	o := <-seen
	defer close(end)
	defer o.Close()
	if _, ok := o.Usage(); !ok {
		t.Error("no counters")
	}
	if _, ok := o.RunDelay(); !ok {
		t.Log("this kernel counts no run delay")
	}
}
