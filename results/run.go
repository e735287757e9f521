package results

import (
	"encoding/json"
	"fmt"
)

// The JSON report's name and version. Added keys do not raise the version.
const (
	ReportFormat  = "serialtiming-report"
	ReportVersion = 1
)

// Report is what one run of a binary, or one log, has to say. All figures
// named _ns are nanoseconds; a figure that cannot be known is nil (null in
// JSON), never 0.
type Report struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Source  Source `json:"source"`
	Runs    []Run  `json:"runs"`
}

// NewReport makes a report of this version.
func NewReport(s Source, runs []Run) Report {
	if runs == nil {
		runs = []Run{}
	}
	return Report{Format: ReportFormat, Version: ReportVersion, Source: s, Runs: runs}
}

// Source says where the arrivals come from.
type Source struct {
	Kind      string `json:"kind"`       // port, cable, loopback, log, sender, or another tool's name
	Class     string `json:"class"`      // character, chunk or line
	Channel   string `json:"channel"`    // of a log that holds several; else ""
	QuantumNS int64  `json:"quantum_ns"` // step of the stamps
}

// Run is one label, one stream of characters, one histogram.
type Run struct {
	Label   string `json:"label"`
	Started string `json:"started"` // RFC 3339, the receiver's wall clock; "" unknown
	Sent    *int64 `json:"sent"`
	Missed  *int64 `json:"missed"`

	Characters int64  `json:"characters"`
	Events     int64  `json:"events"`
	Batched    int64  `json:"batched"` // characters − events
	Ended      string `json:"ended"`   // why the run ended: closed, next run, count, duration, idle, interrupt, port gone, end
	FirstNS    int64  `json:"first_ns"`
	LastNS     int64  `json:"last_ns"`
	Noise      int64  `json:"noise"` // heard before the run, part of no run

	Lost          *int64 `json:"lost"`
	LostIsMinimum bool   `json:"lost_is_minimum"`
	BeforeStart   *int64 `json:"before_start"`
	Duplicated    *int64 `json:"duplicated"`
	Corrupted     *int64 `json:"corrupted"`
	Extra         *int64 `json:"extra"`

	Errors    LineErrors `json:"errors"`
	Steps     Steps      `json:"steps"`
	Disturbed int64      `json:"disturbed"`

	Interval *Dist           `json:"interval_ns"`
	Lateness *Dist           `json:"lateness_ns"`
	Late     Late            `json:"late"`
	Period   Period          `json:"period"`
	Table    TableData       `json:"table"`
	Path     *Path           `json:"path_ns"`
	Worst    []WorstInterval `json:"worst,omitempty"`

	Announced []KeyValue `json:"announced"` // what the sender said of itself, as heard
	Counters  []Counters `json:"counters"`
	Granted   []Granted  `json:"granted"`
	Limits    []Limit    `json:"limits"`
	FloorNS   *int64     `json:"floor_ns"`
	Budget    *Budget    `json:"budget,omitempty"`
	Audit     []Audit    `json:"audit,omitempty"`
	Findings  []Finding  `json:"findings"`
	Warnings  []string   `json:"warnings"`
}

// LineErrors are counts of the UART's own error marks, nil where nothing
// could tell them (the virtual cable has no UART).
type LineErrors struct {
	Framing *int64 `json:"framing"`
	Parity  *int64 `json:"parity"`
	Overrun *int64 `json:"overrun"`
	Break   *int64 `json:"break"`
}

// fields pairs the counts with the mark and the log's key of each.
func (e *LineErrors) fields() [4]lineError {
	return [4]lineError{
		{Framing, "framing", &e.Framing}, {Parity, "parity", &e.Parity},
		{Overrun, "overrun", &e.Overrun}, {Break, "break", &e.Break},
	}
}

type lineError struct {
	bit   Flags
	key   string
	count **int64
}

// Set takes a count by its name; ok is false for another name.
func (e *LineErrors) Set(name string, n int64) (ok bool) {
	for _, f := range e.fields() {
		if f.key == name {
			*f.count = &n
			return true
		}
	}
	return false
}

// Steps are differences of stamps that are no intervals and stand in no histogram.
type Steps struct {
	Zero     int64 `json:"zero"`     // two events at one instant
	Backward int64 `json:"backward"` // the clock went back
	Stale    int64 `json:"stale"`    // behind a first chunk that had waited before the capture
}

// Dist is a distribution; percentiles are nearest rank, within 0.1 %, nil
// where fewer than five values lie above. All are nil when Count is 0.
type Dist struct {
	Count          int64    `json:"count"`
	Min            *int64   `json:"min"`
	Mean           *float64 `json:"mean"`
	Stddev         *float64 `json:"stddev"`
	P50            *int64   `json:"p50"`
	P90            *int64   `json:"p90"`
	P99            *int64   `json:"p99"`
	P999           *int64   `json:"p999"`
	P9999          *int64   `json:"p9999"`
	Max            *int64   `json:"max"`
	MaxAtNS        *int64   `json:"max_at_ns"`
	MaxUndisturbed *int64   `json:"max_undisturbed"`
}

// Late counts the characters whose lateness is above By; nil without a period.
type Late struct {
	ByNS  *int64   `json:"by_ns"`
	Count *int64   `json:"count"`
	Share *float64 `json:"share"` // 0 to 1
}

