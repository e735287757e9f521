package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Kind is what makes a load.
type Kind int

// The kinds.
const (
	None    Kind = iota // @none: nothing, or what a person does by hand
	Command             // a command line, for the system's shell
	Threads             // @threads: busy threads (seed 003)
	Memory              // @memory: workers that take and touch memory (seed 002)
	Disk                // @disk: writes that fill the cache (seed 000)
)

// The built-in loads' words.
const (
	wordNone    = "@none"
	wordThreads = "@threads"
	wordMemory  = "@memory"
	wordDisk    = "@disk"
)

// Limits and defaults of the built-in loads.
const (
	MostThreads   = 8192 // the runtime ends a process at 10000 threads
	MostWorkers   = 1024
	LeastMemory   = 4 << 10 // a page
	DefaultSize   = 1 << 30 // of @disk
	DefaultRecord = 64 << 10
	MostRecord    = 64 << 20
)

// Spec is one load, read. Only the fields of its kind are set.
type Spec struct {
	Label string
	Text  string // what stood behind the label, as it was written
	Kind  Kind

	Command string // Command: for /bin/sh -c, on Windows cmd /C

	Threads  int    // Threads: 0 to MostThreads
	Priority string // Threads: low, normal or high

	Workers int   // Memory
	Size    int64 // Memory: bytes a worker; Disk: bytes of the file at most
	Dir     string
	Record  int64 // Disk: bytes a write
}

// Parse reads LABEL=SPEC, the value of --load. SPEC is a command line or
//
//	@none
//	@threads:N[:low|normal|high]
//	@memory:WORKERSxSIZE
//	@disk:DIR[:SIZE[:RECORD]]
//
// A size is a number of bytes, with K, M, G or T for the powers of 1024. The
// colon of a drive letter belongs to DIR, on every system.
func Parse(s string) (Spec, error) {
	label, text, ok := strings.Cut(s, "=")
	label, text = strings.TrimSpace(label), strings.TrimSpace(text)
	switch {
	case !ok:
		return Spec{}, fmt.Errorf("load %q has no label: it is LABEL=SPEC", s)
	case label == "":
		return Spec{}, fmt.Errorf("load %q has an empty label", s)
	case strings.IndexFunc(label, unicode.IsControl) >= 0:
		return Spec{}, fmt.Errorf("the label of load %q does not fit on a line", s)
	case text == "":
		return Spec{}, fmt.Errorf("load %q is empty: @none is the load that does nothing", label)
	case strings.ContainsRune(text, 0):
		return Spec{}, fmt.Errorf("load %q holds a zero byte", label)
	}
	spec, err := parseText(text)
	if err != nil {
		return Spec{}, fmt.Errorf("load %q: %w", label, err)
	}
	spec.Label, spec.Text = label, text
	return spec, nil
}

// ParseAll reads several and refuses a label that is used twice: the label is
// all that tells the tables of the phases apart.
func ParseAll(values []string) ([]Spec, error) {
	specs := make([]Spec, 0, len(values))
	seen := map[string]string{}
	for _, v := range values {
		s, err := Parse(v)
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(s.Label)
		switch before, again := seen[key]; {
		case again && before == s.Label:
			return nil, fmt.Errorf("two loads have the label %q", s.Label)
		case again:
			return nil, fmt.Errorf("the labels %q and %q differ in nothing but their case", before, s.Label)
		}
		seen[key] = s.Label
		specs = append(specs, s)
	}
	return specs, nil
}

// String gives the load as Parse reads it.
func (s Spec) String() string { return s.Label + "=" + s.Text }

func parseText(text string) (Spec, error) {
	if !strings.HasPrefix(text, "@") {
		return Spec{Kind: Command, Command: text}, nil
	}
	word, rest, more := strings.Cut(text, ":")
	if word != wordNone && more && rest == "" {
		return Spec{}, fmt.Errorf("nothing stands behind %s:", word)
	}
	switch word {
	case wordNone:
		if more {
			return Spec{}, fmt.Errorf("%s takes nothing behind it", word)
		}
		return Spec{Kind: None}, nil
	case wordThreads:
		return parseThreads(rest)
	case wordMemory:
		return parseMemory(rest)
	case wordDisk:
		return parseDisk(rest)
	}
	return Spec{}, fmt.Errorf("there is no built-in load %s: there are @none, @threads:N, @memory:WORKERSxSIZE, @disk:DIR", word)
}

