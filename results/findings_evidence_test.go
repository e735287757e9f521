package results

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// knownCodes are all that Findings may give.
var knownCodes = []string{CodeUSBLatencyTimer, CodeUSBFrame, CodeUSBMicroframe, CodeWindowsTick, CodeKernelTick,
	CodeTick1ms, CodeRTCTick, CodeBatches, CodeFIFOTrigger, CodeBelowCharacter, CodeQuantised, CodeThrottling,
	CodeRecurring, CodeNotGrowing, CodeSkip, CodeBurst, CodeShift, CodeHeld, CodeClockStep, CodeSuspend}

// steady feeds n events of 5 ms with jitter and calls late for what is added.
func steady(e *Evidence, n int, late func(i int) (delay int64, f Flags)) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range n {
		delay, f := late(i)
		e.Event(int64(i)*5e6+int64(r.ExpFloat64()*20e3)+delay, 1, f)
	}
}

func none(int) (int64, Flags) { return 0, 0 }

func TestEvidenceIsBounded(t *testing.T) {
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6})
	r := rand.New(rand.NewPCG(1, 2))
	at := int64(0)
	for range 3_000_000 { // so wild that everything is an outlier at first
		at += int64(math.Exp(r.Float64()*20)) + 1
		e.Event(at, 1, 0)
	}
	e.finish()
	kept := 0
	for _, w := range e.windows {
		kept += len(w.at)
	}
	if len(e.windows) > evidenceWindows || kept > evidenceWindows*evidenceBuffer || len(e.outliers) > evidenceMost {
		t.Errorf("%d windows of %d arrivals, %d outliers", len(e.windows), kept, len(e.outliers))
	}
	for _, o := range e.outliers {
		if o.excess < e.high-e.center {
			t.Fatalf("an outlier of %d below %d was kept", o.excess, e.high-e.center)
		}
	}
}

func TestEvidenceKeepsTheLargestOutliers(t *testing.T) {
	// 2000 outliers: those kept are all that are above the threshold of the end.
	r := rand.New(rand.NewPCG(5, 6))
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6})
	excess := map[int64]int64{}
	at := int64(0)
	for i := range int64(200_000) {
		iv := 5e6 + r.Int64N(20_000)
		if i%100 == 50 {
			iv += 1e6 + r.Int64N(100e6)
			excess[i] = iv
		}
		at += iv
		e.Event(at, 1, 0)
	}
	e.finish()
	want := 0
	for _, iv := range excess {
		if iv > e.high {
			want++
		}
	}
	if len(e.outliers) != want || want < evidenceMost/4 {
		t.Errorf("%d outliers kept, %d are above %d", len(e.outliers), want, e.high)
	}
	for _, o := range e.outliers {
		if excess[o.index] != o.excess+e.center {
			t.Fatalf("arrival %d came after %d, kept as %d", o.index, excess[o.index], o.excess+e.center)
		}
	}
}

func TestEvidenceWindowsSpanTheRun(t *testing.T) {
	for _, n := range []int{1000, 20_000, 100_000, 1_000_000} {
		e := NewEvidence(EvidenceOptions{})
		steady(e, n, none)
		e.finish()
		last := int64(-1)
		for _, w := range e.windows {
			if w.at[0] <= last {
				t.Fatalf("%d events: windows out of order", n)
			}
			last = w.at[0]
		}
		first, end := e.windows[0].at[0], int64(n)*5e6
		if first > 1e9 || last < end/2 && n > 2*evidenceBlock {
			t.Errorf("%d events: windows from %d to %d of %d", n, first, last, end)
		}
		if n <= evidenceWindows*evidenceBlock {
			kept := 0
			for _, w := range e.windows {
				kept += len(w.at)
			}
			if kept != n {
				t.Errorf("%d of %d events kept", kept, n)
			}
		}
	}
}

func TestEvidenceDoesNotAllocate(t *testing.T) {
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, CharNS: 86_800})
	i := int64(0)
	feed := func() {
		for range 20_000 {
			e.Event(i*5_000_000+i*7919%50_000+i%997/996*7_000_000, 1, 0)
			i++
		}
	}
	for range 10 {
		feed()
	}
	if n := testing.AllocsPerRun(20, feed); n > 0 {
		t.Errorf("%g allocations in 20 000 events", n)
	}
}

func TestDisturbedIntervalsAreNoEvidence(t *testing.T) {
	recurring := func(f Flags) func(int) (int64, Flags) {
		return func(i int) (int64, Flags) {
			if i%100 == 50 {
				return 3e6, f
			}
			return 0, 0
		}
	}
	for _, c := range []struct {
		flags Flags
		want  bool
	}{{0, true}, {Overrun, true}, {Disturbed, false}, {Disturbed | Parity, false}} {
		e := NewEvidence(EvidenceOptions{PeriodNS: 5e6})
		steady(e, 5000, recurring(c.flags))
		if got := has(Findings(&Run{}, e), CodeRecurring); got != c.want {
			t.Errorf("flags %q: recurring outliers found %v, want %v", c.flags, got, c.want)
		}
	}
}

