//go:build rig && linux

package qemu

import (
	"math"
	"slices"
	"testing"
	"time"
)

// exitStatus asserts how a program ended.
func exitStatus(t *testing.T, o *Outcome, program, want string) {
	t.Helper()
	r, err := o.Step("wait", program)
	if err != nil {
		t.Error(err)
	} else if r.Value != want {
		t.Errorf("%s ended with %q, want %q", program, r.Value, want)
	}
}

// both reads the run's two reports; each holds exactly one run.
func both(t *testing.T, sent, heard *Outcome, run string) (s, r RunReport) {
	t.Helper()
	exitStatus(t, sent, run+"-sender", "exit status 0")
	exitStatus(t, heard, run+"-receiver", "exit status 0")
	return oneRun(t, sent, run+"-sender.json"), oneRun(t, heard, run+"-receiver.json")
}

func oneRun(t *testing.T, o *Outcome, file string) RunReport {
	t.Helper()
	rep, err := o.Report(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Runs) != 1 {
		t.Fatalf("%s: %d runs, want 1", file, len(rep.Runs))
	}
	return rep.Runs[0]
}

func runLog(t *testing.T, o *Outcome, file string) Log {
	t.Helper()
	l, err := o.Log(file)
	if err != nil {
		t.Fatal(err)
	}
	if l.Tail != "" {
		t.Errorf("%s is torn: it ends in %q", file, l.Tail)
	}
	return l
}

// equal asserts figures by name; a null figure (nil) equals nothing.
func equal(t *testing.T, what string, got *int64, want int64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is null, want %d", what, want)
	} else if *got != want {
		t.Errorf("%s is %d, want %d", what, *got, want)
	}
}

// whole asserts that all characters arrived, once and in order, and that the
// receiver heard what the sender says.
func whole(t *testing.T, s, r RunReport, l Log, n int64) {
	t.Helper()
	equal(t, "sender's sent", s.Sent, n)
	equal(t, "heard: sent", r.Sent, n)
	equal(t, "characters", &r.Characters, n)
	for _, f := range []struct {
		name string
		got  *int64
	}{{"lost", r.Lost}, {"duplicated", r.Duplicated}, {"corrupted", r.Corrupted}, {"extra", r.Extra}, {"before_start", r.BeforeStart}} {
		equal(t, f.name, f.got, 0)
	}
	if r.LostIsMinimum {
		t.Error("lost_is_minimum, though the sender announced its count")
	}
	if r.Characters != r.Events+r.Batched {
		t.Errorf("%d characters are not %d events + %d batched", r.Characters, r.Events, r.Batched)
	}
	if r.Label != s.Label {
		t.Errorf("heard label %q, announced %q", r.Label, s.Label)
	}
	if s.Missed == nil || r.Missed == nil || *s.Missed != *r.Missed {
		t.Errorf("heard missed %v, announced %v", show(r.Missed), show(s.Missed))
	}
	balance(t, r)
	inOrder(t, l, n)
}

func show(p *int64) any {
	if p == nil {
		return "null"
	}
	return *p
}

// figure is a figure in ns as text.
func figure(p *float64) string {
	if p == nil {
		return "null"
	}
	return time.Duration(*p).String()
}

// balance: sent + duplicated + extra = received + lost + before_start.
func balance(t *testing.T, r RunReport) {
	t.Helper()
	for _, p := range []*int64{r.Sent, r.Duplicated, r.Extra, r.Lost, r.BeforeStart} {
		if p == nil {
			t.Error("a figure of the balance is null")
			return
		}
	}
	if in, out := *r.Sent+*r.Duplicated+*r.Extra, r.Characters+*r.Lost+*r.BeforeStart; in != out {
		t.Errorf("balance: sent %d + duplicated %d + extra %d is not received %d + lost %d + before_start %d",
			*r.Sent, *r.Duplicated, *r.Extra, r.Characters, *r.Lost, *r.BeforeStart)
	}
}

// inOrder reads the log without the code under test: ' ' to '~', again and again.
func inOrder(t *testing.T, l Log, n int64) {
	t.Helper()
	if int64(len(l.Events)) != n {
		t.Errorf("the log has %d rows, want %d", len(l.Events), n)
	}
	for i, e := range l.Events {
		if want := byte(' ' + i%95); e.Byte != want {
			t.Errorf("the log's character %d is %q, want %q", i, e.Byte, want)
			return
		}
	}
}

// meanInterval is over characters. What the sender missed on its grid are
// intervals too. 0: the report does not say.
func meanInterval(r RunReport) float64 {
	if r.FirstNS == nil || r.LastNS == nil || r.Missed == nil || r.Characters < 2 {
		return 0
	}
	return float64(*r.LastNS-*r.FirstNS) / float64(r.Characters-1+*r.Missed)
}

// near says whether the mean interval is right within a share of it.
func near(r RunReport, want time.Duration, within float64) bool {
	return math.Abs(meanInterval(r)/float64(want)-1) <= within
}

func mean(t *testing.T, r RunReport, want time.Duration, within float64) {
	t.Helper()
	t.Logf("mean interval %.3f µs, want %.3f; missed %v", meanInterval(r)/1e3, micro(int64(want)), show(r.Missed))
	if !near(r, want, within) {
		t.Errorf("mean interval %.3f µs, want %.3f µs within %g %%", meanInterval(r)/1e3, micro(int64(want)), within*100)
	}
}

// nearMiddle says whether the middle interval is right within a share of it.
func nearMiddle(r RunReport, want time.Duration, within float64) bool {
	return r.Interval.P50 != nil && math.Abs(*r.Interval.P50/float64(want)-1) <= within
}

func middle(t *testing.T, r RunReport, want time.Duration, within float64) {
	t.Helper()
	if !nearMiddle(r, want, within) {
		t.Errorf("the middle interval is %s, want %v within %g %%", figure(r.Interval.P50), want, within*100)
	}
}

// intervals are arrival to arrival, in ns, in order: a row with a batch is an
// arrival, the rows with 0 came with it.
func intervals(l Log) []int64 {
	var out []int64
	last := int64(-1)
	for _, e := range l.Events {
		if e.Batch == 0 {
			continue
		}
		if last >= 0 {
			out = append(out, e.Arrived-last)
		}
		last = e.Arrived
	}
	return out
}

// quantile is the nearest rank.
func quantile(v []int64, q float64) int64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return -1
	}
	return s[max(int(math.Ceil(q*float64(len(s))))-1, 0)]
}

func micro(ns int64) float64 { return float64(ns) / 1e3 }

// between asserts a figure in ns.
func between(t *testing.T, what string, got int64, low, high time.Duration) {
	t.Helper()
	if got < int64(low) || got > int64(high) {
		t.Errorf("%s is %.1f µs, want %v to %v", what, micro(got), low, high)
	}
}