func parseThreads(rest string) (Spec, error) {
	number, priority, given := strings.Cut(rest, ":")
	if !given {
		priority = "normal"
	}
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || n < 0 || n > MostThreads:
		return Spec{}, fmt.Errorf("@threads takes a number from 0 to %d, not %q", MostThreads, number)
	case priority != "low" && priority != "normal" && priority != "high":
		return Spec{}, fmt.Errorf("the priority of @threads is low, normal or high, not %q", priority)
	}
	return Spec{Kind: Threads, Threads: n, Priority: priority}, nil
}

func parseMemory(rest string) (Spec, error) {
	number, size, ok := strings.Cut(rest, "x")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n > MostWorkers {
		return Spec{}, fmt.Errorf("@memory takes WORKERSxSIZE, such as 2x128M, with 1 to %d workers, not %q", MostWorkers, rest)
	}
	bytes, err := parseSize(size)
	if err != nil {
		return Spec{}, fmt.Errorf("@memory: %w", err)
	}
	if bytes < LeastMemory || bytes > math.MaxInt64/int64(n) {
		return Spec{}, fmt.Errorf("@memory: %s a worker is not from 4K up to what can be counted", size)
	}
	return Spec{Kind: Memory, Workers: n, Size: bytes}, nil
}

func parseDisk(rest string) (Spec, error) {
	dir, sizes := cutDir(rest)
	s := Spec{Kind: Disk, Dir: dir, Size: DefaultSize, Record: DefaultRecord}
	if dir == "" {
		return Spec{}, fmt.Errorf("@disk needs a folder, as in @disk:/tmp:1G")
	}
	if len(sizes) > 2 {
		return Spec{}, fmt.Errorf("@disk takes DIR, SIZE and RECORD, and %q is more", rest)
	}
	for i, into := range []*int64{&s.Size, &s.Record} {
		if i >= len(sizes) {
			break
		}
		n, err := parseSize(sizes[i])
		if err != nil {
			return Spec{}, fmt.Errorf("@disk: %w", err)
		}
		*into = n
	}
	switch {
	case s.Record > MostRecord:
		return Spec{}, fmt.Errorf("@disk: a record is at most 64M")
	case s.Record > s.Size && len(sizes) == 2:
		return Spec{}, fmt.Errorf("@disk: a record of %s is larger than the file of %s", sizes[1], sizes[0])
	}
	s.Record = min(s.Record, s.Size)
	return s, nil
}

// cutDir separates the folder from the sizes behind it. A drive alone needs
// no second colon: C:1G is one gigabyte on C:, not the folder 1G.
func cutDir(rest string) (dir string, sizes []string) {
	drive := driveLen(rest)
	fields := strings.Split(rest[drive:], ":")
	if _, err := parseSize(fields[0]); err == nil && drive > 0 {
		return rest[:drive], fields
	}
	end := strings.IndexByte(rest[drive:], ':')
	if end < 0 {
		return rest, nil
	}
	return rest[:drive+end], strings.Split(rest[drive+end+1:], ":")
}

// driveLen is the length of a drive at the start of a path, colon included:
// C: or \\?\C:. A single letter before a colon always is one, on every
// system, so that a command line means the same everywhere (./c:1G is the
// folder c).
func driveLen(path string) int {
	const long = `\\?\`
	prefix := 0
	if strings.HasPrefix(path, long) {
		prefix = len(long)
	}
	p := path[prefix:]
	if len(p) < 2 || p[1] != ':' || p[0]|0x20 < 'a' || p[0]|0x20 > 'z' {
		return 0
	}
	return prefix + 2
}

// parseSize reads a number of bytes: 4096, 64K, 128M, 1G, 2T.
func parseSize(s string) (int64, error) {
	bad := fmt.Errorf("%q is no size such as 64K, 128M or 1G", s)
	digits, shift := s, 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 && s[len(s)-1] >= 'A' {
			digits, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n == 0 || n > math.MaxInt64>>shift {
		return 0, bad
	}
	return int64(n) << shift, nil
}
