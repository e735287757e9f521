// Package assemble turns arrivals into runs: it parts announcements from
// characters, checks the sequence, writes the log and builds the figures. It
// is the one place that knows what a byte means.
//
// A live capture enters by Event, a log by Replay; both feed the same runs by
// the same items, so that a replay gives the very report of the live run.
package assemble

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"serialtiming/protocol"
	"serialtiming/results"
)

// Expect says which sequence the characters should follow.
type Expect string

// The sequences; of a run that announces its character, that one.
const (
	ExpectCycle   Expect = "cycle"
	ExpectCounter Expect = "counter"
	ExpectNone    Expect = "none"
)

// Options of an assembler.
type Options struct {
	Table    results.TableKind
	Period   time.Duration // of the grid, in place of the announced one; 0 none
	LateBy   time.Duration // 0: the default
	Quantum  int64         // step of the stamps in ns
	Expect   Expect        // "": what the log's header says, else the cycle
	Limit    int64         // characters in all; 0 any number
	Label    string        // of runs that announce none
	CharTime time.Duration // of the line, 0 unknown

	Log   *results.LogWriter        // nil: none
	Side  *Beside                   // the sender's own log, to be read along; nil: none
	Tap   func(results.Event)       // sees every arrival that counts; may be nil
	Usage func() []results.KeyValue // what closes a run besides the announcement; may be nil
	Wall  func() time.Time          // nil: runs have no wall-clock time
}

// Assembler turns arrivals into runs. It is used by one goroutine.
type Assembler struct {
	opt     Options
	scanner *protocol.Scanner
	cur     *run
	done    []results.Run
	number  int   // of the last run
	order   int   // of the announced runs
	total   int64 // characters in all
	noise   int64 // heard before the coming run
	damaged int64 // announcements, since the last run closed
	newer   int64 // of a newer version, likewise
	senders int   // runs that a sender wrote of itself
	heard   bool  // a whole announcement

	pend      []byte // payload of the arrival that is not closed yet
	pendAt    int64
	pendFlags results.Flags
	pendStale bool
	doubt     []doubted // behind a silence, until it is clear what they are
	lastAt    int64     // of the last character that the scanner gave

	head   header
	wrote  []results.LogRow // what a loopback run sent
	paired int              // how many of them have arrived or are lost

	last     bool  // the sender said that no run follows
	nextBy   int64 // instant before which silence means nothing; 0 none
	lastIvl  int64
	lastByte int64 // instant of the last byte of any kind
}

// New makes an assembler.
func New(o Options) *Assembler {
	own := header{source: results.Source{Kind: "log", Class: "character", QuantumNS: 1}}
	return &Assembler{opt: o, head: own, scanner: protocol.NewScanner(o.CharTime)}
}

// Source gives where the arrivals of a log come from: the log itself, or the
// tool whose log it was made of.
func (a *Assembler) Source() results.Source {
	if a.senders > 0 {
		a.head.source.Kind = "sender"
	}
	return a.head.source
}

// Full says that as many characters as were asked for have come.
func (a *Assembler) Full() bool { return a.opt.Limit > 0 && a.total >= a.opt.Limit }

// Last says that the sender has announced that no run follows.
func (a *Assembler) Last() bool { return a.last }

// Heard says whether anything came at all, and Total how many characters.
func (a *Assembler) Heard() bool { return a.lastByte != 0 }

// Announced says whether an announcement was heard.
func (a *Assembler) Announced() bool { return a.heard }

// MostlyWrong says that the characters of the current run do not follow the
// cycle: a wrong speed or line, or another sender.
func (a *Assembler) MostlyWrong() bool {
	return a.cur != nil && a.cur.tally != nil && a.cur.tally.Characters() >= 50 && a.cur.mostlyNoise()
}

// Total gives the number of characters of all runs.
func (a *Assembler) Total() int64 { return a.total }

// QuietSince gives the instant from which silence counts towards the end of
// the capture, and the longest period announced so far; ok is false before
// the first character.
func (a *Assembler) QuietSince() (at, periodNS int64, ok bool) {
	if a.cur != nil {
		periodNS = a.cur.period
	}
	return max(a.lastByte, a.nextBy), periodNS, a.lastByte != 0
}

