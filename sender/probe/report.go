package probe

import (
	"slices"

	"serialtiming/results"
)

// The JSON report's name and version. Added keys do not raise the version.
const (
	Format  = "serialtiming-probe"
	Version = 1
)

// Report is what one probe found. All figures named _ns are nanoseconds; one
// that cannot be known is nil (null in JSON), never 0. Of the sections at the
// end only the probe's own is there.
type Report struct {
	Format    string            `json:"format"`
	Version   int               `json:"version"`
	Probe     string            `json:"probe"` // clock, timer, spin, wake, rate
	Machine   Machine           `json:"machine"`
	Started   string            `json:"started"`    // RFC 3339
	ElapsedNS int64             `json:"elapsed_ns"` // with the loads' settling
	Asked     Asked             `json:"asked"`
	Loads     []LoadRun         `json:"loads"`
	Granted   []Granted         `json:"granted"` // each once, side "sender"
	Port      *PortInfo         `json:"port"`    // null: none was used
	Findings  []results.Finding `json:"findings"`
	Warnings  []string          `json:"warnings"` // what the figures do not mean

	Clock      []ClockCell      `json:"clock,omitempty"`
	Timer      []TimerCell      `json:"timer,omitempty"`
	Slack      []SlackRow       `json:"timer_slack,omitempty"`      // with timer, on Linux
	Resolution *ResolutionTable `json:"timer_resolution,omitempty"` // with timer, on Windows
	Spin       []SpinCell       `json:"spin,omitempty"`
	Wake       []WakeCell       `json:"wake,omitempty"`
	Rate       []RateCell       `json:"rate,omitempty"`
}

// Granted is one thing that was asked of the system, for a thread of its own
// where a probe has several.
type Granted struct {
	results.Granted
	Thread string `json:"thread,omitempty"` // the processor of wake: waking, woken
}

// Measured tells whether there is any figure in the report.
func (r *Report) Measured() bool {
	return slices.ContainsFunc(r.Clock, func(c ClockCell) bool { return c.Figures != nil }) ||
		slices.ContainsFunc(r.Timer, func(c TimerCell) bool { return c.Figures != nil }) ||
		slices.ContainsFunc(r.Spin, func(c SpinCell) bool { return c.Figures != nil }) ||
		slices.ContainsFunc(r.Wake, func(c WakeCell) bool { return c.Latency != nil }) ||
		slices.ContainsFunc(r.Rate, func(c RateCell) bool { return len(c.Attempts) > 0 })
}

