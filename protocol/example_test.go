package protocol_test

import (
	"fmt"

	"serialtiming/protocol"
)

// A receiver takes what arrives apart, and checks the run between the two
// announcements.
func Example() {
	before := protocol.Announcement{Kind: protocol.Before, Run: 1, Label: "quiet", PeriodNS: 5e6, Char: "cycle"}
	after := before
	after.Kind, after.Sent, after.Last = protocol.After, 4, true
	wire, _ := before.Append(nil)
	wire = append(wire, " !#"...) // '"' was lost
	wire, _ = after.Append(wire)

	scanner := protocol.NewScanner(0)
	var check *protocol.Checker
	handle := func(item protocol.Item) {
		if item.Kind != protocol.Announced {
			return // torn frames and stray ends are for the findings
		}
		a, err := protocol.Decode(item.Frame)
		switch {
		case err != nil:
			fmt.Println(err)
		case a.Kind == protocol.Before:
			cycle, _ := protocol.ParseChar(a.Char)
			check = protocol.NewChecker(cycle, true)
		case a.Kind == protocol.After:
			s := check.Close(a.Sent, a.PeriodNS)
			fmt.Printf("%s: sent %d, received %d, lost %d\n", a.Label, s.Sent, s.Received, s.Lost)
		}
	}
	for i, b := range wire {
		at := int64(i) * 5e6
		if scanner.Plain(b) { // nearly always
			check.Feed(b, at)
			continue
		}
		for _, item := range scanner.Feed(b, at) {
			if item.Kind == protocol.Payload {
				check.Feed(item.Byte, item.At)
			} else {
				handle(item)
			}
		}
	}
	// Output: quiet: sent 4, received 3, lost 1
}

// The hot loop of a replay: Advance is inlined, Feed is for the rest.
func ExampleChecker_Advance() {
	check := protocol.NewChecker(protocol.Printable, true)
	for i, b := range []byte(` !"$%`) {
		at := int64(i) * 5e6
		if check.Advance(b, at) {
			continue // right, at check.Pos()
		}
		if check.Feed(b, at) == protocol.Resumed {
			fmt.Printf("%q stands at %d, %+v\n", b, check.Pos(), check.Counts())
		}
	}
	// Output: '%' stands at 5, {Lost:1 Duplicated:0 Corrupted:0 Extra:0}
}
