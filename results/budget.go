package results

import "fmt"

// BudgetFacts are what the error of an interval is made of on one receiver. A
// zero field is not known, unless it says otherwise.
type BudgetFacts struct {
	Virtual  bool  // a cable: no UART, no line speed, no adapter
	Baud     int   // bits per second
	CharNS   int64 // character time
	PeriodNS int64 // of the stream; 0: back to back, or unknown

	FIFOTrigger    int   // receive trigger of a 16550 in characters
	USB            bool  // the port is a USB adapter
	USBFrameNS     int64 // 1 ms at full speed, 125 µs at high speed; 0 with USB: 1 ms
	LatencyTimerMS int   // of an FTDI adapter; below 1 there is none

	FloorNS      int64   // of this receiver: see Run.FloorNS
	FloorOnPort  bool    // measured through the port itself, so that it holds driver and adapter
	ClockReadNS  int64   // what a reading costs
	ClockStepNS  int64   // smallest step of the clock
	SelfMeasured bool    // sender and receiver are one process
	QuantumNS    int64   // step of the stamps in the log
	SlewPPM      float64 // by which the clock is being slewed, either sign
	SlewKnown    bool    // SlewPPM is known, 0 included
}

// BudgetLine is one part of the error of an interval.
type BudgetLine struct {
	Item     string   `json:"item"`
	AmountNS *float64 `json:"amount_ns"` // plus or minus, of one interval; nil unknown
	Applies  string   `json:"applies"`   // to what, and why so much
}

// Budget is the error of one interval, line by line. Sum adds the amounts that
// are known, as if all were at their worst at once; with AtLeast some are not
// known.
type Budget struct {
	Lines   []BudgetLine `json:"lines"`
	SumNS   float64      `json:"sum_ns"`
	AtLeast bool         `json:"sum_is_minimum"`
}

// Rates that hold where nothing better is known.
const (
	slewMost   = 500 // ppm: the most that adjtimex(2) lets NTP slew CLOCK_MONOTONIC by
	crystalPPM = 50  // of an ordinary crystal
)

// NewBudget makes the error budget of an interval of that length in ns.
func NewBudget(f BudgetFacts, interval int64) Budget {
	var b Budget
	if !f.Virtual {
		b.line(f)
		b.fifo(f)
		b.usb(f)
	}
	b.machine(f)
	b.clocks(f, float64(interval))
	return b
}

func (b *Budget) known(item string, ns float64, format string, a ...any) {
	b.Lines = append(b.Lines, BudgetLine{item, new(round3(ns)), fmt.Sprintf(format, a...)})
	b.SumNS = round3(b.SumNS + ns)
}

func (b *Budget) unknown(item, format string, a ...any) {
	b.Lines = append(b.Lines, BudgetLine{Item: item, Applies: fmt.Sprintf(format, a...)})
	b.AtLeast = true
}

// line is the UART's own view of an edge: it samples at 16 times the baud
// rate, so that each of the two edges is known to half a sample either way.
func (b *Budget) line(f BudgetFacts) {
	if f.Baud <= 0 {
		b.unknown("UART sampling", "the baud rate is not known")
		return
	}
	b.known("UART sampling", 1e9/(16*float64(f.Baud)), "each interval: two start edges, sampled at 16 × %d baud", f.Baud)
}

// fifo holds characters back until the trigger level or four silent character
// times: that is the same for each lone character, so that it moves no
// interval of a slow stream.
func (b *Budget) fifo(f BudgetFacts) {
	const item = "receive FIFO"
	switch n := f.FIFOTrigger; {
	case f.USB: // the adapter's own is not to be seen
	case n <= 0:
		b.unknown(item, "the trigger level is not known")
	case n == 1:
		b.known(item, 0, "each character interrupts (trigger 1)")
	case f.CharNS <= 0:
		b.unknown(item, "trigger %d: up to %d character times, which are not known", n, n-1)
	case f.PeriodNS > 5*f.CharNS:
		b.known(item, 0, "trigger %d delays each lone character by the same 4 character times (%s): no interval, but the one-way time",
			n, spanText(4*float64(f.CharNS)))
	default:
		b.known(item, float64(int64(n-1)*f.CharNS), "trigger %d: characters that follow each other wait for up to %d more", n, n-1)
	}
}

// usb delivers in frames.
func (b *Budget) usb(f BudgetFacts) {
	if !f.USB {
		return
	}
	frame := f.USBFrameNS
	if frame <= 0 {
		frame = 1e6
	}
	b.known("USB frame", float64(frame), "each interval: either end waits for up to one frame of %s", spanText(float64(frame)))
	if ms := f.LatencyTimerMS; ms > 0 {
		b.known("USB latency timer", float64(ms)*1e6, "each interval: the adapter gathers for up to %d ms before it sends", ms)
	}
}

// machine is from the interrupt to the stamp.
func (b *Budget) machine(f BudgetFacts) {
	switch {
	case f.FloorNS > 0:
		b.known("scheduling", float64(f.FloorNS), "99 %% of the intervals: the floor of this receiver")
	case f.SelfMeasured:
		b.unknown("scheduling", "of a self-measured run it stands in wrote-arrived, with all that lies between")
	default:
		b.unknown("scheduling", "the floor was not measured (--warmup)")
	}
	switch {
	case f.Virtual:
	case f.FloorNS > 0 && f.FloorOnPort:
		b.known("driver", 0, "already in the floor, which was measured through the port")
	default:
		b.unknown("driver", "the interrupt and the driver's work before a character can be read were not measured")
	}
}

// clocks are the reading of the clock and its rate.
func (b *Budget) clocks(f BudgetFacts, interval float64) {
	step := max(f.ClockReadNS, f.ClockStepNS, f.QuantumNS)
	if step <= 0 {
		b.unknown("clock read", "the clock's step was not measured")
	} else {
		b.known("clock read", float64(step), "each interval: reading %s, clock step %s, stamp step %s",
			spanText(float64(f.ClockReadNS)), spanText(float64(f.ClockStepNS)), spanText(float64(f.QuantumNS)))
	}
	slew := f.SlewPPM
	if slew < 0 {
		slew = -slew
	}
	if f.SlewKnown {
		b.known("clock slew", slew*1e-6*interval, "%.3g ppm of the interval, as the clock is slewed now", slew)
	} else {
		b.known("clock slew", slewMost*1e-6*interval, "at most %d ppm of the interval, if the time service slews the clock", slewMost)
	}
	if f.Virtual { // one clock serves both ends
		return
	}
	b.known("crystal", crystalPPM*1e-6*interval, "about %d ppm of the interval, the same in all of them: see the fitted period", crystalPPM)
}

// Text gives a line a part and the sum.
func (b Budget) Text() []string {
	var lines []string
	for _, l := range b.Lines {
		amount := "unknown"
		if l.AmountNS != nil {
			amount = "± " + spanText(*l.AmountNS)
		}
		lines = append(lines, fmt.Sprintf("%-17s %12s  %s", l.Item, amount, l.Applies))
	}
	sum := "± " + spanText(b.SumNS)
	note := "all of it at its worst at once"
	if b.AtLeast {
		note = "at least: what is unknown is not in it"
	}
	return append(lines, fmt.Sprintf("%-17s %12s  %s", "sum", sum, note))
}