// Machine is where the figures come from.
type Machine struct {
	Host       string `json:"host"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Processors int    `json:"processors"` // that this process may use
	Clock      string `json:"clock"`      // that all figures are read from
}

// Asked is what the user asked for: a duration or a count, for the whole
// probe.
type Asked struct {
	DurationNS int64    `json:"duration_ns,omitempty"`
	Count      int64    `json:"count,omitempty"`
	Priorities []string `json:"priorities"`
	Timers     []string `json:"timers"`
}

// LoadRun is one load and how it fared.
type LoadRun struct {
	Label      string   `json:"label"`
	Spec       string   `json:"spec"`
	EndedEarly *string  `json:"ended_early"` // why; null: it worked to the end
	Notes      []string `json:"notes"`
}

// PortInfo says what a probe with a port wrote to.
type PortInfo struct {
	Name     string `json:"name"`
	Driver   string `json:"driver"`
	Virtual  bool   `json:"virtual"` // no UART and no line speed
	Baud     int    `json:"baud"`
	Line     string `json:"line"`
	Loopback bool   `json:"loopback"`
}

// ClockCell is one clock under one load.
type ClockCell struct {
	Load string `json:"load"`
	Name string `json:"name"`
	Way  string `json:"way"` // how it is read
	// ResolutionNS is what the system states.
	ResolutionNS *int64        `json:"resolution_ns"`
	Figures      *ClockFigures `json:"figures"`
	Why          string        `json:"why,omitempty"` // why there are none
}

// ClockFigures are what a clock is seen to do.
type ClockFigures struct {
	Readings int64 `json:"readings"`
	// StepNS is the smallest difference of two readings in a row that was not
	// zero; null when the clock never moved. With StepIsBound it moved at
	// every reading: its own step is at most this, and cannot be seen.
	StepNS      *int64 `json:"step_ns"`
	StepIsBound bool   `json:"step_is_bound"`
	// StepMedianNS is the median of the steps: more than the least where the
	// clock's step changes.
	StepMedianNS *int64   `json:"step_median_ns"`
	CostMeanNS   *float64 `json:"cost_mean_ns"` // of a reading
	CostMinNS    *float64 `json:"cost_min_ns"`  // of the best hundred readings
	Backward     int64    `json:"backward"`     // readings below the one before
}

// TimerCell is one way of waiting at one interval, priority and load.
type TimerCell struct {
	Load     string        `json:"load"`
	Priority string        `json:"priority"` // as asked
	Granted  string        `json:"granted"`  // as the system gave it
	Timer    string        `json:"timer"`
	Call     string        `json:"call"` // the system call that it is
	PeriodNS int64         `json:"period_ns"`
	Figures  *TimerFigures `json:"figures"`
	Why      string        `json:"why,omitempty"`
}

// TimerFigures are the intervals from tick to tick.
type TimerFigures struct {
	Interval  *results.Dist    `json:"interval_ns"`
	Missed    int64            `json:"missed"` // ticks behind the first left out because they were over
	Erroneous []Share          `json:"erroneous"`
	Growth    []Growth         `json:"growth"` // after 10, 20, 50, … ticks and at the end
	Counters  results.Counters `json:"counters"`
}

// Share counts the ticks that came later than the interval by more than a
// tolerance (seed 003 counts with tolerance 0: a timer that keeps its grid
// with a microsecond of jitter then has half of its ticks erroneous).
type Share struct {
	ToleranceNS int64   `json:"tolerance_ns"`
	Count       int64   `json:"count"`
	Share       float64 `json:"share"` // 0 to 1
}

// Growth is a cell as it stood after so many ticks: a point of seed 003's two
// figures.
type Growth struct {
	Ticks     int64   `json:"ticks"`
	MeanNS    float64 `json:"mean_ns"`
	MinNS     int64   `json:"min_ns"`
	P99NS     *int64  `json:"p99_ns"`
	MaxNS     int64   `json:"max_ns"`
	Erroneous []Share `json:"erroneous"`
}

// SlackRow is one timer slack of an ordinary thread, and what a sleep of 1 ms
// then takes.
type SlackRow struct {
	SlackNS  int64         `json:"slack_ns"`  // as asked
	GotNS    *int64        `json:"got_ns"`    // as read back
	Sleep    *results.Dist `json:"sleep_ns"`  // null: too few
	Priority string        `json:"scheduler"` // that the thread really had
	Why      string        `json:"why,omitempty"`
}

// ResolutionTable is the experiment of seed 003: another process asks for a
// timer resolution, this one looks what it gets of it.
type ResolutionTable struct {
	Rows     []ResolutionRow `json:"rows"`
	FinestNS *int64          `json:"finest_ns"`
	// Change2004 is yes, no or undecidable: whether one process's request
	// leaves the sleeps of the others alone, as since Windows 10 version 2004.
	Change2004 string `json:"change_2004"`
	Why        string `json:"why"`
}

// ResolutionRow is one request of the other process.
type ResolutionRow struct {
	AskedMS   int64    `json:"asked_ms"`      // 0: nothing is asked
	CurrentNS *int64   `json:"current_ns"`    // NtQueryTimerResolution
	StepNS    *int64   `json:"time_step_ns"`  // of timeGetTime, the most frequent
	SleepNS   *float64 `json:"sleep_mean_ns"` // of Sleep(1) in this process
	Sleeps    int64    `json:"sleeps"`        // how many that mean is of
	Why       string   `json:"why,omitempty"` // why there is a null
}

// SpinCell is one form of the spin test under one load.
type SpinCell struct {
	Load     string `json:"load"`
	Form     string `json:"form"` // loop, periodic
	Priority string `json:"priority"`
	Granted  string `json:"granted"`
	With     string `json:"with,omitempty"` // periodic: what it writes to
	Call     string `json:"call,omitempty"`
	// Figures of the loop form: passes of the loop; of the periodic form:
	// intervals from tick to tick.
	Figures *SpinFigures `json:"figures"`
	Why     string       `json:"why,omitempty"`
}

// SpinFigures are the loop's times, as the dialog of seed 000 showed them,
// and what held it up.
type SpinFigures struct {
	Passes    int64   `json:"passes"`
	ElapsedNS int64   `json:"elapsed_ns"`
	MinNS     int64   `json:"min_ns"`
	MeanNS    float64 `json:"mean_ns"`
	MaxNS     int64   `json:"max_ns"`
	// Interruptions (loop form) are passes longer than ThresholdNS, Late
	// (periodic form) the lateness of ticks that woke later than due by more
	// than that; the other form's is null.
	ThresholdNS   int64            `json:"threshold_ns"`
	Interruptions *results.Dist    `json:"interruptions_ns"`
	Late          *results.Dist    `json:"late_ns"`
	Share         *float64         `json:"share"`   // loop form: of the time that interruptions took, 0 to 1
	Rows          []SpinRow        `json:"rows"`    // the histogram of the interruptions or the lateness
	Dropped       int64            `json:"dropped"` // what is counted above and missing in the rows
	Missed        *int64           `json:"missed"`  // periodic form: ticks left out, but for those at the first
	Write         *results.Dist    `json:"write_ns"`
	Counters      results.Counters `json:"counters"`
}

// SpinRow counts the interruptions, or the late ticks, from FromNS to below ToNS.
type SpinRow struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
	Count  int64 `json:"count"`
}

// WakeCell is one form of the wake-up test under one load.
type WakeCell struct {
	Load       string            `json:"load"`
	Form       string            `json:"form"`       // wake: one thread wakes a sleeping one; switch: half of a round trip
	Processors string            `json:"processors"` // one, two, any
	Call       string            `json:"call"`
	Priority   string            `json:"priority"`
	Granted    string            `json:"granted"`
	Latency    *results.Dist     `json:"latency_ns"`
	Dropped    int64             `json:"dropped"` // wake-ups that are missing in it
	Counters   *results.Counters `json:"counters"`
	Why        string            `json:"why,omitempty"`
}

// RateCell is the search for the highest rate, under one load.
type RateCell struct {
	Load     string `json:"load"`
	What     string `json:"what"` // timer; timer and port
	Timer    string `json:"timer"`
	Call     string `json:"call"`
	Priority string `json:"priority"`
	Granted  string `json:"granted"`
	Claims   string `json:"claims"` // what "without a fault" covers
	// ConfirmedHZ is the highest rate that passed the long run; null: none.
	ConfirmedHZ  *float64 `json:"confirmed_hz"`
	ConfirmedFor *int64   `json:"confirmed_for_ns"`
	// PassedHZ is the highest that passed a step of the search, FailedHZ the
	// lowest that failed one.
	PassedHZ *float64          `json:"passed_hz"`
	FailedHZ *float64          `json:"failed_hz"`
	LimitHZ  *float64          `json:"limit_hz"` // the line's: characters a second
	Attempts []Attempt         `json:"attempts"`
	Counters *results.Counters `json:"counters"`
	Why      string            `json:"why,omitempty"`
}

// Attempt is one run at one rate.
type Attempt struct {
	Step     string  `json:"step"` // search, confirm
	RateHZ   float64 `json:"rate_hz"`
	PeriodNS int64   `json:"period_ns"`
	TookNS   int64   `json:"took_ns"`
	Sent     int64   `json:"sent"`
	Missed   int64   `json:"missed"`
	Failed   string  `json:"failed"` // the error that ended it, or ""
	Lost     *int64  `json:"lost"`   // null: without --loopback nobody knows
	Wrong    *int64  `json:"wrong"`  // characters out of order
	OK       bool    `json:"ok"`
}