// Period compares the announced period with the one measured. PPM is nil
// where the sender's timer does not keep its grid, or nothing was announced.
type Period struct {
	AnnouncedNS    *int64   `json:"announced_ns"`
	MeasuredNS     *float64 `json:"measured_ns"`
	PPM            *float64 `json:"ppm"`
	PPMUncertainty *float64 `json:"ppm_uncertainty"` // 95 %, plus or minus
	OneClock       bool     `json:"one_clock"`       // serves both ends: PPM is the error of the fit
}

// TableData is the table of 1998. With TickHz a row's key is the reading in
// ms, else the row number: the row stands for (k − ½)·bin ≤ interval < (k + ½)·bin.
type TableData struct {
	BinNS       int64    `json:"bin_ns"`
	TickHz      *int64   `json:"tick_hz"`
	TickPhaseNS *int64   `json:"tick_phase_ns"`
	Over        int64    `json:"over"` // intervals over 10 s
	Rows        RowsJSON `json:"rows"`
}

// RowsJSON writes rows as [[key,count],…].
type RowsJSON []Row

// MarshalJSON writes rows as pairs.
func (r RowsJSON) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, row := range r {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "[%d,%d]", row.Key, row.Count)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *RowsJSON) UnmarshalJSON(b []byte) error {
	var pairs [][2]int64
	if err := json.Unmarshal(b, &pairs); err != nil {
		return err
	}
	*r = make(RowsJSON, len(pairs))
	for i, p := range pairs {
		(*r)[i] = Row{p[0], p[1]}
	}
	return nil
}

// Path splits a loopback run's way on the one clock of its machine.
type Path struct {
	DueWoke      Dist `json:"due_woke"`
	WokeWrote    Dist `json:"woke_wrote"`
	WroteArrived Dist `json:"wrote_arrived"`
}

// WorstInterval is a long interval beside what the sender's own log says of the
// character that ended it. The two machines' clocks are not compared.
type WorstInterval struct {
	IntervalNS  int64  `json:"interval_ns"`
	AtNS        int64  `json:"at_ns"`
	Place       int64  `json:"place"`       // in the sequence, from 0
	DueWokeNS   *int64 `json:"due_woke_ns"` // nil without a schedule
	WokeWroteNS *int64 `json:"woke_wrote_ns"`
}

// Counters are what the system did to one side during the run.
type Counters struct {
	Side                string `json:"side"` // sender or receiver
	GC                  *int64 `json:"gc"`
	PageFaults          *int64 `json:"page_faults"`
	InvoluntarySwitches *int64 `json:"involuntary_switches"`
}

// Granted is one thing that was asked of the system and what it gave.
type Granted struct {
	Side  string `json:"side"`
	Item  string `json:"item"`
	Asked string `json:"asked"`
	Got   string `json:"got"`
	Why   string `json:"why,omitempty"` // why it is not what was asked
}

// Limit is a bound that the user set; Verdict is pass, fail or undecidable.
type Limit struct {
	Limit    string   `json:"limit"`
	Set      float64  `json:"set"`
	Measured *float64 `json:"measured"`
	Verdict  string   `json:"verdict"`
}

// Finding is something in the data that has a name.
type Finding struct {
	Code     string `json:"code"`
	Text     string `json:"text"`               // a sentence
	Evidence string `json:"evidence,omitempty"` // the figures that it stands on
	Remedy   string `json:"remedy,omitempty"`   // what to do about it
}

// Audit is one thing about the receiver's machine or port that bears on the
// timing, as it was before the run.
type Audit struct {
	Level  string `json:"level"` // red: will be seen in the figures; yellow; green
	Area   string `json:"area"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
	Remedy string `json:"remedy,omitempty"`
}

// KeyValue is an item of an announcement or a log header, in the order of its source.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Check tells which identity of a report a run breaks, nil if none:
// characters = events + batched; max(events − 1, 0) − steps = interval count =
// sum of the rows + over; and where all is known
// sent + duplicated + extra = characters + lost + before_start.
func (r *Run) Check() error {
	steps := r.Steps.Zero + r.Steps.Backward + r.Steps.Stale
	intervals := max(r.Events-1, 0) - steps
	rows := r.Table.Over
	for _, row := range r.Table.Rows {
		rows += row.Count
	}
	var counted int64
	if r.Interval != nil {
		counted = r.Interval.Count
	}
	switch {
	case r.Characters != r.Events+r.Batched:
		return fmt.Errorf("%d characters, but %d events and %d batched", r.Characters, r.Events, r.Batched)
	case counted != intervals:
		return fmt.Errorf("%d intervals, but %d events and %d steps", counted, r.Events, steps)
	case rows != intervals:
		return fmt.Errorf("%d intervals, but the rows hold %d", intervals, rows)
	}
	return r.checkBalance()
}

func (r *Run) checkBalance() error {
	for _, p := range []*int64{r.Sent, r.Lost, r.BeforeStart, r.Duplicated, r.Extra} {
		if p == nil {
			return nil
		}
	}
	in := *r.Sent + *r.Duplicated + *r.Extra
	out := r.Characters + *r.Lost + *r.BeforeStart
	if in != out {
		return fmt.Errorf("sent + duplicated + extra = %d, but received + lost + before the start = %d", in, out)
	}
	return nil
}
