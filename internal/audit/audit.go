// Package audit says what this machine and a port will do to the timing,
// before anything is measured. Each item is a value, its effect and what to
// do about it.
//
// It promises: nothing is changed, no port is opened (what a port is comes
// from the system's own tables), and what cannot be read is left out or says
// so; a missing right is never an error.
package audit

import (
	"cmp"
	"slices"

	"serialtiming/internal/serialport"
)

// Level says how much an item matters.
type Level int

// The levels.
const (
	Green  Level = iota // as it should be
	Yellow              // costs something; look at it when the figures are bad
	Red                 // will be seen in the figures
)

// String gives the word of the reports: green, yellow, red.
func (l Level) String() string {
	return [...]string{"green", "yellow", "red"}[min(max(l, Green), Red)]
}

// Areas of items.
const (
	AreaKernel  = "kernel"
	AreaClock   = "clock"
	AreaCPU     = "cpu"
	AreaMemory  = "memory"
	AreaMachine = "machine"
	AreaPort    = "port"
)

// Item is one thing that was looked at.
type Item struct {
	Area   string // one of the areas
	Name   string // what was looked at, as the system calls it where it can
	Value  string // what it is, never empty
	Effect string // what that does to timing, a clause
	Remedy string // an action; "" where nothing is to be done
	Level  Level
}

// System looks at this machine, red items first.
func System() []Item { return Sorted(append(system(), leftItems(serialport.Leftovers())...)) }

// leftItems say what a run that died did not put back.
func leftItems(all []serialport.Leftover) (items []Item) {
	for _, l := range all {
		value := "was " + l.Before
		if l.Now != "" {
			value = l.Now + ", " + value
		}
		items = append(items, Item{AreaPort, l.Name + " of " + l.Port, value,
			"a run died and did not put it back: other programs find the port set otherwise than they left it", l.Remedy, Yellow})
	}
	return items
}

// Port looks at a port by what is known of it without opening it (from
// serialport.List, Find or an open port's Info), red items first.
func Port(info serialport.Info) []Item {
	if info.Virtual {
		return []Item{{AreaPort, "port", info.Name,
			"a virtual cable has no UART and no line speed: this is the timing of pseudo-terminals or pipes", "", Green}}
	}
	return Sorted(append(portItems(info), portSystem(info)...))
}

// Find gives what the system's own tables tell of a port, without opening it;
// ok is false if they do not have it.
func Find(name string) (info serialport.Info, ok bool) {
	if serialport.IsCable(name) {
		return serialport.Info{Name: name, Virtual: true, LatencyTimer: -1}, true
	}
	all, err := serialport.List()
	if err != nil {
		return serialport.Info{}, false
	}
	name = realName(name)
	for _, i := range all {
		if i.Name == name {
			return i, true
		}
	}
	return serialport.Info{}, false
}

// Sorted gives the items with red ones first, then yellow, each in their order.
func Sorted(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(b.Level, a.Level) })
	return items
}
