package assemble

import (
	"fmt"
	"strconv"
	"time"

	"serialtiming/protocol"
	"serialtiming/results"
)

// run is one run while it is heard or replayed.
type run struct {
	number    int
	announced bool // its opening was heard
	data      results.Run
	sequence  protocol.Cycle
	period    int64 // announced, ns
	hasPeriod bool
	count     int64 // announced; 0 unknown
	duration  int64 // announced, ns; 0 unknown
	stale     bool  // the first event had waited before the capture
	timer     string
	catchUp   string
	os        string        // of the sender
	alone     int64         // characters that the sender's log, read along, has not
	stopped   string        // why the sender ended before its count or time
	marked    results.Flags // line errors that the source marks
	damaged   int64
	reason    string
	ended     bool

	tally   *results.Tally
	checker *protocol.Checker
	faults  protocol.Counts
	prevAt  int64
	first   byte
	varied  bool                    // not all characters are the same
	side    *Beside                 // the sender's own log; nil: none
	order   int                     // of the announced runs, from 1
	checked bool                    // against what the sender's log announced
	worst   []results.WorstInterval // longest first
	mute    bool                    // the log does not tell the characters
	sender  bool                    // what was sent, not what arrived
}

// The reasons for which a run ends; they stand in the log.
const (
	ReasonClosed    = "closed"    // its closing announcement was heard
	ReasonNext      = "next run"  // another began instead
	ReasonNoise     = "noise"     // it was none: what came before the first announcement
	ReasonCount     = "count"     // --count
	ReasonDuration  = "duration"  // --duration
	ReasonIdle      = "idle"      // --idle
	ReasonInterrupt = "interrupt" // Ctrl-C
	ReasonGone      = "port gone"
	ReasonLoad      = "the load did not start"
	ReasonEnd       = "end" // of the input
)

// longestPeriod in ns is a day: a longer one is no period but a damaged figure.
const longestPeriod = int64(24 * time.Hour)

// set takes an item of "# run N".
func (r *run) set(k results.KeyValue) {
	number := func() int64 { v, _ := strconv.ParseInt(k.Value, 10, 64); return v }
	switch k.Key {
	case "label":
		r.data.Label = results.OneLine(k.Value)
	case "started":
		r.data.Started = k.Value
		return
	case "announced":
		r.announced = true
		return
	case "granted":
		r.data.Granted = append(r.data.Granted, parseGrant("sender", k.Value))
		return
	case "period_ns":
		if v := number(); v >= 0 && v <= longestPeriod {
			r.period, r.hasPeriod = v, true
		}
	case "char":
		if c, err := protocol.ParseChar(k.Value); err == nil {
			r.sequence = c
		}
	case "count":
		r.count = number()
	case "duration_ns":
		r.duration = number()
	case "stale":
		r.stale = true
		return
	case "timer":
		r.timer = k.Value
	case "catch_up":
		r.catchUp = k.Value
	case "os":
		r.os = k.Value
	}
	r.data.Announced = append(r.data.Announced, k)
}

// setEnd takes an item of "# end N".
func (r *run) setEnd(k results.KeyValue) {
	v, err := strconv.ParseInt(k.Value, 10, 64)
	number := err == nil && v >= 0
	switch {
	case k.Key == "stopped":
		r.stopped = k.Value
	case k.Key == "reason":
		r.reason, r.ended = k.Value, true // it is written last
	case k.Key == "load_ended":
		r.data.Findings = append(r.data.Findings, results.Finding{Code: "load-ended",
			Text: "the load ended before the run did: " + results.OneLine(k.Value)})
	case k.Key == "changed":
		r.data.Findings = append(r.data.Findings, results.Finding{Code: "changed-during-run",
			Text: "the sender's system changed during the run: " + results.OneLine(k.Value)})
	case k.Key == "load_note":
		r.warn("load: %s", results.OneLine(k.Value))
	case !number:
	case k.Key == "sent":
		r.data.Sent = &v
	case k.Key == "missed":
		r.data.Missed = &v
	case k.Key == "newer_announcements":
		r.warn("%d announcements are of a newer version of the sender: update this program to understand them", v)
	case k.Key == "damaged_announcements":
		r.damaged = v
	case k.Key == "dropped":
		r.warn("%d characters came faster than this machine could store them: they were counted by nobody", v)
	case r.data.Errors.Set(k.Key, v):
	default:
		r.counter(k.Key, v)
	}
}

