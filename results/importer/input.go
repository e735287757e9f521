package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"serialtiming/results"
)

const (
	bufferSize = 256 << 10 // one line or one packet is never longer
	headSize   = 64 << 10  // what the formats see to tell themselves apart
	pipeMemory = 32 << 20  // what a pipe may hold when a log must be read twice
)

// input is a file as an importer meets it: decompressed, text as UTF-8 without
// a byte order mark, its head looked at beforehand.
type input struct {
	name string
	raw  io.Reader
	zero int64 // where raw stood, -1 when it cannot go back
	br   *bufio.Reader
	head head
	opt  Options
	sink *sink
	ch   *channels
	// Line errors that the file would mark where they are, in all channels.
	marks results.Flags
}

func newInput(r io.Reader, name string, opt Options) (*input, error) {
	in := &input{name: name, raw: r, zero: -1, opt: opt, sink: &sink{name: name}, ch: newChannels(opt.Channel)}
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			in.zero = at
		}
	}
	if err := in.decode(); err != nil {
		return nil, err
	}
	b, err := in.br.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in.head = newHead(b, err == io.EOF)
	return in, nil
}

// decode lays decompression and text decoding over raw.
func (in *input) decode() error {
	br, err := Decompress(in.raw, in.sink.warn)
	if err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	in.br = decodeText(br)
	return nil
}

// Decompress takes gzip or zstd off a file, told by its content; others pass
// as they are. A compressed file that was cut ends at the cut, and warn is
// told. A file that was compressed twice is not worth a loop.
func Decompress(r io.Reader, warn func(format string, a ...any)) (*bufio.Reader, error) {
	br := bufio.NewReaderSize(r, bufferSize)
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		br = bufio.NewReaderSize(&tornReader{r: z, warn: warn}, bufferSize)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		br = bufio.NewReaderSize(&tornReader{r: z, warn: warn}, bufferSize)
	}
	return br, nil
}

// tornReader turns the end of a compressed file that was cut into an ordinary
// end with a warning: what came before it is good.
type tornReader struct {
	r    io.Reader
	warn func(format string, a ...any)
	told bool
}

func (t *tornReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && err != io.EOF {
		if !t.told {
			t.told = true
			t.warn("the compressed file is torn: %v", err)
		}
		err = io.EOF
	}
	return n, err
}

// decodeText takes off a UTF-8 mark and turns UTF-16 into UTF-8. UTF-16
// without a mark is told by a NUL in every second place of its first letters.
func decodeText(br *bufio.Reader) *bufio.Reader {
	b, _ := br.Peek(8)
	var order unicode.Endianness
	switch {
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		br.Discard(3)
		return br
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}), nulAt(b, 1):
		order = unicode.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}), nulAt(b, 0):
		order = unicode.BigEndian
	default:
		return br
	}
	t := unicode.UTF16(order, unicode.UseBOM).NewDecoder()
	return bufio.NewReaderSize(transform.NewReader(br, t), bufferSize)
}

func nulAt(b []byte, k int) bool {
	if len(b) < 8 {
		return false
	}
	for i := range 8 {
		if (b[i] == 0) != (i%2 == k) {
			return false
		}
	}
	return true
}

var errPipeTooLong = errors.New("longer than 32 MiB on a pipe: this format must be read twice, give the file by its name")

// rewindable keeps a pipe in memory so that rewind works; files need nothing.
func (in *input) rewindable() error {
	if in.zero >= 0 {
		return nil
	}
	size := pipeMemory + 1 // what is not read into takes no memory
	if in.head.whole {
		size = headSize
	}
	kept := make([]byte, size)
	n, err := io.ReadFull(in.br, kept)
	if err == nil {
		return fmt.Errorf("%s: %w", in.name, errPipeTooLong)
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	in.raw, in.zero = bytes.NewReader(kept[:n]), 0
	return in.decode()
}

func (in *input) rewind() error {
	if _, err := in.raw.(io.Seeker).Seek(in.zero, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return in.decode()
}

// head is the beginning of a file as the formats see it.
type head struct {
	raw   []byte   // valid until the first read
	lines []string // at most 400, without line ends; the last may be cut
	text  bool
	whole bool // the head is the whole file
	torn  bool // the last line has no end
}

const headLines = 400

func newHead(b []byte, whole bool) head {
	h := head{raw: b, whole: whole, text: true}
	probe := b[:min(len(b), 4096)]
	// Terminal logs may hold some NULs; a file full of them is no text.
	if bytes.Count(probe, []byte{0}) > len(probe)/16 {
		h.text = false
		return h
	}
	for len(b) > 0 && len(h.lines) < headLines {
		line, rest, found := bytes.Cut(b, []byte{'\n'})
		h.torn = !found
		if !found && !whole && len(h.lines) > 0 {
			break
		}
		h.lines = append(h.lines, string(bytes.TrimSuffix(line, []byte{'\r'})))
		b = rest
	}
	return h
}

// first is the first line that is not blank, "" when there is none.
func (h head) first() string {
	for _, l := range h.lines {
		if len(l) > 0 {
			return l
		}
	}
	return ""
}

// full gives the lines without a torn last one, which would mislead a guess.
func (h head) full() []string {
	if h.torn && len(h.lines) > 1 {
		return h.lines[:len(h.lines)-1]
	}
	return h.lines
}

// rows gives the full lines below the first that is not blank.
func (h head) rows() []string {
	lines := h.full()
	for i, l := range lines {
		if len(l) > 0 {
			return lines[i+1:]
		}
	}
	return nil
}

// count says how many of the lines that are not blank have a property.
func (h head) count(has func(line []byte) bool) (yes, of int) {
	for _, l := range h.lines {
		if len(l) == 0 {
			continue
		}
		of++
		if has([]byte(l)) {
			yes++
		}
	}
	return yes, of
}
