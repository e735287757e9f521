package protocol

// Kind says where an announcement stands.
type Kind uint8

const (
	Before Kind = iota // before the run
	After              // after it: all of that again, and what was sent
)

// String is the word of the wire.
func (k Kind) String() string {
	if k == After {
		return "after"
	}
	return "before"
}

// Announcement is what the sender says about a run. A zero field was not
// said, except where zero is a figure. Numbers are never negative, those of
// Lateness apart.
type Announcement struct {
	Kind       Kind   // kind=before|after
	Run        int    // run: number of the run, from 1
	Label      string // label: any text; not fit for a terminal as it is
	PeriodNS   int64  // period_ns; 0: back to back
	Count      int64  // count: characters asked for
	DurationNS int64  // duration_ns: length asked for
	Baud       int    // baud
	Line       string // line: as ParseLine reads it
	Char       string // char: as ParseChar reads it
	Timer      string // timer: as --timer
	CatchUp    string // catch_up: skip, burst or shift
	Granted    []Grant

	// Of the announcement after a run only:
	Sent     int64     // sent: characters written
	Missed   int64     // missed: periods missed
	Lateness *Lateness // lateness_ns=P50,P99,MAX; nil without a schedule
	NextMS   int64     // next: the next run begins in so many milliseconds
	Last     bool      // last (without a value): no run follows

	Extra []Pair // keys that this version does not know, in their order
}

// Lateness is what the sender itself saw of its schedule, in ns.
type Lateness struct{ P50, P99, Max int64 }

// Grant is one request of the sender to its system: what was asked, what was
// given, and why not all of it (empty when granted). On the wire
// granted=ITEM:ASKED:GOT:WHY, once each.
type Grant struct{ Item, Asked, Got, Why string }

// Pair is a key of [a-z0-9_]+ and its value, any text.
type Pair struct{ Key, Value string }

// field is a key whose value is one number or text of the announcement.
type field struct {
	key string
	ref func(*Announcement) any // *int, *int64 or *string
}

// fields are in the order of the wire.
var fields = []field{
	{"run", func(a *Announcement) any { return &a.Run }},
	{"label", func(a *Announcement) any { return &a.Label }},
	{"period_ns", func(a *Announcement) any { return &a.PeriodNS }},
	{"count", func(a *Announcement) any { return &a.Count }},
	{"duration_ns", func(a *Announcement) any { return &a.DurationNS }},
	{"baud", func(a *Announcement) any { return &a.Baud }},
	{"line", func(a *Announcement) any { return &a.Line }},
	{"char", func(a *Announcement) any { return &a.Char }},
	{"timer", func(a *Announcement) any { return &a.Timer }},
	{"catch_up", func(a *Announcement) any { return &a.CatchUp }},
	{"sent", func(a *Announcement) any { return &a.Sent }},
	{"missed", func(a *Announcement) any { return &a.Missed }},
	{"next", func(a *Announcement) any { return &a.NextMS }},
}

// fieldOf finds a key among the fields.
func fieldOf(key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}