// counter takes gc, page_faults and involuntary_switches of either side.
func (r *run) counter(key string, v int64) {
	side := "receiver"
	if len(key) > 7 && key[:7] == "sender_" {
		side, key = "sender", key[7:]
	}
	var c *results.Counters
	for i := range r.data.Counters {
		if r.data.Counters[i].Side == side {
			c = &r.data.Counters[i]
		}
	}
	into := func(c *results.Counters) **int64 {
		switch key {
		case "gc":
			return &c.GC
		case "page_faults":
			return &c.PageFaults
		case "involuntary_switches":
			return &c.InvoluntarySwitches
		}
		return nil
	}
	if c == nil && into(&results.Counters{}) != nil {
		r.data.Counters = append(r.data.Counters, results.Counters{Side: side})
		c = &r.data.Counters[len(r.data.Counters)-1]
	}
	if c != nil {
		if p := into(c); p != nil {
			*p = &v
		}
	}
}

func (r *run) warn(format string, a ...any) {
	r.data.Warnings = append(r.data.Warnings, fmt.Sprintf(format, a...))
}

// begin fixes what the figures depend on, at the first character.
func (r *run) begin(a *Assembler) {
	o := &a.opt
	if r.tally != nil {
		return
	}
	t := results.TallyOptions{
		Table: o.Table, LateBy: o.LateBy, Quantum: o.Quantum, Marks: r.marked, FloorNS: a.head.facts.FloorNS,
		CatchUp: r.catchUp, SenderOS: r.os, USB: a.head.facts.USB,
		OneClock:  a.head.facts.Virtual || a.head.loopback || r.sender,
		Announced: r.period, PeriodNS: r.period, Grid: keepsGrid(r.timer, r.catchUp),
	}
	if o.Period > 0 {
		t.PeriodNS = int64(o.Period)
	}
	t.Known = r.sender
	if !r.sender { // what was written is not bound to the line's speed
		t.CharNS = a.head.onWire()
	}
	r.tally = results.NewTally(t)
	if r.stale {
		r.tally.Stale()
	}
	if o.Expect != ExpectNone && !r.mute && !r.sender {
		r.checker = protocol.NewChecker(r.cycle(o), r.announced)
	}
}

func (r *run) cycle(o *Options) protocol.Cycle {
	switch {
	case o.Expect == ExpectCounter:
		return protocol.Counter
	case r.sequence.Length > 0:
		return r.sequence
	}
	return protocol.Printable
}

// keepsGrid says whether a sender's timer and policy stay on the grid, so
// that the measured period tells the two clocks apart.
func keepsGrid(timer, catchUp string) bool {
	switch timer {
	case "absolute", "periodic", "hybrid", "spin":
		return catchUp != "shift"
	}
	return false
}

// event takes an arrival of payload.
func (r *run) event(at int64, b []byte, f results.Flags) {
	r.tally.Event(at, len(b), f)
	if r.checker == nil {
		return
	}
	for _, c := range b {
		r.char(c, at, f&results.Disturbed != 0)
	}
}

// char takes one character of the last event and gives its place in the
// sequence, -1 where that is not known.
func (r *run) char(c byte, at int64, disturbed bool) (place int64) {
	if r.checker.Advance(c, at) {
		place = r.checker.Pos()
		r.tally.Place(at, place, true, disturbed)
	} else {
		place = r.slow(c, at, disturbed)
	}
	if r.side != nil && place >= 0 {
		interval := int64(0)
		if at > r.prevAt && r.prevAt > 0 {
			interval = at - r.prevAt
		}
		r.withSender(place, at, interval)
	}
	r.prevAt = at
	return place
}

// slow takes a character that is not simply the expected one.
func (r *run) slow(c byte, at int64, disturbed bool) (place int64) {
	if r.checker.Received() == 0 {
		r.first = c
	}
	r.varied = r.varied || c != r.first
	verdict := r.checker.Feed(c, at)
	if verdict == protocol.Wrong {
		return -1
	}
	now := r.checker.Counts()
	certain := now.Lost == r.faults.Lost && now.Duplicated == r.faults.Duplicated && now.Extra == r.faults.Extra
	r.faults = now
	if verdict == protocol.Resumed {
		r.tally.Place(r.prevAt, r.checker.Pos()-1, certain, disturbed)
		certain = true
	}
	r.tally.Place(at, r.checker.Pos(), certain, disturbed)
	return r.checker.Pos()
}