// TestOutliersAgainstN is the question of a 2008 report on RTAI: a million
// samples had 20 outliers, ten million about twice as many.
func TestOutliersAgainstN(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name  string
		upTo  int // the outliers come before this sample
		count int
		want  bool
	}{
		{"20 in the first tenth, 3 after it", 100_000, 20, true},
		{"as many in each part", 1_000_000, 23, false},
		{"three are an anecdote", 50_000, 3, false},
	} {
		at := map[int]bool{}
		for len(at) < c.count {
			at[r.IntN(c.upTo)] = true
		}
		if c.want {
			at[300_000], at[555_555], at[800_000] = true, true, true
		}
		e := NewEvidence(EvidenceOptions{PeriodNS: 5e6})
		steady(e, 1_000_000, func(i int) (int64, Flags) {
			if at[i] {
				return 2e6 + r.Int64N(1e6), 0
			}
			return 0, 0
		})
		if got := Findings(&Run{}, e); has(got, CodeNotGrowing) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestNoPolicyWithoutASchedule(t *testing.T) {
	// A GPS receiver: sentences back to back, once a second.
	for _, period := range []int64{0, 1e6} {
		e := NewEvidence(EvidenceOptions{PeriodNS: period})
		at := int64(0)
		for i := range 3000 {
			if at += 1e6; i%300 == 0 {
				at += 700_500_000
			}
			e.Event(at+int64(i%7)*1001, 1, 0)
		}
		if got := Findings(&Run{}, e); has(got, CodeShift) != (period > 0) {
			t.Errorf("period %d: %v", period, got)
		}
	}
}

func TestTooFewIntervalsAreNoFinding(t *testing.T) {
	for _, n := range []int{0, 1, 2, 20, findingLeast} {
		e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, CharNS: 1e6})
		for i := range n {
			e.Event(int64(i)*16e6, 3, 0) // would be a USB latency timer
		}
		if got := Findings(&Run{}, e); len(got) > 0 {
			t.Errorf("%d events: %v", n, got)
		}
	}
}

func TestFindingsSayWhatWhyAndWhatToDo(t *testing.T) {
	e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, CharNS: 86_800, CatchUp: "skip"})
	for i := range 2000 {
		e.Event(int64(i)*16e6+int64(i%7)*1001, 3+i%5/4, 0)
	}
	got := Findings(&Run{Steps: Steps{Backward: 2}}, e)
	want := []string{CodeClockStep, CodeUSBLatencyTimer}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, f := range got {
		if f.Code != want[i] || f.Text == "" || f.Evidence == "" || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
	if again := Findings(&Run{Steps: Steps{Backward: 2}}, e); !slices.Equal(again, got) {
		t.Errorf("asked again: %v", again)
	}
}

func TestOneMillisecondIsNamedByWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		opt  EvidenceOptions
		n    int
		code string
	}{
		{EvidenceOptions{}, 1, CodeTick1ms},
		{EvidenceOptions{USB: true}, 1, CodeUSBFrame},
		{EvidenceOptions{SenderOS: "windows"}, 1, CodeWindowsTick},
		{EvidenceOptions{SenderOS: "windows"}, 4, CodeUSBFrame},
	} {
		c.opt.PeriodNS = 2.5e6
		e := NewEvidence(c.opt)
		for i := range 1000 {
			e.Event(int64(i)*2500_000/1_000_000*1_000_000+int64(i*7919%977), c.n, 0)
		}
		if got := Findings(&Run{}, e); len(got) != 1 || got[0].Code != c.code {
			t.Errorf("%+v: %v, want %s", c.opt, got, c.code)
		}
	}
}

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{10, 0, .3, 1}, {10, 10, .5, 1. / 1024}, {5, 5, .1, 1e-5}, {2, 1, .5, .75}, {3, 4, .5, 0}, {4, 2, 1, 1}, {20, 15, .5, 0.020694732666},
	} {
		if got := binomialTail(c.n, c.k, c.p); math.Abs(got-c.want) > 1e-9*max(1, c.want) {
			t.Errorf("P(at least %d of %d at %g) = %g, want %g", c.k, c.n, c.p, got, c.want)
		}
	}
}

// FuzzFindings feeds instants from anywhere: nothing may panic, every code is
// a known one, and the same arrivals give the same findings.
func FuzzFindings(f *testing.F) {
	seed := func(step int64, n int) (b []byte) {
		for i := range n {
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(i)*step))
			b = append(b, byte(1+i%3), 0)
		}
		return b
	}
	f.Add(seed(5e6, 300), int64(5e6), int64(86_800))
	f.Add(seed(16e6, 300), int64(5e6), int64(0))
	f.Add(seed(-1<<40, 200), int64(-1), int64(1<<62))
	f.Fuzz(func(t *testing.T, b []byte, period, char int64) {
		run := func() []Finding {
			e := NewEvidence(EvidenceOptions{PeriodNS: period, CharNS: char})
			for rest := b; len(rest) >= 10; rest = rest[10:] {
				e.Event(int64(binary.LittleEndian.Uint64(rest)), int(rest[8]), Flags(rest[9]))
			}
			return Findings(&Run{}, e)
		}
		all := run()
		for _, x := range all {
			if !slices.Contains(knownCodes, x.Code) || x.Text == "" || strings.ContainsAny(x.Text, "\n\r") {
				t.Errorf("%q: %q", x.Code, x.Text)
			}
		}
		if again := run(); !slices.Equal(all, again) {
			t.Errorf("%v, then %v", all, again)
		}
	})
}

func TestOneClockHasNoStepAgainstItself(t *testing.T) {
	for _, one := range []bool{false, true} {
		e := NewEvidence(EvidenceOptions{PeriodNS: 5e6, OneClock: one})
		for i := range int64(2000) {
			e.Event(i*5_000_000, 1, 0)
		}
		e.Steps([]ClockStep{{AtNS: 5e9, SizeNS: 3e5}})
		if got := has(Findings(&Run{}, e), CodeClockStep); got == one {
			t.Errorf("one clock %v: a step found %v", one, got)
		}
	}
}
