// Package published holds the nineteen tables of 1998 as data: what a DOS
// machine counted with its 1024 Hz clock while Windows 95 and Windows NT 4.0
// sent a character every 5 ms and something else went on. Source:
// "Real-Time Testing of Windows 95 and NT", Folding-Hyperspace, 1998.
//
// The tables are the whole of what is known: counts of readings. The order of
// the intervals, the characters themselves and their losses are not.
package published

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"serialtiming/results"
)

// The measuring of 1998.
const (
	TickHz = 1024                 // of the DOS machine's real-time clock interrupt
	Period = 5 * time.Millisecond // that the sender's timer was set for
)

//go:embed *.csv
var files embed.FS

// System is a system under test.
type System struct {
	Name  string // as in published:NAME
	Title string
	Timer string // the sender's way of waiting, in this project's word
}

var systems = []System{
	{"windows95", "Windows 95", "sleep"},         // Sleep(5)
	{"windowsnt4", "Windows NT 4.0", "periodic"}, // SetWaitableTimer
}

// Systems lists the systems that there are tables of.
func Systems() []System { return slices.Clone(systems) }

// UnknownError is a name that no system has.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no table was published of %q", e.Name)
}

// Hint names the systems that there are.
func (e *UnknownError) Hint() string {
	var names []string
	for _, s := range systems {
		names = append(names, "published:"+s.Name)
	}
	return "there are " + strings.Join(names, " and ")
}

// Scenario is one table: what went on meanwhile, and the counts by reading in
// whole milliseconds, ascending.
type Scenario struct {
	Label string
	Rows  []results.Row
}

// Table gives the scenarios of a system in the order of their publication; the
// error is an *UnknownError.
func Table(system string) ([]Scenario, error) {
	if _, err := Find(system); err != nil {
		return nil, err
	}
	all, err := tables()
	if err != nil {
		return nil, err
	}
	return all[system], nil
}

// Find gives a system by its name; the error is an *UnknownError.
func Find(system string) (System, error) {
	for _, s := range systems {
		if s.Name == system {
			return s, nil
		}
	}
	return System{}, &UnknownError{system}
}

// tables reads the embedded files once; the error would be the build's.
var tables = sync.OnceValues(func() (map[string][]Scenario, error) {
	all := map[string][]Scenario{}
	for _, s := range systems {
		f, err := files.Open(s.Name + ".csv")
		if err != nil {
			return nil, err
		}
		if all[s.Name], err = parse(f); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		f.Close()
	}
	return all, nil
})

// parse reads scenario,reading,count.
func parse(r io.Reader) ([]Scenario, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = 3
	rows, err := c.ReadAll()
	if err != nil {
		return nil, err
	}
	var list []Scenario
	for i, row := range rows {
		if i == 0 {
			continue // the header
		}
		reading, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return nil, err
		}
		count, err := strconv.ParseInt(row[2], 10, 64)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].Label != row[0] {
			list = append(list, Scenario{Label: row[0]})
		}
		s := &list[len(list)-1]
		s.Rows = append(s.Rows, results.Row{Key: reading, Count: count})
	}
	return list, nil
}

// Runs gives a system's tables as runs, so that they stand beside others.
func Runs(system string) ([]results.Run, error) {
	s, err := Find(system)
	if err != nil {
		return nil, err
	}
	scenarios, err := Table(system)
	if err != nil {
		return nil, err
	}
	runs := make([]results.Run, len(scenarios))
	for i, t := range scenarios {
		runs[i] = t.run(s)
	}
	return runs, nil
}

// run gives a table as a run: of its figures only those that a table holds,
// and of the sender what the author says of it. The characters are the fewest
// that have so many intervals between them.
func (t Scenario) run(s System) results.Run {
	var n int64
	for _, r := range t.Rows {
		n += r.Count
	}
	period := int64(Period)
	return results.Run{
		Label: t.Label, Characters: n + 1, Events: n + 1, LostIsMinimum: true,
		Interval: &results.Dist{Count: n},
		Period:   results.Period{AnnouncedNS: &period},
		Table: results.TableData{BinNS: int64(time.Millisecond), TickHz: new(int64(TickHz)),
			Rows: slices.Clone(t.Rows)},
		Announced: []results.KeyValue{{Key: "period_ns", Value: strconv.FormatInt(period, 10)}, {Key: "timer", Value: s.Timer}},
	}
}
