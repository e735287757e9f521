package importer

import "bytes"

// stampKind is how a stamp counts.
type stampKind uint8

const (
	noStamp   stampKind = iota
	dateTime            // from 1970 as the stamp's own clock shows it, zone taken off if given
	timeOfDay           // from midnight: wraps
	seconds             // a plain number with a fraction: epoch, elapsed or delta
	dayClock            // D HH:MM:SS, elapsed
)

// stamp is one stamp of text.
type stamp struct {
	ns, step int64
	kind     stampKind
	decimals int
}

const (
	minuteNs = 60 * second
	hourNs   = 60 * minuteNs
	dayNs    = 24 * hourNs
)

// parseStamp reads the stamp at the start of b in any of the shapes that
// terminal programs write, and says how many bytes it took, 0 for none. A
// plain number must have a fraction: without one it could be anything.
func parseStamp(b []byte) (stamp, int) {
	if len(b) < 3 {
		return stamp{}, 0
	}
	if b[0] >= 'A' && b[0] <= 'Z' {
		return parseMonthName(b)
	}
	if days, n := parseDate(b); n > 0 {
		if n == len(b) || b[n] != ' ' && b[n] != 'T' {
			return stamp{}, 0
		}
		return withDate(days, b, n+1)
	}
	if s, n := parseClock(b); n > 0 {
		return s, n
	}
	return parseNumberStamp(b)
}

// withDate adds the clock at b[n:] and a zone to a date.
func withDate(days int64, b []byte, n int) (stamp, int) {
	s, m := parseClock(b[n:])
	if m == 0 {
		return stamp{}, 0
	}
	zone, z := parseZone(b[n+m:])
	s.ns += days*dayNs - zone
	s.kind = dateTime
	return s, n + m + z
}

// parseNumberStamp reads `12.345678` and `3 01:02:03.004`.
func parseNumberStamp(b []byte) (stamp, int) {
	d, n := parseDecimal(b, '.')
	if n == 0 {
		return stamp{}, 0
	}
	if d.exp == 0 && n < len(b) && b[n] == ' ' && d.mant < 100000 {
		if s, m := parseClock(b[n+1:]); m > 0 {
			s.ns += int64(d.mant) * dayNs
			s.kind = dayClock
			return s, n + 1 + m
		}
	}
	ns, ok := d.ns(unitS)
	if d.exp >= 0 || !ok {
		return stamp{}, 0
	}
	return stamp{ns: ns, step: d.step(unitS), kind: seconds, decimals: -d.exp}, n
}

// parseClock reads H:M:S with an optional fraction behind a point or comma.
// Hours and minutes may have one digit (Arduino IDE 2.0 rc).
func parseClock(b []byte) (stamp, int) {
	var part [3]int64
	i := 0
	for k := range part {
		start := i
		for i < len(b) && i-start < 2 && b[i]-'0' <= 9 {
			part[k] = part[k]*10 + int64(b[i]-'0')
			i++
		}
		if i == start {
			return stamp{}, 0
		}
		if k < 2 {
			if i == len(b) || b[i] != ':' {
				return stamp{}, 0
			}
			i++
		}
	}
	if part[1] > 59 || part[2] > 60 {
		return stamp{}, 0
	}
	frac, n := parseFraction(b[i:])
	s := stamp{ns: part[0]*hourNs + part[1]*minuteNs + part[2]*second + frac,
		step: second, kind: timeOfDay}
	if n > 0 {
		s.decimals = n - 1
		s.step = int64(pow10[max(0, 9-s.decimals)])
	}
	return s, i + n
}

// parseFraction reads `.123` or `,123` in nanoseconds. Digits behind the
// ninth are cut.
func parseFraction(b []byte) (int64, int) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0, 0
	}
	ns, place := int64(0), second/10
	i := 1
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		ns += int64(b[i]-'0') * place
		place /= 10
	}
	return ns, i
}

// parseDate reads YYYY-MM-DD or YYYY/MM/DD in days from 1970.
func parseDate(b []byte) (int64, int) {
	if len(b) < 10 || b[4] != '-' && b[4] != '/' || b[7] != b[4] {
		return 0, 0
	}
	year, ok1 := parseUint(b[:4])
	month, ok2 := parseUint(b[5:7])
	day, ok3 := parseUint(b[8:10])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > 31 || year < 1700 || year > 2250 {
		return 0, 0 // int64 nanoseconds reach from 1677 to 2262
	}
	return daysFrom1970(year, month, day), 10
}

// daysFrom1970 counts the days of the Gregorian calendar; a year begins in
// March for it, so that the leap day is its last.
func daysFrom1970(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

// parseZone reads Z, ±HH:MM or ±HHMM.
func parseZone(b []byte) (int64, int) {
	if len(b) == 0 {
		return 0, 0
	}
	if b[0] == 'Z' {
		return 0, 1
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 5 {
		return 0, 0
	}
	m := 3
	if b[3] == ':' {
		m = 4
	}
	if len(b) < m+2 {
		return 0, 0
	}
	hours, ok1 := parseUint(b[1:3])
	minutes, ok2 := parseUint(b[m : m+2])
	if !ok1 || !ok2 {
		return 0, 0
	}
	ns := hours*hourNs + minutes*minuteNs
	if b[0] == '-' {
		ns = -ns
	}
	return ns, m + 2
}

var monthNames = []byte("JanFebMarAprMayJunJulAugSepOctNovDec")

// parseMonthName reads `Nov 30 11:55:48`, the default of ts. It has no year:
// 2000 stands for it, so that the turn of a year is a step back.
func parseMonthName(b []byte) (stamp, int) {
	if len(b) < 15 || b[3] != ' ' {
		return stamp{}, 0
	}
	month := bytes.Index(monthNames, b[:3])
	if month < 0 || month%3 != 0 {
		return stamp{}, 0
	}
	day, ok := parseUint(bytes.TrimLeft(b[4:6], " "))
	if !ok || day < 1 || day > 31 || b[6] != ' ' {
		return stamp{}, 0
	}
	return withDate(daysFrom1970(2000, int64(month/3+1), day), b, 7)
}

// unwrapper puts a clock right that starts again at zero.
type unwrapper struct {
	period int64 // of the clock, ns
	base   int64
	before int64
	seen   bool
	sink   *sink
}

// put gives ns on a clock that does not wrap: a step back by more than half a
// period is a wrap, a smaller one stays a step back.
func (u *unwrapper) put(ns int64) int64 {
	if u.seen && u.before-ns > u.period/2 {
		u.base += u.period
		u.sink.wrap()
	} else if u.seen && ns-u.before > u.period/2 && u.base > 0 {
		u.base -= u.period // a late stamp from before the wrap
	}
	u.before, u.seen = ns, true
	return u.base + ns
}
