package importer

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// radix is how a column writes byte values. A cell that begins with 0x is
// hexadecimal in each of them.
type radix uint8

const (
	radixText radix = iota // A, [0D], \t, \x0d, '225', ' '
	radixHex               // 41
	radixDec               // 65, -1
	radixOct               // 101
	radixBin               // 01000001
)

// guessRadix tells the radix of a column from some of its cells. Where two
// fit, the one that tools write by default is taken: 41 is hexadecimal when
// all cells have two digits, 170 is decimal unless a cell is padded with zeros.
func guessRadix(cells []string) radix {
	hex, dec, oct, bin, padded, n := 0, 0, 0, 0, 0, 0
	for _, c := range cells {
		if c == "" || strings.HasPrefix(c, "0x") {
			continue
		}
		n++
		only := func(digits string) bool { return strings.Trim(c, digits) == "" }
		if len(c) == 2 && only("0123456789abcdefABCDEF") {
			hex++
		}
		if only("0123456789") || len(c) > 1 && c[0] == '-' && strings.Trim(c[1:], "0123456789") == "" {
			dec++
		}
		if len(c) == 3 && only("01234567") {
			oct++
			if c[0] == '0' {
				padded++
			}
		}
		if len(c) == 8 && only("01") {
			bin++
		}
	}
	switch n {
	case 0:
		return radixText
	case hex:
		return radixHex
	case bin:
		return radixBin
	case oct:
		if padded > 0 {
			return radixOct
		}
		return radixDec
	case dec:
		return radixDec
	}
	return radixText
}

// decode gives the byte that a cell stands for. Of values beyond a byte (nine
// data bits) it gives the low one.
func (r radix) decode(cell []byte) (byte, bool) {
	if len(cell) > 2 && cell[0] == '0' && cell[1]|0x20 == 'x' {
		return digits(cell[2:], 16)
	}
	switch r {
	case radixHex:
		return digits(cell, 16)
	case radixDec:
		if len(cell) > 1 && cell[0] == '-' {
			v, ok := digits(cell[1:], 10)
			return -v, ok
		}
		return digits(cell, 10)
	case radixOct:
		return digits(cell, 8)
	case radixBin:
		return digits(cell, 2)
	}
	return decodeText1(cell)
}

// digits reads a whole cell in a base.
func digits(b []byte, base uint32) (byte, bool) {
	if len(b) == 0 || len(b) > 32 {
		return 0, false
	}
	var v uint32
	for _, c := range b {
		d := uint32(hexDigit(c))
		if d >= base {
			return 0, false
		}
		v = v*base + d
	}
	return byte(v), true
}

// hexDigit gives 255 for what is none.
func hexDigit(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

var escapes = map[byte]byte{'0': 0, 'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27,
	'\\': '\\', '\'': '\'', '"': '"'}

// decodeText1 reads one character as the tools show it.
func decodeText1(b []byte) (byte, bool) {
	switch {
	case len(b) == 1:
		return b[0], true
	case len(b) == 0:
		return 0, false
	case b[0] == '\\':
		return unescape(b[1:])
	case b[0] == '[' && b[len(b)-1] == ']': // sigrok, DSView: [0D]
		return digits(b[1:len(b)-1], 16)
	case len(b) > 2 && b[0] == '\'' && b[len(b)-1] == '\'': // Logic 1: '225', ' '
		if len(b) == 3 && b[1]-'0' > 9 {
			return b[1], true
		}
		return digits(b[1:len(b)-1], 10)
	case string(b) == "COMMA":
		return ',', true
	case string(b) == `""`: // a quote mark in a quoted cell
		return '"', true
	}
	if c, n := utf8.DecodeRune(b); n == len(b) && c != utf8.RuneError && c < 256 {
		return byte(c), true
	}
	return 0, false
}

// unescape reads what follows a backslash.
func unescape(b []byte) (byte, bool) {
	if len(b) == 1 {
		c, ok := escapes[b[0]]
		return c, ok
	}
	if len(b) > 1 && b[0] == 'x' {
		return digits(b[1:], 16)
	}
	return digits(b, 8)
}

// parseHexRow appends the bytes of ` 41 42 43` to dst. It ends at what is no
// pair of hex digits behind at most one space: two begin the text column.
func parseHexRow(dst, b []byte) []byte {
	for {
		if len(b) > 0 && b[0] == ' ' {
			b = b[1:]
		}
		if len(b) < 2 || len(b) > 2 && b[2] != ' ' && b[2] != '\t' {
			return dst
		}
		hi, lo := hexDigit(b[0]), hexDigit(b[1])
		if hi > 15 || lo > 15 {
			return dst
		}
		dst = append(dst, hi<<4|lo)
		b = b[2:]
	}
}

// allOf says whether every byte of b is in the set.
func allOf(b []byte, set string) bool {
	return len(b) > 0 && len(bytes.Trim(b, set)) == 0
}
