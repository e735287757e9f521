package importer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// The containers of packets are read here and not through a library: usbmon
// headers are in the byte order of the file's section, which
// gopacket/pcapgo does not tell; it stops at the first damaged block; and its
// package pulls in live capture.

// packet is one captured packet, data valid until the next one.
type packet struct {
	link  uint32
	iface int // number of the interface in its section
	ns    int64
	step  int64
	data  []byte
	order binary.ByteOrder // of the file, which is that of its host
}

// packetReader gives packets; io.EOF behind the last one.
type packetReader interface {
	packet(*packet) error
}

const (
	pcapMicro = 0xa1b2c3d4
	pcapNano  = 0xa1b23c4d
	ngMagic   = 0x1a2b3c4d

	ngSection   = 0x0a0d0d0a
	ngInterface = 1
	ngOldPacket = 2
	ngSimple    = 3
	ngPacket    = 6
)

func detectPcap(h head) string {
	if len(h.raw) < 24 {
		return "shorter than its header"
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if m := order.Uint32(h.raw); m == pcapMicro || m == pcapNano {
			return ""
		}
	}
	return "its first four bytes are no magic number of pcap"
}

func detectPcapng(h head) string {
	if len(h.raw) < 12 || binary.LittleEndian.Uint32(h.raw) != ngSection {
		return "its first four bytes are not those of a pcapng section"
	}
	return ""
}

// pcapReader reads the classic format.
type pcapReader struct {
	br    *bufio.Reader
	sink  *sink
	order binary.ByteOrder
	frac  int64 // ns of a unit of the fraction
	link  uint32
}

func newPcapReader(br *bufio.Reader, s *sink) (*pcapReader, error) {
	b, err := br.Peek(24)
	if err != nil {
		return nil, &Refusal{Why: "shorter than its header"}
	}
	p := &pcapReader{br: br, sink: s, order: binary.LittleEndian, frac: 1000}
	if m := binary.BigEndian.Uint32(b); m == pcapMicro || m == pcapNano {
		p.order = binary.BigEndian
	}
	switch p.order.Uint32(b) {
	case pcapNano:
		p.frac = 1
	case pcapMicro:
	default:
		return nil, &Refusal{Why: "its first four bytes are no magic number of pcap"}
	}
	p.link = p.order.Uint32(b[20:]) & 0xffff
	br.Discard(24)
	return p, nil
}

func (p *pcapReader) packet(out *packet) error {
	for {
		h, err := p.br.Peek(16)
		if err != nil {
			return endOfPackets(p.sink, h, err)
		}
		sec, frac := int64(p.order.Uint32(h)), int64(p.order.Uint32(h[4:]))
		n := int(p.order.Uint32(h[8:]))
		p.br.Discard(16)
		p.sink.line++
		data, err := takePacket(p.br, p.sink, n)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		*out = packet{link: p.link, ns: sec*second + frac*p.frac, step: p.frac, data: data, order: p.order}
		return nil
	}
}

