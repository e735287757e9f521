package assemble

import (
	"strconv"
	"strings"

	"serialtiming/protocol"
	"serialtiming/results"
)

// header is what a log says of itself: the receiver's port, machine and clock.
// A live capture gives the same items, so that both know the same.
type header struct {
	source   results.Source // the log itself, or the tool whose log it was made of
	loopback bool
	granted  []results.Granted
	audit    []results.Audit
	facts    results.BudgetFacts
	line     protocol.Line
	marks    results.Flags // line errors that the source marks
	noFloor  string        // why the floor is not known
}

// maxGranted is several times what a receiver asks for.
const maxGranted = 50

// Header takes an item of the log itself and writes it to the log.
func (a *Assembler) Header(k results.KeyValue) {
	if a.opt.Log != nil {
		a.opt.Log.Key(k.Key, k.Value)
	}
	if k.Key == "expect" && a.opt.Expect == "" {
		a.opt.Expect = Expect(k.Value)
	}
	a.head.set(k)
}

func (h *header) set(k results.KeyValue) {
	number := func() int64 { v, _ := strconv.ParseInt(k.Value, 10, 64); return v }
	f := &h.facts
	switch k.Key {
	case "granted":
		if len(h.granted) < maxGranted { // each run gets a copy
			h.granted = append(h.granted, parseGrant("receiver", k.Value))
		}
	case "audit":
		h.audit = append(h.audit, parseAudit(k.Value))
	case "source":
		h.source.Kind = k.Value
	case "class":
		h.source.Class = k.Value
	case "channel":
		h.source.Channel = k.Value
	case "marks":
		h.marks = results.ParseFlags(k.Value)
	case "quantum_ns":
		h.source.QuantumNS = number()
		f.QuantumNS = number()
	case "loopback":
		h.loopback, f.SelfMeasured = true, true
	case "driver":
		f.Virtual = k.Value == "pty" || k.Value == "pipe"
	case "baud":
		f.Baud = int(number())
	case "line":
		h.line, _ = protocol.ParseLine(k.Value)
	case "usb":
		f.USB = true
	case "trigger_bytes":
		f.FIFOTrigger = int(number())
	case "latency_timer_ms":
		f.LatencyTimerMS = int(number())
	case "floor_ns":
		f.FloorNS = number()
	case "floor_by":
		f.FloorOnPort = strings.HasPrefix(k.Value, "write to stamp")
	case "floor_unknown":
		h.noFloor = k.Value
	case "clock_cost_ns":
		f.ClockReadNS = number()
	case "clock_step_ns":
		f.ClockStepNS = number()
	case "slew_ppm":
		if v, err := strconv.ParseFloat(k.Value, 64); err == nil {
			f.SlewPPM, f.SlewKnown = v, true
		}
	}
	if f.Baud > 0 && h.line.Data > 0 {
		f.CharNS = int64(h.line.CharTime(f.Baud))
	}
}

// onWire is the character time that arrivals are bound to, 0 where there is no
// line speed or it is not known.
func (h *header) onWire() int64 {
	if h.facts.Virtual {
		return 0
	}
	return h.facts.CharNS
}

// formatAudit writes an audit's item as one item of a log.
func formatAudit(i results.Audit) string {
	return joined(i.Level, i.Area, i.Name, i.Value, i.Effect, i.Remedy)
}

func parseAudit(s string) results.Audit {
	p := parted(s, 6)
	return results.Audit{Level: p[0], Area: p[1], Name: p[2], Value: p[3], Effect: p[4], Remedy: p[5]}
}

// joined writes parts as one item, with " | " between them.
func joined(parts ...string) string {
	for i, p := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(results.OneLine(p), "|", "/"))
	}
	return strings.TrimRight(strings.Join(parts, " | "), " |")
}

// parted takes apart what joined wrote; missing parts are "".
func parted(s string, n int) []string {
	p := strings.SplitN(s, "|", n)
	for len(p) < n {
		p = append(p, "")
	}
	for i := range p {
		p[i] = strings.TrimSpace(p[i])
	}
	return p
}
