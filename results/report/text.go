// Package report writes what a run is for people and programs: the table of
// 1998 and the figures that 1998 did not have, as text, JSON and CSV.
package report

import (
	"fmt"
	"io"
	"strings"

	"serialtiming/results"
)

// Text writes the report for people: a table a run, then its figures.
func Text(w io.Writer, r results.Report) error {
	p := &printer{source: r.Source}
	for i := range r.Runs {
		if i > 0 {
			p.line("")
		}
		p.run(&r.Runs[i])
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type printer struct {
	strings.Builder
	source results.Source
}

func (p *printer) line(format string, a ...any) {
	fmt.Fprintf(p, format+"\n", a...)
}

func (p *printer) run(r *results.Run) {
	if p.source.Kind == "sender" {
		p.line(" sent (%s)", label(r))
	} else {
		p.table(r)
	}
	p.line("")
	p.foreign()
	p.characters(r)
	p.dist("interval", r.Interval)
	p.dist("lateness", r.Lateness)
	if r.Path != nil {
		if r.Path.WroteArrived.Count > 0 {
			p.item("self-measured", "sender and receiver share one machine and one clock, whose stalls this cannot see")
		}
		p.dist("due-woke", &r.Path.DueWoke)
		p.dist("woke-wrote", &r.Path.WokeWrote)
		p.dist("wrote-arrived", &r.Path.WroteArrived)
	}
	p.worst(r)
	p.late(r)
	p.period(r)
	p.granted(r)
	p.counters(r)
	p.limits(r)
	p.budget(r.Budget)
	p.audit(r.Audit)
	p.findings(r.Findings)
	for _, w := range r.Warnings {
		p.item("warning", "%s", w)
	}
}

// item writes a figure under its name, in one column down the page.
func (p *printer) item(name, format string, a ...any) {
	p.line("  %-13s "+format, append([]any{name}, a...)...)
}

// table writes the counts in the form of 1998.
func (p *printer) table(r *results.Run) {
	p.line(" M-Sec  Count (%s)", label(r))
	for _, row := range r.Table.Rows {
		p.line("%6s %6d", Key(row.Key, r.Table.BinNS), row.Count)
	}
	if r.Table.Over > 0 {
		p.line("  over %6d", r.Table.Over)
	}
}

// foreign says what another tool's log can show at all.
func (p *printer) foreign() {
	s := p.source
	switch s.Kind {
	case "", "port", "cable", "log", "sender", "loopback":
		return
	}
	what := map[string]string{
		"character": "a stamp a character",
		"chunk":     "a stamp a read or packet: no interval inside one",
		"line":      "a stamp a line: intervals of lines, not of characters",
	}[s.Class]
	steps := "the step of the stamps is unknown"
	if s.QuantumNS > 0 {
		steps = "steps of " + Span(float64(s.QuantumNS))
	}
	text := fmt.Sprintf("%s, %s, %s", s.Kind, what, steps)
	if s.Channel != "" {
		text += ", channel " + results.OneLine(s.Channel)
	}
	p.item("source", "%s", text)
}

func label(r *results.Run) string {
	text := "no label"
	if r.Label != "" {
		text = results.OneLine(r.Label)
	}
	if r.Path != nil && r.Path.WroteArrived.Count > 0 {
		text += ", self-measured"
	}
	return text
}

func (p *printer) characters(r *results.Run) {
	sent := ""
	switch {
	case p.source.Kind == "sender":
		sent = fmt.Sprintf(" sent, %s periods missed", countOr(r.Missed, "unknown"))
	case r.Sent != nil:
		sent = fmt.Sprintf(" of %d sent, %s periods missed", *r.Sent, countOr(r.Missed, "unknown"))
	}
	switch r.Ended {
	case "interrupt", "port gone", "idle":
		sent += ", ended by " + r.Ended
	}
	p.item("characters", "%d%s", r.Characters, sent)
	if r.Batched > 0 {
		what := "reads"
		if p.source.Class == "line" {
			what = "lines"
		}
		p.item("", "in %d %s: %d shared one with the character before, no interval is known there", r.Events, what, r.Batched)
	}
	p.faults(r)
	switch e := r.Errors; {
	case p.source.Kind == "sender":
	case e == results.LineErrors{}:
		p.item("line errors", "unknown: nothing on the way counted them")
	default:
		p.item("line errors", "framing %s, parity %s, overrun %s, break %s", countOr(e.Framing, "unknown"),
			countOr(e.Parity, "unknown"), countOr(e.Overrun, "unknown"), countOr(e.Break, "unknown"))
	}
	if s := r.Steps; s != (results.Steps{}) {
		p.item("no interval", "%d zero steps, %d steps back, %d behind stale characters", s.Zero, s.Backward, s.Stale)
	}
	if r.Disturbed > 0 {
		p.item("disturbed", "%d arrivals while the receiver itself was held up", r.Disturbed)
	}
}

func (p *printer) faults(r *results.Run) {
	if p.source.Kind == "sender" {
		return // what the other end missed cannot be seen from here
	}
	if r.Lost == nil {
		p.item("sequence", "not judged unless --expect names the sequence that the characters follow")
		return
	}
	least := ""
	if r.LostIsMinimum {
		least = "at least "
	}
	p.item("sequence", "%s%d lost, %s duplicated, %s corrupted, %s extra", least, *r.Lost,
		countOr(r.Duplicated, "unknown"), countOr(r.Corrupted, "unknown"), countOr(r.Extra, "unknown"))
	if r.BeforeStart != nil && *r.BeforeStart > 0 {
		p.item("", "%d sent before this receiver heard the line", *r.BeforeStart)
	}
	if r.Noise > 0 {
		p.item("", "%d characters of noise before the run, not counted in it", r.Noise)
	}
}

func (p *printer) dist(name string, d *results.Dist) {
	if d == nil || d.Count == 0 {
		return
	}
	stddev := ""
	if d.Stddev != nil {
		stddev = "  stddev " + Span(*d.Stddev)
	}
	undisturbed := ""
	if d.MaxUndisturbed != nil && *d.MaxUndisturbed != *d.Max {
		undisturbed = fmt.Sprintf(" (undisturbed %s)", Span(float64(*d.MaxUndisturbed)))
	}
	p.item(name, "min %s  mean %s%s  max %s at %s%s", spanOr(d.Min, ""), Span(*d.Mean), stddev,
		spanOr(d.Max, ""), Span(float64(*d.MaxAtNS)), undisturbed)
	var known, missing []string
	for _, q := range []struct {
		name string
		v    *int64
	}{{"p50", d.P50}, {"p90", d.P90}, {"p99", d.P99}, {"p99.9", d.P999}, {"p99.99", d.P9999}} {
		if q.v == nil {
			missing = append(missing, q.name)
			continue
		}
		known = append(known, q.name+" "+Span(float64(*q.v)))
	}
	if len(missing) > 0 {
		known = append(known, fmt.Sprintf("(%s: fewer than 5 of %d samples lie above)", strings.Join(missing, ", "), d.Count))
	}
	p.item("", "%s", strings.Join(known, "  "))
}

func (p *printer) late(r *results.Run) {
	if r.Late.ByNS == nil || r.Late.Share == nil {
		if p.source.Kind != "sender" && r.Characters > 1 && r.Period.AnnouncedNS == nil {
			p.item("late", "unknown: no period was announced (give --period)")
		}
		return
	}
	floor := ""
	if r.FloorNS != nil && *r.FloorNS == *r.Late.ByNS {
		floor = ", the floor of this receiver"
	}
	p.item("late", "%.3f %% (%d) by more than %s%s", *r.Late.Share*100, *r.Late.Count, Span(float64(*r.Late.ByNS)), floor)
}

// clocks says whose difference the ppm are.
func clocks(p *results.Period) string {
	if p.OneClock {
		return "one clock serves both ends: 0 but for the error of the fit"
	}
	return "the two clocks' difference"
}

func (p *printer) period(r *results.Run) {
	d := r.Period
	text := "measured: unknown, the arrivals show no even grid"
	switch {
	case d.AnnouncedNS != nil && *d.AnnouncedNS == 0:
		p.item("period", "back to back: no schedule")
		return
	case d.AnnouncedNS == nil && d.MeasuredNS == nil, p.source.Kind == "sender":
		return
	case r.Characters < 2:
		text = "measured: unknown, too few characters"
	case d.MeasuredNS != nil:
		text = fmt.Sprintf("measured %.6f ms", *d.MeasuredNS/1e6)
	}
	if d.AnnouncedNS != nil {
		text = fmt.Sprintf("announced %s, ", Span(float64(*d.AnnouncedNS))) + text
	}
	if d.PPM != nil {
		text += fmt.Sprintf(", %+.1f ± %.2g ppm (%s)", *d.PPM, *d.PPMUncertainty, clocks(&d))
	}
	p.item("period", "%s", text)
}

// worst sets the longest intervals beside what the sender did.
func (p *printer) worst(r *results.Run) {
	name := "worst"
	for _, w := range r.Worst {
		p.item(name, "%s at %s, character %d: the sender woke %s late and wrote for %s", Span(float64(w.IntervalNS)),
			Span(float64(w.AtNS)), w.Place, spanOr(w.DueWokeNS, "unknown"), spanOr(w.WokeWroteNS, "unknown"))
		name = ""
	}
}

// granted lists what each side got, in a line, and each refusal in its own.
func (p *printer) granted(r *results.Run) {
	for _, side := range []string{"sender", "receiver"} {
		var got, refused []string
		for _, g := range r.Granted {
			switch {
			case g.Side != side:
			case g.Why != "":
				refused = append(refused, fmt.Sprintf("%s: asked %s, got %s: %s", g.Item, g.Asked, g.Got, g.Why))
			default:
				got = append(got, g.Item+" "+g.Got)
			}
		}
		if len(got) > 0 {
			p.item(side, "%s", strings.Join(got, ", "))
		}
		for _, text := range refused {
			p.item(side, "%s", text)
		}
	}
}

func (p *printer) counters(r *results.Run) {
	for _, c := range r.Counters {
		p.item(c.Side, "garbage collections %s, page faults %s, involuntary switches %s",
			countOr(c.GC, "unknown"), countOr(c.PageFaults, "unknown"), countOr(c.InvoluntarySwitches, "unknown"))
	}
}

// budget lists what an interval's error is made of.
func (p *printer) budget(b *results.Budget) {
	if b == nil {
		return
	}
	name := "error budget"
	for _, l := range b.Lines {
		amount := "unknown"
		if l.AmountNS != nil {
			amount = "± " + Span(*l.AmountNS)
		}
		p.item(name, "%-12s %s: %s", amount, l.Item, l.Applies)
		name = ""
	}
	if b.AtLeast {
		return // a sum without its unknown terms would be believed
	}
	p.item(name, "± %s for 99 %% of the intervals, if all are at their worst at once", Span(b.SumNS))
}

// audit shows what is red, and how much more there is.
func (p *printer) audit(items []results.Audit) {
	yellow := 0
	for _, i := range items {
		switch i.Level {
		case "red":
			p.item("audit", "%s %s: %s", i.Name, i.Value, i.Effect)
		case "yellow":
			yellow++
		}
	}
	if yellow > 0 {
		p.item("audit", "%d more items in the log and the JSON", yellow)
	}
}

func (p *printer) findings(findings []results.Finding) {
	for _, f := range findings {
		text := f.Code + ": " + f.Text
		if f.Evidence != "" {
			text += " (" + f.Evidence + ")"
		}
		p.item("finding", "%s", text)
		if f.Remedy != "" {
			p.item("", "%s", f.Remedy)
		}
	}
}

func (p *printer) limits(r *results.Run) {
	for _, l := range r.Limits {
		p.item("limit", "%s", Limit(l))
	}
	if r.FloorNS != nil {
		p.item("floor", "this receiver cannot see differences below %s (p99)", Span(float64(*r.FloorNS)))
	}
}
