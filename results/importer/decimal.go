package importer

import "math"

// decimal is a number as it was written: ±mant·10^exp.
type decimal struct {
	mant   uint64
	exp    int
	neg    bool
	digits int // significant ones, leading zeros not counted
}

var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

const mantLimit = math.MaxUint64/10 - 1 // one more digit fits below

// The powers of ten of a nanosecond that units stand for.
const (
	unitNs = 0
	unitUs = 3
	unitMs = 6
	unitS  = 9
)

// parseDecimal reads the number at the start of b and says how many bytes it
// took, 0 for none. It takes a sign, digits, the given decimal point, and an
// exponent (2.375e-05). Digits beyond the nineteenth are cut, which moves the
// value by less than a part in 10^18.
func parseDecimal(b []byte, point byte) (d decimal, n int) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.neg = b[i] == '-'
		i++
	}
	start := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		d.push(b[i]-'0', 0)
	}
	seen := i - start
	if i < len(b) && b[i] == point && i+1 < len(b) && b[i+1]-'0' <= 9 {
		i++
		for start = i; i < len(b) && b[i]-'0' <= 9; i++ {
			d.push(b[i]-'0', 1)
		}
		seen += i - start
	}
	if seen == 0 {
		return decimal{}, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i += d.exponent(b[i:])
	}
	return d, i
}

// push appends a digit; fraction is 1 behind the point, else 0.
func (d *decimal) push(digit byte, fraction int) {
	if d.mant > mantLimit {
		d.exp += 1 - fraction
		return
	}
	d.mant = d.mant*10 + uint64(digit)
	d.exp -= fraction
	if d.mant != 0 {
		d.digits++
	}
}

// exponent reads e±NN and says how many bytes it took, 0 when it is none.
func (d *decimal) exponent(b []byte) int {
	i, neg := 1, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	start, e := i, 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if e < 10000 {
			e = e*10 + int(b[i]-'0')
		}
	}
	if i == start {
		return 0
	}
	if neg {
		e = -e
	}
	d.exp += e
	return i
}

// ns gives the number in nanoseconds, rounded half up, where the number counts
// units of 10^unit ns. It is false when int64 cannot hold it.
func (d decimal) ns(unit int) (int64, bool) {
	m, e := d.mant, d.exp+unit
	switch {
	case m == 0:
		return 0, true
	case e >= len(pow10), e > 0 && m > math.MaxInt64/pow10[e]:
		return 0, false
	case e > 0:
		m *= pow10[e]
	case e <= -len(pow10):
		return 0, true
	case e < 0:
		p := pow10[-e]
		q, r := m/p, m%p
		// Half up in value, so that equal distances stay equal on both sides
		// of zero: a negative number rounds its half towards zero.
		if r > p-r || r == p-r && !d.neg {
			q++
		}
		m = q
	}
	if m > math.MaxInt64 {
		return 0, false
	}
	if d.neg {
		return -int64(m), true
	}
	return int64(m), true
}

// step is the place value in nanoseconds of the last digit as it was written,
// at least 1.
func (d decimal) step(unit int) int64 {
	e := d.exp + unit
	switch {
	case e <= 0:
		return 1
	case e > 18:
		return math.MaxInt64
	}
	return int64(pow10[e])
}

// parseUint reads digits only, all of b.
func parseUint(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}
