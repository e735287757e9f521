package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

// A frame is
//
//	SOH "~ST" version ";" body "*" crc EOT
//
// all of it printable 7-bit text between the delimiters. The crc is CRC-32 as
// in IEEE 802.3 (polynomial 0xEDB88320 reflected, hash/crc32.IEEE) over what
// lies between SOH and "*", in eight lower-case hex digits. This envelope is
// the same for every version; only the body may change.
//
// In the cycle '~' is followed by ' ', never by 'S': behind an SOH that is
// noise, the scanner knows after two characters that no frame begins.
const (
	SOH = 0x01 // begins a frame
	EOT = 0x04 // ends a frame

	// Version is the version of the wire that this package speaks.
	Version = 1

	// MaxFrame is the length of the longest frame in bytes, delimiters
	// included: about a second at 9600 baud.
	MaxFrame = 1024

	head      = "~ST"
	crcDigits = 8
)

// Errors of frames and announcements.
var (
	ErrFrameTooLong = fmt.Errorf("the announcement is longer than %d bytes", MaxFrame)
	ErrDamaged      = errors.New("the announcement arrived damaged")
)

// VersionError says that a whole frame came from a sender that speaks a newer
// version than this package.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the announcement has version %d, this program reads up to %d", e.Version, Version)
}

// IsDelimiter says whether b begins or ends a frame, and so cannot be a
// payload character.
func IsDelimiter(b byte) bool { return b == SOH || b == EOT }

// FrameGap is the silence that ends a frame which has not ended itself:
// 200 ms, or four character times on a very slow line. It is long enough that
// a receiver which is held up for a moment does not tear a good frame, and
// shorter than Quiet, so that a frame that lost its end does not swallow what
// follows it.
func FrameGap(charTime time.Duration) time.Duration {
	return max(200*time.Millisecond, 4*charTime)
}

// Quiet is the silence that the sender leaves before and after a frame:
// 300 ms, or eight character times on a very slow line.
func Quiet(charTime time.Duration) time.Duration {
	return max(300*time.Millisecond, 8*charTime)
}

// appendFrame appends the frame of version v around the body to dst.
func appendFrame(dst []byte, v int, body []byte) ([]byte, error) {
	start := len(dst)
	out := append(dst, SOH)
	out = append(out, head...)
	out = strconv.AppendInt(out, int64(v), 10)
	out = append(out, ';')
	out = append(out, body...)
	sum := crc32.ChecksumIEEE(out[start+1:])
	out = fmt.Appendf(out, "*%0*x", crcDigits, sum)
	out = append(out, EOT)
	if len(out)-start > MaxFrame {
		return dst, ErrFrameTooLong
	}
	return out, nil
}

// openFrame gives the version and the body of a whole frame, delimiters
// included, or ErrDamaged.
func openFrame(frame []byte) (v int, body []byte, err error) {
	n := len(frame)
	if n > MaxFrame || n < len(head)+crcDigits+5 || frame[0] != SOH || frame[n-1] != EOT {
		return 0, nil, ErrDamaged
	}
	text, sum := frame[1:n-2-crcDigits], frame[n-1-crcDigits:n-1]
	if frame[n-2-crcDigits] != '*' || !printable(text) ||
		string(sum) != fmt.Sprintf("%0*x", crcDigits, crc32.ChecksumIEEE(text)) {
		return 0, nil, ErrDamaged
	}
	rest, ok := bytes.CutPrefix(text, []byte(head))
	number, body, found := bytes.Cut(rest, []byte(";"))
	if !ok || !found {
		return 0, nil, ErrDamaged
	}
	v, err = strconv.Atoi(string(number))
	if err != nil || v < 1 {
		return 0, nil, ErrDamaged
	}
	return v, body, nil
}

func printable(text []byte) bool {
	for _, b := range text {
		if !Printable.Contains(b) {
			return false
		}
	}
	return true
}