// Event takes the bytes of one read, announcements and all.
func (a *Assembler) Event(ev results.Event) {
	a.lastByte = ev.At
	a.pendStale = a.pendStale || ev.Stale
	for _, b := range ev.Bytes {
		if a.scanner.Plain(b) {
			a.payload(b, ev.At, ev.Flags)
			continue
		}
		a.items(a.scanner.Feed(b, ev.At), ev.Flags)
	}
	if !a.scanner.Busy() {
		a.flushPayload()
	}
}

// Idle tells the assembler the time while nothing comes.
func (a *Assembler) Idle(now int64) {
	a.items(a.scanner.Idle(now), 0)
	if n := len(a.doubt); n > 0 && now-a.doubt[n-1].at > a.frameGap() {
		a.believe()
	}
	if !a.scanner.Busy() {
		a.flushPayload()
	}
}

func (a *Assembler) items(items []protocol.Item, f results.Flags) {
	for _, it := range items {
		switch it.Kind {
		case protocol.Payload:
			a.payload(it.Byte, it.At, f)
		case protocol.StrayEnd:
			a.strayEnd(it, f)
		case protocol.Torn:
			a.believe()
			a.flushPayload()
			a.damaged++
		case protocol.Announced:
			a.believe()
			a.flushPayload()
			a.announcement(it)
		}
	}
}

// payload takes a character of the stream, unless it may be of a damaged
// announcement.
func (a *Assembler) payload(b byte, at int64, f results.Flags) {
	if a.doubtful(b, at, f) {
		return
	}
	a.gather(b, at, f)
}

// gather gathers the characters of one arrival.
func (a *Assembler) gather(b byte, at int64, f results.Flags) {
	if len(a.pend) > 0 && at != a.pendAt {
		a.flushPayload()
	}
	if a.Full() {
		return
	}
	a.pendAt = at
	a.pendFlags |= f
	a.pend = append(a.pend, b)
	a.total++
}

func (a *Assembler) flushPayload() {
	if len(a.pend) == 0 {
		return
	}
	if a.cur == nil {
		a.open(nil)
	}
	a.arrival(a.pendAt, a.pend, a.pendFlags)
	a.pend, a.pendFlags = a.pend[:0], 0
}

// arrival takes one event of the current run, into its figures and the log.
func (a *Assembler) arrival(at int64, b []byte, f results.Flags) {
	r := a.cur
	if a.opt.Tap != nil {
		a.opt.Tap(results.Event{At: at, Bytes: b, Flags: f})
	}
	if a.pendStale {
		a.pendStale = false
		if r.tally == nil {
			a.item(results.KeyValue{Key: "stale", Value: "first"})
		}
	}
	r.begin(a)
	if r.tally.Characters() > 0 {
		a.lastIvl = at - r.tally.Last()
	}
	if a.head.loopback {
		a.loopbackArrival(at, b, f)
		return
	}
	r.event(at, b, f)
	if a.opt.Log == nil {
		return
	}
	row := results.LogRow{Run: int32(r.number), Arrived: at, Flags: f, Batch: int32(len(b))}
	for _, c := range b {
		row.Byte = int16(c)
		a.opt.Log.Row(row)
		row.Batch, row.Flags = 0, 0
	}
}

// strayEnd takes the end of a frame whose beginning was not heard: all that
// came so far was the rest of an announcement. Later it is a wrong character.
func (a *Assembler) strayEnd(it protocol.Item, f results.Flags) {
	if a.dropDoubt() {
		return
	}
	a.flushPayload()
	if !a.heard && len(a.done) == 0 && a.total <= protocol.MaxFrame {
		a.heard = true
		a.dropNoise()
		return
	}
	a.payload(it.Byte, it.At, f)
}

// announcement takes a whole frame.
func (a *Assembler) announcement(it protocol.Item) {
	msg, err := protocol.Decode(it.Frame)
	if newer := (*protocol.VersionError)(nil); errors.As(err, &newer) {
		a.newer++
		return
	}
	if err != nil {
		a.damaged++
		return
	}
	a.heard = true
	if msg.Kind == protocol.Before {
		a.opening(*msg)
		return
	}
	a.closing(*msg, it.End)
}

func (a *Assembler) opening(msg protocol.Announcement) {
	if r := a.cur; r != nil {
		if !r.announced && r.mostlyNoise() {
			a.dropNoise()
		} else {
			a.close(ReasonNext)
		}
	}
	a.nextBy = 0
	a.open(&msg)
}

