package realtime

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestParseProcessor(t *testing.T) {
	fields := strings.Repeat("0 ", 36) // state to exit_signal
	for _, c := range []struct {
		stat string
		want int
		ok   bool
	}{
		{"12 (a) b) " + fields + "5 0 0\n", 5, true},
		{"12 (a) " + fields, 0, false},
		{"12 (a) " + fields + "x", 0, false},
		{"", 0, false},
	} {
		if got, err := parseProcessor(c.stat); (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %d, %v", c.stat, got, err)
		}
	}
}

func TestAThreadIsMovedFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets one thread bind another")
	}
	type both struct {
		p *Placed
		o *Observed
	}
	here, end := make(chan both), make(chan bool)
	go func() {
		runtime.LockOSThread()
		here <- both{PlaceThread(), Observe()}
		<-end
	}()
	b := <-here
	defer close(end)
	defer b.o.Close()
	cpu, ok := b.o.CPU()
	if !ok || cpu < 0 {
		t.Fatalf("on processor %d, %v", cpu, ok)
	}
	if got, err := b.p.On(cpu); err != nil || got != strconv.Itoa(cpu) {
		t.Errorf("on %d: %q, %v", cpu, got, err)
	}
	got, err := b.p.Off(cpu)
	switch {
	case runtime.NumCPU() == 1:
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("off the only one: %q, %v", got, err)
		}
	case err != nil || got == strconv.Itoa(cpu) || got == "":
		t.Errorf("off %d: %q, %v", cpu, got, err)
	}
}
