package assemble

import (
	"slices"
	"testing"

	"serialtiming/internal/serialport"
	"serialtiming/results"
)

// follow follows counters that a test turns.
func follow(now *serialport.Counters) *LineErrors {
	return &LineErrors{counting: true, looked: *now, closed: *now,
		read: func() (serialport.Counters, error) { return *now, nil }}
}

func TestLineErrorsStandOnAnArrival(t *testing.T) {
	const f, o, b = results.Framing, results.Overrun, results.Break
	type look struct {
		turn  func(*serialport.Counters)
		bytes []string
		want  []results.Flags
	}
	none := func(*serialport.Counters) {}
	framing := func(c *serialport.Counters) { c.Framing++ }
	overrun := func(c *serialport.Counters) { c.Overrun += 3 }
	for _, c := range []struct {
		name  string
		looks []look
	}{
		{"nothing", []look{{none, []string{"a", "\x00"}, []results.Flags{0, 0}}}},
		{"the first since the look before", []look{
			{none, []string{"a"}, []results.Flags{0}}, {framing, []string{"b", "c"}, []results.Flags{f, 0}}, {none, []string{"d"}, []results.Flags{0}}}},
		{"the first that comes", []look{
			{framing, nil, nil}, {none, nil, nil}, {none, []string{"b", "c"}, []results.Flags{f, 0}}}},
		{"the zero of an overrun", []look{{overrun, []string{"a", "b\x00", "c\x00"}, []results.Flags{0, o, 0}}}},
		{"a zero that comes later", []look{
			{overrun, []string{"a", "b"}, []results.Flags{0, 0}}, {none, []string{"c", "\x00"}, []results.Flags{0, o}}}},
		{"no zero at all", []look{
			{overrun, []string{"a"}, []results.Flags{0}}, {none, []string{"c", "d"}, []results.Flags{o, 0}}}},
		{"the driver's buffer counts", []look{
			{func(c *serialport.Counters) { c.BufferOverrun++ }, []string{"\x00"}, []results.Flags{o}}}},
		{"several kinds", []look{
			{func(c *serialport.Counters) { c.Break++; c.Framing++ }, []string{"a", "\x00"}, []results.Flags{f, b}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := serialport.Counters{Framing: 7}
			l := follow(&now)
			for i, k := range c.looks {
				k.turn(&now)
				var events []results.Event
				for _, s := range k.bytes {
					events = append(events, results.Event{Bytes: []byte(s)})
				}
				l.Look(len(events), func(i int) *results.Event { return &events[i] })
				var got []results.Flags
				for _, e := range events {
					got = append(got, e.Flags)
				}
				if !slices.Equal(got, k.want) {
					t.Errorf("look %d: %v, want %v", i, got, k.want)
				}
			}
		})
	}
}

func TestLineErrorsCloseWithTheDifference(t *testing.T) {
	now := serialport.Counters{Framing: 7, Parity: 1<<32 - 1, Break: 2}
	l := follow(&now)
	now = serialport.Counters{Framing: 9, Parity: 1, Break: 2, Overrun: 1, BufferOverrun: 2}
	want := []results.KeyValue{{Key: "framing", Value: "2"}, {Key: "parity", Value: "2"}, {Key: "overrun", Value: "3"}, {Key: "break", Value: "0"}}
	if got := l.Closing(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	want[0].Value, want[1].Value, want[2].Value = "0", "0", "0"
	if got := l.Closing(); !slices.Equal(got, want) {
		t.Errorf("again: %v, want %v", got, want)
	}
}

func TestLineErrorsOfAPortThatCountsNone(t *testing.T) {
	port, err := serialport.OpenLoopback(serialport.Config{Baud: 9600, Data: 8, Parity: 'N', Stop: "1"})
	if err != nil {
		t.Skip(err)
	}
	defer port.Close()
	l := FollowLineErrors(port)
	e := results.Event{Bytes: []byte{0}}
	l.Look(1, func(int) *results.Event { return &e })
	if items := l.Closing(); items != nil || e.Flags != 0 {
		t.Errorf("%v, flags %v", items, e.Flags)
	}
}
