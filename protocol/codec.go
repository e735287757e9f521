package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// The keys that are more than one number or text.
const (
	keyKind     = "kind"
	keyLast     = "last"
	keyLateness = "lateness_ns"
	keyGranted  = "granted"
)

// special are the printable characters that have a meaning in a body; with
// all that is not printable ASCII they are written %XX in values.
const special = "%;=*:"

// Append appends the announcement, as a frame of the current version, to dst.
// On an error (ErrFrameTooLong, a negative number, a bad key in Extra) it
// returns dst as it was.
func (a *Announcement) Append(dst []byte) ([]byte, error) {
	body := make([]byte, 0, MaxFrame)
	body = appendPair(body, keyKind, a.Kind.String())
	for _, f := range fields {
		value, err := a.valueOf(f)
		if err != nil {
			return dst, err
		}
		if value != "" {
			body = appendPair(body, f.key, value)
		}
	}
	if l := a.Lateness; l != nil {
		body = appendPair(body, keyLateness, fmt.Sprintf("%d,%d,%d", l.P50, l.P99, l.Max))
	}
	if a.Last {
		body = append(append(body, keyLast...), ';')
	}
	for _, g := range a.Granted {
		body = appendGrant(body, g)
	}
	for _, p := range a.Extra {
		if !extraKey(p.Key) {
			return dst, fmt.Errorf("the announcement cannot carry the key %q", p.Key)
		}
		body = appendPair(body, p.Key, p.Value)
	}
	return appendFrame(dst, Version, body)
}

// valueOf is the value of a field, "" to leave it out: zero is, except where
// it is a figure.
func (a *Announcement) valueOf(f field) (string, error) {
	var n int64
	switch v := f.ref(a).(type) {
	case *string:
		return *v, nil
	case *int:
		n = int64(*v)
	case *int64:
		n = *v
	}
	figure := f.key == "period_ns" || a.Kind == After && (f.key == "sent" || f.key == "missed")
	switch {
	case n < 0:
		return "", fmt.Errorf("the announcement cannot carry %s=%d", f.key, n)
	case n == 0 && !figure:
		return "", nil
	}
	return strconv.FormatInt(n, 10), nil
}

func appendPair(body []byte, key, value string) []byte {
	body = append(append(body, key...), '=')
	return append(appendEscaped(body, value), ';')
}

func appendGrant(body []byte, g Grant) []byte {
	body = append(body, keyGranted...)
	sep := byte('=')
	for _, s := range []string{g.Item, g.Asked, g.Got, g.Why} {
		body = appendEscaped(append(body, sep), s)
		sep = ':'
	}
	return append(body, ';')
}

func appendEscaped(body []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		b := s[i]
		if Printable.Contains(b) && strings.IndexByte(special, b) < 0 {
			body = append(body, b)
		} else {
			body = append(body, '%', digits[b>>4], digits[b&15])
		}
	}
	return body
}

// Decode reads a frame, delimiters included. The error is ErrDamaged when the
// frame is not whole, a *VersionError when it is whole but of a newer version,
// and else names the pair that makes no sense.
func Decode(frame []byte) (*Announcement, error) {
	version, body, err := openFrame(frame)
	if err != nil {
		return nil, err
	}
	if version > Version {
		return nil, &VersionError{version}
	}
	a, kind := &Announcement{}, false
	for pair := range strings.SplitSeq(string(body), ";") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if err := a.set(key, value); err != nil {
			return nil, err
		}
		kind = kind || key == keyKind
	}
	if !kind {
		return nil, fmt.Errorf("the announcement has no key %s", keyKind)
	}
	return a, nil
}

// set takes in one pair; the value is still escaped.
func (a *Announcement) set(key, escaped string) error {
	if key == keyGranted {
		return a.setGrant(escaped)
	}
	value, ok := unescape(escaped)
	if f, known := fieldOf(key); known && ok {
		ok = store(f.ref(a), value)
	} else if ok {
		ok = a.setOther(key, value)
	}
	if !ok {
		return badPair(key, escaped)
	}
	return nil
}

func badPair(key, value string) error {
	return fmt.Errorf("the announcement's %q=%q makes no sense", key, value)
}

// store puts a value into a field.
func store(ref any, value string) bool {
	if s, ok := ref.(*string); ok {
		*s = value
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return false
	}
	switch p := ref.(type) {
	case *int64:
		*p = n
	case *int:
		*p = int(n)
		return int64(*p) == n
	}
	return true
}

func (a *Announcement) setOther(key, value string) bool {
	switch key {
	case keyKind:
		a.Kind = Before
		if value == After.String() {
			a.Kind = After
		}
		return value == a.Kind.String()
	case keyLast:
		a.Last = true
		return true
	case keyLateness:
		a.Lateness = &Lateness{}
		return a.Lateness.parse(value)
	}
	a.Extra = append(a.Extra, Pair{key, value})
	return extraKey(key)
}

func (l *Lateness) parse(s string) bool {
	parts := strings.Split(s, ",")
	refs := []*int64{&l.P50, &l.P99, &l.Max}
	if len(parts) != len(refs) {
		return false
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return false
		}
		*refs[i] = n
	}
	return true
}

func (a *Announcement) setGrant(escaped string) error {
	var g Grant
	parts := strings.Split(escaped, ":")
	refs := []*string{&g.Item, &g.Asked, &g.Got, &g.Why}
	if len(parts) != len(refs) {
		return badPair(keyGranted, escaped)
	}
	for i, p := range parts {
		s, ok := unescape(p)
		if !ok {
			return badPair(keyGranted, escaped)
		}
		*refs[i] = s
	}
	a.Granted = append(a.Granted, g)
	return nil
}

// unescape takes %XX back; false if that is broken.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		out = append(out, byte(v))
		i += 2
	}
	return string(out), true
}

// extraKey says whether key may stand in Extra.
func extraKey(key string) bool {
	switch key {
	case "", keyKind, keyLast, keyLateness, keyGranted:
		return false
	}
	for i := range len(key) {
		if b := key[i]; b != '_' && (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			return false
		}
	}
	_, known := fieldOf(key)
	return !known
}
