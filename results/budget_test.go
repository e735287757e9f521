package results

import (
	"math"
	"strings"
	"testing"
)

// amount gives a line's amount, -1 unknown, -2 no such line.
func amount(b Budget, item string) float64 {
	for _, l := range b.Lines {
		switch {
		case l.Item != item:
		case l.AmountNS == nil:
			return -1
		default:
			return *l.AmountNS
		}
	}
	return -2
}

func TestBudgetLines(t *testing.T) {
	uart := BudgetFacts{Baud: 9600, CharNS: 1_041_667, PeriodNS: 50e6, FIFOTrigger: 14,
		FloorNS: 40_000, FloorOnPort: true, ClockReadNS: 31, ClockStepNS: 1, SlewKnown: true, SlewPPM: -12}
	backToBack := uart
	backToBack.PeriodNS = 0
	one := uart
	one.FIFOTrigger = 1
	ftdi := BudgetFacts{Baud: 115200, CharNS: 86_806, USB: true, LatencyTimerMS: 16, QuantumNS: 1000}
	fast := BudgetFacts{Baud: 115200, USB: true, USBFrameNS: 125_000, LatencyTimerMS: -1}
	cable := BudgetFacts{Virtual: true, Baud: 115200, FloorNS: 90_000}
	for _, c := range []struct {
		name  string
		facts BudgetFacts
		item  string
		want  float64
	}{
		{"16 samples a bit at 9600", uart, "UART sampling", 6510.417},
		{"16 samples a bit at 115200", ftdi, "UART sampling", 542.535},
		{"a lone character waits always alike", uart, "receive FIFO", 0},
		{"back to back it waits for 13 more", backToBack, "receive FIFO", 13 * 1_041_667},
		{"trigger 1", one, "receive FIFO", 0},
		{"an adapter's FIFO is its own", ftdi, "receive FIFO", -2},
		{"full speed", ftdi, "USB frame", 1e6},
		{"high speed", fast, "USB frame", 125e3},
		{"latency timer", ftdi, "USB latency timer", 16e6},
		{"no latency timer", fast, "USB latency timer", -2},
		{"floor", uart, "scheduling", 40_000},
		{"no floor", ftdi, "scheduling", -1},
		{"driver in the floor", uart, "driver", 0},
		{"driver unknown", ftdi, "driver", -1},
		{"clock", uart, "clock read", 31},
		{"stamps", ftdi, "clock read", 1000},
		{"no clock", fast, "clock read", -1},
		{"slew as read", uart, "clock slew", 60},
		{"slew at most", ftdi, "clock slew", 2500},
		{"no UART", cable, "UART sampling", -2},
		{"no driver", cable, "driver", -2},
	} {
		if got := amount(NewBudget(c.facts, 5e6), c.item); math.Abs(got-c.want) > .001 {
			t.Errorf("%s: %s is %g, want %g", c.name, c.item, got, c.want)
		}
	}
}

func TestBudgetSum(t *testing.T) {
	all := BudgetFacts{Baud: 9600, CharNS: 1_041_667, PeriodNS: 50e6, FIFOTrigger: 8,
		FloorNS: 40_000, FloorOnPort: true, ClockReadNS: 31, SlewKnown: true}
	b := NewBudget(all, 50e6)
	if want := 6510.417 + 40_000 + 31 + 2500; b.AtLeast || math.Abs(b.SumNS-want) > .01 {
		t.Errorf("sum %g, at least %v, want %g", b.SumNS, b.AtLeast, want)
	}
	sum := 0.
	for _, l := range b.Lines {
		sum += *l.AmountNS
	}
	if math.Abs(sum-b.SumNS) > .01 {
		t.Errorf("the lines add up to %g, the sum says %g", sum, b.SumNS)
	}
	text := b.Text()
	if last := text[len(text)-1]; !strings.HasPrefix(last, "sum ") || strings.Contains(last, "at least") {
		t.Errorf("last line %q", last)
	}
	all.FIFOTrigger = 0
	if b := NewBudget(all, 50e6); !b.AtLeast {
		t.Error("an unknown trigger level, and the sum is called whole")
	}
}