// finish turns the run into data.
func (r *run) finish(a *Assembler) results.Run {
	o, f := &a.opt, a.head.facts
	r.begin(a)
	r.tally.Fill(&r.data)
	if f.FloorNS > 0 {
		r.data.FloorNS = &f.FloorNS
	}
	r.data.Audit = a.head.audit
	if a.head.source.Kind == "log" && !r.sender && r.data.Interval.Count > 0 {
		f.PeriodNS = r.period
		r.data.Budget = new(results.NewBudget(f, int64(*r.data.Interval.Mean)))
	}
	if r.hasPeriod {
		r.data.Period.AnnouncedNS = new(r.period) // no pointer into the run: it would keep all of it
	}
	if r.hasPeriod && r.period == 0 {
		r.data.Period.MeasuredNS = nil // back to back there is none
	}
	r.data.Ended = r.reason
	r.judge()
	r.data.Worst = r.worst
	if r.data.Path != nil && r.cycle(o).Length == 1 && (r.data.Lost == nil || *r.data.Lost > 0) {
		r.data.Path = nil
		r.warn("characters were lost, and a constant character does not tell which: the way from write to arrival is not known")
	}
	switch {
	case r.sender:
	case r.announced && r.data.Sent == nil:
		r.warn("the closing announcement was not heard: the sender's own count is not known")
	case !r.announced && r.data.Sent == nil && o.Expect != ExpectNone:
		r.warn("nothing was announced: label, period and count are not known")
	}
	if r.stopped != "" {
		r.warn("the sender ended early: %s", results.OneLine(r.stopped))
	}
	if r.alone > 0 {
		r.warn("%d characters have no row in the sender's log, which is torn, of another run, or no sender's: the longest intervals may be among them", r.alone)
	}
	if r.damaged > 0 {
		r.warn("%d announcements arrived damaged", r.damaged)
	}
	empty(&r.data)
	return r.data
}

// judge fills in what the sequence check knows.
func (r *run) judge() {
	if r.checker == nil || r.data.Characters == 0 && !r.announced {
		return
	}
	sent := int64(protocol.Unknown)
	if r.data.Sent != nil {
		sent = *r.data.Sent
	}
	s := r.checker.Close(sent, r.period)
	wrong := s.Corrupted + s.Extra + s.Duplicated
	mostlyWrong := s.Received > 16 && 2*wrong > s.Received
	if !r.announced && r.data.Sent == nil && (mostlyWrong || s.Received > 2 && !r.varied && r.first != 0 && s.Lost+wrong >= s.Received/2) {
		r.warn("nothing was announced and the characters do not follow the cycle of this tool: losses cannot be seen; if it was its sender, check --baud and --line")
		return
	}
	if mostlyWrong {
		r.warn("most characters are wrong: check --baud and --line on both ends")
	}
	r.data.Lost, r.data.Duplicated = &s.Lost, &s.Duplicated
	r.data.Corrupted, r.data.Extra = &s.Corrupted, &s.Extra
	r.data.LostIsMinimum = s.LostIsMinimum
	if s.BeforeStart != protocol.Unknown {
		r.data.BeforeStart = &s.BeforeStart
	}
	if s.Inconsistent || !s.Balanced() {
		r.data.Findings = append(r.data.Findings, results.Finding{Code: "balance",
			Text: fmt.Sprintf("%d characters came, but the sender counts %d sent: what came besides is called extra", s.Received, s.Sent)})
	}
}

// empty makes the lists that JSON shows as [] rather than null.
func empty(r *results.Run) {
	if r.Announced == nil {
		r.Announced = []results.KeyValue{}
	}
	if r.Counters == nil {
		r.Counters = []results.Counters{}
	}
	if r.Granted == nil {
		r.Granted = []results.Granted{}
	}
	if r.Limits == nil {
		r.Limits = []results.Limit{}
	}
	if r.Findings == nil {
		r.Findings = []results.Finding{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
}

func started(t time.Time) results.KeyValue {
	return results.KeyValue{Key: "started", Value: t.UTC().Format(time.RFC3339Nano)}
}
