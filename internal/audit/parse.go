package audit

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
)

// parseConfig reads a kernel configuration, gzipped or not: the values of the
// options that are set. ok is false if it is none.
func parseConfig(b []byte) (options map[string]string, ok bool) {
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, false
		}
		// A configuration has about 300 kB; a bomb gets no further than this.
		if b, err = io.ReadAll(io.LimitReader(z, 4<<20)); err != nil {
			return nil, false
		}
	}
	options = map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found && strings.HasPrefix(key, "CONFIG_") {
			options[key] = strings.Trim(value, `"`)
		}
	}
	return options, len(options) > 0
}

// parsePreempt takes the chosen one out of "none voluntary (full) lazy", "" if
// there is none.
func parsePreempt(s string) string {
	_, s, ok := strings.Cut(s, "(")
	word, _, closed := strings.Cut(s, ")")
	if !ok || !closed || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-") != "" {
		return ""
	}
	return word
}

// versionPreempt gives the preemption model that /proc/version names: rt,
// dynamic, full, lazy; "" if it names none, which means none or voluntary.
func versionPreempt(version string) string {
	for _, word := range strings.FieldsFunc(version, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == ',' }) {
		switch word {
		case "PREEMPT_RT":
			return "rt"
		case "PREEMPT_DYNAMIC":
			return "dynamic"
		case "PREEMPT":
			return "full"
		case "PREEMPT_LAZY":
			return "lazy"
		}
	}
	return ""
}

// hasFlag says whether /proc/cpuinfo lists a flag.
func hasFlag(cpuinfo, flag string) bool {
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key == "flags" || key == "Features" {
			for _, f := range strings.Fields(value) {
				if f == flag {
					return true
				}
			}
			return false
		}
	}
	return false
}

// parseCPUList reads a list such as 0-3,6 and gives how many there are; ok is
// false if it is none.
func parseCPUList(s string) (n int, ok bool) {
	if s == "" {
		return 0, true
	}
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || b < a {
			return 0, false
		}
		n += int(b - a + 1)
	}
	return n, true
}

// task is what /proc/PID/stat tells of a task.
type task struct {
	name     string
	priority int // real-time, 0 none
	policy   int // 1 FIFO, 2 RR
}

// parseTask reads /proc/PID/stat (proc(5), fields 2, 40 and 41). The name may
// hold anything, brackets too.
func parseTask(stat string) (t task, ok bool) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return task{}, false
	}
	t.name = cleaned(stat[open+1 : end])
	fields := strings.Fields(stat[end+1:]) // from field 3 on
	if len(fields) < 39 {
		return task{}, false
	}
	var err1, err2 error
	t.priority, err1 = strconv.Atoi(fields[40-3])
	t.policy, err2 = strconv.Atoi(fields[41-3])
	return t, err1 == nil && err2 == nil
}

// stealShare gives the share of the time since the boot that the host took
// from this machine, from the first line of /proc/stat.
func stealShare(stat string) (share float64, ok bool) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, false
	}
	var total, steal float64
	for i, s := range f[1:9] { // guest time is part of user time
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, false
		}
		total += float64(v)
		if i == 7 {
			steal = float64(v)
		}
	}
	if total == 0 {
		return 0, false
	}
	return steal / total, true
}

// argument gives the value of the last key=value on the kernel's command line.
func argument(cmdline, key string) (value string, ok bool) {
	for _, f := range strings.Fields(cmdline) {
		if k, v, _ := strings.Cut(f, "="); k == key {
			value, ok = v, true
		}
	}
	return value, ok
}

// swapInUse adds up /proc/swaps: areas, and KiB in use.
func swapInUse(swaps string) (areas int, used int64) {
	for line := range strings.Lines(swaps) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] == "Filename" {
			continue
		}
		n, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			continue
		}
		areas++
		used += n
	}
	return areas, used
}