// takePacket gives n bytes without copying, nil for a packet that is longer
// than the buffer and was skipped.
func takePacket(br *bufio.Reader, s *sink, n int) ([]byte, error) {
	if n < 0 || n > bufferSize {
		s.bad("a packet of %d bytes, longer than 256 KiB", n)
		if n < 0 {
			n = math.MaxInt32
		}
		if _, err := br.Discard(n); err != nil {
			return nil, endOfPackets(s, []byte{0}, err)
		}
		return nil, nil
	}
	data, err := br.Peek(n)
	if err != nil {
		return nil, endOfPackets(s, []byte{0}, err)
	}
	br.Discard(n)
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// endOfPackets turns an end inside a packet into a torn end.
func endOfPackets(s *sink, rest []byte, err error) error {
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if len(rest) > 0 {
		s.report.Torn = true
	}
	return io.EOF
}

// ngReader reads pcapng.
type ngReader struct {
	br     *bufio.Reader
	sink   *sink
	order  binary.ByteOrder
	ifaces []ngIface
}

// ngIface is what an interface block says.
type ngIface struct {
	link   uint32
	rate   uint64 // units of a stamp in a second
	offset int64  // s
}

// packet reads blocks up to the next packet. Blocks of other types (names,
// statistics, secrets) are skipped.
func (g *ngReader) packet(out *packet) error {
	for {
		h, err := g.br.Peek(12)
		if err != nil {
			return endOfPackets(g.sink, h, err)
		}
		if binary.LittleEndian.Uint32(h) == ngSection {
			if g.order = orderOf(h[8:]); g.order == nil {
				g.sink.bad("a section without its byte order mark")
				return io.EOF
			}
			g.ifaces = g.ifaces[:0]
		}
		if g.order == nil {
			return &Refusal{Why: "it does not begin with a section"}
		}
		kind, n := g.order.Uint32(h), int(g.order.Uint32(h[4:]))
		if n < 12 || n%4 != 0 {
			g.sink.bad("a block of %d bytes: nothing behind it can be found", n)
			return io.EOF
		}
		isPacket := kind == ngPacket || kind == ngOldPacket || kind == ngSimple
		if isPacket {
			g.sink.line++
		}
		if kind != ngInterface && !isPacket {
			if _, err := g.br.Discard(n); err != nil {
				return endOfPackets(g.sink, h, err)
			}
			continue
		}
		b, err := takePacket(g.br, g.sink, n)
		if err != nil {
			return err
		}
		if b != nil && g.block(kind, b, out) {
			return nil
		}
	}
}

func orderOf(b []byte) binary.ByteOrder {
	switch {
	case binary.LittleEndian.Uint32(b) == ngMagic:
		return binary.LittleEndian
	case binary.BigEndian.Uint32(b) == ngMagic:
		return binary.BigEndian
	}
	return nil
}

// block takes a whole block; true when it was a packet.
func (g *ngReader) block(kind uint32, b []byte, out *packet) bool {
	if kind == ngInterface {
		if len(b) >= 20 && len(g.ifaces) < maxChannels {
			g.addInterface(b[8 : len(b)-4])
		}
		return false
	}
	if kind == ngSimple {
		g.sink.bad("a simple packet has no time")
		return false
	}
	if len(b) < 32 {
		g.sink.bad("a packet block of %d bytes", len(b))
		return false
	}
	id := int(g.order.Uint32(b[8:]))
	if kind == ngOldPacket {
		id = int(g.order.Uint16(b[8:]))
	}
	size := int(g.order.Uint32(b[20:]))
	if id < 0 || id >= len(g.ifaces) || size < 0 || size > len(b)-32 {
		g.sink.bad("a packet of interface %d with %d bytes in a block of %d", id, size, len(b))
		return false
	}
	ticks := uint64(g.order.Uint32(b[12:]))<<32 | uint64(g.order.Uint32(b[16:]))
	f := &g.ifaces[id]
	ns, ok := f.ns(ticks)
	if !ok {
		g.sink.bad("a stamp of %d units is beyond the year 2262", ticks)
		return false
	}
	*out = packet{link: f.link, iface: id, ns: ns, step: f.step(), data: b[28 : 28+size], order: g.order}
	return true
}

// addInterface reads link type, if_tsresol (option 9) and if_tsoffset (14).
func (g *ngReader) addInterface(b []byte) {
	f := ngIface{link: uint32(g.order.Uint16(b)), rate: 1e6}
	for b = b[8:]; len(b) >= 4; {
		code, n := g.order.Uint16(b), int(g.order.Uint16(b[2:]))
		if code == 0 || n > len(b)-4 {
			break
		}
		v := b[4 : 4+n]
		switch {
		case code == 9 && n >= 1 && v[0]&0x80 != 0 && v[0]&0x7f < 64:
			f.rate = 1 << (v[0] & 0x7f)
		case code == 9 && n >= 1 && int(v[0]) < len(pow10):
			f.rate = pow10[v[0]]
		case code == 14 && n >= 8:
			f.offset = int64(g.order.Uint64(v))
		}
		b = b[min(4+(n+3)&^3, len(b)):]
	}
	g.ifaces = append(g.ifaces, f)
}

func (f *ngIface) ns(ticks uint64) (int64, bool) {
	if f.rate == 1e6 && f.offset == 0 { // the common case
		return int64(ticks * 1000), ticks < math.MaxInt64/1000
	}
	hi, lo := bits.Mul64(ticks, 1e9)
	if hi >= f.rate {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, f.rate)
	if q > math.MaxInt64 || f.offset > math.MaxInt64/second/2 || f.offset < -math.MaxInt64/second/2 {
		return 0, false
	}
	ns := int64(q) + f.offset*second
	return ns, f.offset <= 0 || ns >= int64(q)
}

func (f *ngIface) step() int64 {
	return max(1, int64(1e9/f.rate))
}

// sniff gives the packets of the head, for what must be known beforehand.
func sniff(in *input, open func(*bufio.Reader, *sink) (packetReader, error), each func(*packet)) {
	pr, err := open(bufio.NewReaderSize(bytes.NewReader(in.head.raw), bufferSize), &sink{mute: true})
	if err != nil {
		return
	}
	var p packet
	for pr.packet(&p) == nil {
		each(&p)
	}
}
