package qemu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Report is a JSON report as far as the scenarios look into it. It is read by
// its published names, not through the code under test.
type Report struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Source  struct {
		Kind  string `json:"kind"`
		Class string `json:"class"`
	} `json:"source"`
	Runs []RunReport `json:"runs"`
}

// RunReport is one run of a report; a null figure is a nil pointer.
type RunReport struct {
	Label         string `json:"label"`
	Sent          *int64 `json:"sent"`
	Missed        *int64 `json:"missed"`
	Characters    int64  `json:"characters"`
	Events        int64  `json:"events"`
	Batched       int64  `json:"batched"`
	FirstNS       *int64 `json:"first_ns"`
	LastNS        *int64 `json:"last_ns"`
	Lost          *int64 `json:"lost"`
	LostIsMinimum bool   `json:"lost_is_minimum"`
	BeforeStart   *int64 `json:"before_start"`
	Duplicated    *int64 `json:"duplicated"`
	Corrupted     *int64 `json:"corrupted"`
	Extra         *int64 `json:"extra"`
	Errors        struct {
		Framing *int64 `json:"framing"`
		Parity  *int64 `json:"parity"`
		Overrun *int64 `json:"overrun"`
		Break   *int64 `json:"break"`
	} `json:"errors"`
	Steps struct {
		Zero     int64 `json:"zero"`
		Backward int64 `json:"backward"`
		Stale    int64 `json:"stale"`
	} `json:"steps"`
	Disturbed int64   `json:"disturbed"`
	Interval  Spread  `json:"interval_ns"`
	Lateness  *Spread `json:"lateness_ns"`
	Late      *struct {
		By    *int64   `json:"by_ns"`
		Count *int64   `json:"count"`
		Share *float64 `json:"share"`
	} `json:"late"`
	Period struct {
		Announced *float64 `json:"announced_ns"`
		Measured  *float64 `json:"measured_ns"`
		PPM       *float64 `json:"ppm"`
	} `json:"period"`
	Table struct {
		Bin  *int64     `json:"bin_ns"`
		Tick *float64   `json:"tick_hz"`
		Over int64      `json:"over"`
		Rows [][2]int64 `json:"rows"`
	} `json:"table"`
	Granted []struct {
		Side, Item, Asked, Got string
	} `json:"granted"`
	Findings []struct{ Code, Text, Evidence string } `json:"findings"`
	Warnings []string                                `json:"warnings"`
	Budget   *struct {
		Lines []BudgetLine `json:"lines"`
	} `json:"budget"`
}

// Spread is a distribution's figures, in ns.
type Spread struct {
	Count  int64    `json:"count"`
	Min    *float64 `json:"min"`
	Mean   *float64 `json:"mean"`
	Stddev *float64 `json:"stddev"`
	P50    *float64 `json:"p50"`
	P99    *float64 `json:"p99"`
	Max    *float64 `json:"max"`

	MaxUndisturbed *float64 `json:"max_undisturbed"`
}

// BudgetLine is one part of the error budget; an amount that is not known is nil.
type BudgetLine struct {
	Item    string   `json:"item"`
	Amount  *float64 `json:"amount_ns"`
	Applies string   `json:"applies"`
}

// Report reads a JSON report from the guest's files.
func (o *Outcome) Report(name string) (r Report, err error) {
	b, ok := o.Files[name]
	if !ok {
		return r, fmt.Errorf("no file %s", name)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if r.Format != "serialtiming-report" || r.Version != 1 {
		err = fmt.Errorf("%s: format %q version %d", name, r.Format, r.Version)
	}
	return r, err
}

// Log is a run log, read column by column.
type Log struct {
	Keys   map[string]string            // `# key: value` of the log
	Runs   map[string]map[string]string // "run 1", "end 1" -> key -> value
	Events []LogRow
	Tail   string // what follows the last line feed: a torn row
}

// LogRow is a character; columns that the log does not have are -1.
type LogRow struct {
	Run, Seq, Due, Woke, Wrote, Arrived, Batch int64
	Byte                                       byte
	Flags                                      string
}

// Log reads a run log from the guest's files.
func (o *Outcome) Log(name string) (Log, error) {
	b, ok := o.Files[name]
	if !ok {
		return Log{}, fmt.Errorf("no file %s", name)
	}
	l, err := parseLog(b)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return l, err
}

func parseLog(b []byte) (Log, error) {
	l := Log{Keys: map[string]string{}, Runs: map[string]map[string]string{}}
	whole, tail := b, []byte(nil)
	if i := bytes.LastIndexByte(b, '\n'); i+1 < len(b) {
		whole, tail = b[:i+1], b[i+1:]
	}
	l.Tail = string(tail)
	var columns []string
	for n, line := range strings.Split(strings.TrimSuffix(string(whole), "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case n == 0:
			if line != "# serialtiming log 1" {
				return l, fmt.Errorf("first line %q", line)
			}
		case strings.HasPrefix(line, "#"):
			l.comment(strings.TrimSpace(line[1:]))
		case columns == nil:
			columns = strings.Split(line, ",")
			if !slices.Contains(columns, "arrived_ns") && !slices.Contains(columns, "wrote_ns") {
				return l, fmt.Errorf("line %d: header %q has no instant", n+1, line)
			}
		default:
			row, err := logRow(columns, strings.Split(line, ","))
			if err != nil {
				return l, fmt.Errorf("line %d: %w", n+1, err)
			}
			l.Events = append(l.Events, row)
		}
	}
	return l, nil
}

// comment takes `key: value` and `run N key: value`, `end N key: value`.
func (l *Log) comment(s string) {
	key, value, _ := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	f := strings.Fields(key)
	if len(f) < 3 || f[0] != "run" && f[0] != "end" {
		l.Keys[key] = value
		return
	}
	of := f[0] + " " + f[1]
	if l.Runs[of] == nil {
		l.Runs[of] = map[string]string{}
	}
	l.Runs[of][strings.Join(f[2:], " ")] = value
}

func logRow(columns, values []string) (LogRow, error) {
	r := LogRow{Run: -1, Seq: -1, Due: -1, Woke: -1, Wrote: -1, Arrived: -1, Batch: -1}
	if len(values) != len(columns) {
		return r, errors.New("not as many values as columns")
	}
	into := map[string]*int64{"run": &r.Run, "seq": &r.Seq, "due_ns": &r.Due, "woke_ns": &r.Woke,
		"wrote_ns": &r.Wrote, "arrived_ns": &r.Arrived, "batch": &r.Batch}
	for i, c := range columns {
		v := values[i]
		if p := into[c]; p != nil && v != "" {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return r, fmt.Errorf("%s: %w", c, err)
			}
			*p = n
		}
		if c == "flags" {
			r.Flags = v
		}
		if c == "byte" && v != "" {
			n, err := strconv.ParseUint(v, 16, 8)
			if err != nil {
				return r, fmt.Errorf("byte: %w", err)
			}
			r.Byte = byte(n)
		}
	}
	return r, nil
}

// Int reads a number from a key, -1 when there is none.
func (l Log) Int(key string) int64 {
	n, err := strconv.ParseInt(l.Keys[key], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
