package results

import (
	"strconv"
	"strings"
)

// item reads a comment line; nil when it says nothing.
func (l *LogReader) item(text []byte, whole bool) *LogItem {
	if !whole {
		l.torn = "the last line is cut"
		return nil
	}
	if len(text) > maxItem {
		l.refuse("a comment longer than 16 KiB")
		return nil
	}
	s := strings.TrimSpace(strings.TrimRight(string(text[1:]), "\r"))
	key, value, ok := strings.Cut(s, ":")
	if !ok {
		return nil
	}
	value = OneLine(strings.TrimPrefix(value, " "))
	item := &LogItem{Key: key, Value: value}
	word, rest, _ := strings.Cut(key, " ")
	switch word {
	case "run", "end":
		n, name, _ := strings.Cut(rest, " ")
		run, err := strconv.Atoi(n)
		if err != nil || run < 1 || name == "" {
			l.refuse("a run's line without number and key")
			return nil
		}
		item.Run, item.Key, item.Section = run, name, RunKey
		if word == "end" {
			item.Section = EndKey
		}
	case "mark":
		item.Key, item.Section = rest, Mark
	}
	if !l.takes(item) {
		return nil
	}
	return item
}

// What a log says besides its rows is kept by whoever reads it, so there is an
// end to it: a real one has some dozens of items, of itself and of each run.
const (
	maxItems = 1000
	maxItem  = 16 << 10 // bytes of a line
)

// takes says whether an item is within the limits.
func (l *LogReader) takes(item *LogItem) bool {
	n := &l.items
	switch item.Section {
	case Mark:
		return true
	case RunKey, EndKey:
		if item.Run != l.run {
			l.run, l.ofRun = item.Run, 0
		}
		n = &l.ofRun
	}
	if *n == maxItems {
		l.refuse("more than 1000 items of the log or of one run")
		return false
	}
	*n++
	return true
}