func (a *Assembler) closing(msg protocol.Announcement, at int64) {
	if a.cur == nil { // only the end was heard
		a.open(nil)
	}
	if !a.cur.announced {
		a.describe(Opening(msg))
	}
	for _, k := range Closing(msg) {
		a.end(k)
	}
	a.close(ReasonClosed)
	a.last = msg.Last
	if !msg.Last && msg.NextMS > 0 {
		a.nextBy = at + msg.NextMS*int64(time.Millisecond) + int64(5*time.Second)
	}
}

// open begins a run; msg is nil when nothing was announced.
func (a *Assembler) open(msg *protocol.Announcement) {
	a.number++
	a.cur = &run{number: a.number, marked: a.marked()}
	if a.opt.Wall != nil {
		a.item(started(a.opt.Wall()))
	}
	if msg != nil {
		a.item(results.KeyValue{Key: "announced", Value: "before"})
		a.describe(Opening(*msg))
	}
	if a.opt.Label != "" && a.cur.data.Label == "" {
		a.item(results.KeyValue{Key: "label", Value: strings.TrimSpace(results.OneLine(a.opt.Label))})
	}
}

func (a *Assembler) describe(items []results.KeyValue) {
	for _, k := range items {
		a.item(k)
	}
}

// item takes something that describes the current run.
func (a *Assembler) item(k results.KeyValue) {
	a.cur.set(k)
	if k.Key == "announced" && a.opt.Side != nil {
		a.order++
		a.cur.side, a.cur.order = a.opt.Side, a.order
	}
	if a.opt.Log != nil {
		a.opt.Log.RunKey(a.cur.number, k.Key, k.Value)
	}
}

// end takes something that closes the current run.
func (a *Assembler) end(k results.KeyValue) {
	a.cur.setEnd(k)
	if a.opt.Log != nil {
		a.opt.Log.EndKey(a.cur.number, k.Key, k.Value)
	}
}

// close ends the current run.
func (a *Assembler) close(reason string) {
	if a.damaged > 0 {
		a.end(results.KeyValue{Key: "damaged_announcements", Value: strconv.FormatInt(a.damaged, 10)})
		a.damaged = 0
	}
	if a.newer > 0 {
		a.end(results.KeyValue{Key: "newer_announcements", Value: strconv.FormatInt(a.newer, 10)})
		a.newer = 0
	}
	if a.opt.Usage != nil {
		for _, k := range a.opt.Usage() {
			a.end(k)
		}
	}
	a.end(results.KeyValue{Key: "reason", Value: reason})
	a.keep()
}

// keep turns the current run into data.
func (a *Assembler) keep() {
	r := a.cur
	a.cur = nil
	r.begin(a)
	if r.reason == ReasonNoise {
		a.noise += r.tally.Characters()
		a.total -= r.tally.Characters()
		return
	}
	r.data.Noise, a.noise = a.noise, 0
	r.data.Granted = append(r.data.Granted, a.head.granted...)
	if a.head.noFloor != "" {
		r.warn("the floor of this receiver is unknown: %s", a.head.noFloor)
	}
	if a.head.facts.Virtual {
		r.warn("a virtual cable has no UART and no line speed: this is the timing of the kernel's pseudo-terminals or pipes")
	}
	a.done = append(a.done, r.finish(a))
}

// dropNoise ends the current run as noise.
func (a *Assembler) dropNoise() {
	if a.cur == nil {
		return
	}
	a.damaged = 0
	a.end(results.KeyValue{Key: "reason", Value: ReasonNoise})
	a.keep()
}

// Finish ends the capture and gives the runs. Without any character and
// announcement there is none.
func (a *Assembler) Finish(reason string) []results.Run {
	a.items(a.scanner.Flush(), 0)
	a.believe()
	a.flushPayload()
	if a.cur != nil {
		a.close(reason)
	}
	return a.done
}

// mostlyNoise says that a run which nobody announced never found the cycle.
func (r *run) mostlyNoise() bool {
	if r.tally == nil || r.checker == nil {
		return true
	}
	c := r.checker.Close(protocol.Unknown, 0)
	return 2*(c.Corrupted+c.Extra+r.checker.Pending()) >= c.Received
}
