package importer

import (
	"bufio"
	"encoding/binary"
	"io"

	"serialtiming/results"
)

// A PcapngWriter writes events as RTAC serial packets (LINKTYPE_RTAC_SERIAL,
// 250), which Wireshark shows with their bytes and line errors. Stamps have
// nanoseconds; the record's own header repeats them in microseconds.
//
// A character with a line error becomes a packet with its bytes, and one
// without bytes for each error behind it: the same as Open reads.
type PcapngWriter struct {
	w     *bufio.Writer
	block []byte
	err   error
	begun bool
	Epoch int64 // ns from 1970 that At 0 stands for; set it before the first Write
	Out   bool  // the events are what was sent
}

// NewPcapngWriter writes to w; errors come with the next call, at the latest
// with Close, which does not close w.
func NewPcapngWriter(w io.Writer) *PcapngWriter {
	return &PcapngWriter{w: bufio.NewWriterSize(w, 64<<10)}
}

// Write adds an event: its instant in ns, its bytes, its line errors.
func (p *PcapngWriter) Write(at int64, data []byte, flags results.Flags) error {
	p.begin()
	start := byte(rtacRxStart)
	if p.Out {
		start = rtacTxStart
	}
	p.packet(p.Epoch+at, start, data)
	for _, e := range [...]struct {
		flag  results.Flags
		event byte
	}{{results.Framing, rtacFraming}, {results.Parity, rtacParity}, {results.Break, rtacBreak}, {results.Overrun, rtacOverflow}} {
		if flags&e.flag != 0 {
			p.packet(p.Epoch+at, e.event, nil)
		}
	}
	return p.err
}

// Close writes what is buffered; a file without events is one, too.
func (p *PcapngWriter) Close() error {
	p.begin()
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// begin writes the section and the one interface.
func (p *PcapngWriter) begin() {
	if p.begun {
		return
	}
	p.begun = true
	le := binary.LittleEndian
	b := le.AppendUint32(nil, ngMagic)
	b = le.AppendUint16(b, 1) // version 1.0
	b = le.AppendUint16(b, 0)
	b = le.AppendUint64(b, 1<<64-1) // length of the section: not said
	p.put(ngSection, b)
	b = le.AppendUint16(nil, linkRTAC)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, 0)             // no limit of length
	b = append(b, 9, 0, 1, 0, 9, 0, 0, 0) // if_tsresol: 10^-9
	b = append(b, 0, 0, 0, 0)             // end of options
	p.put(ngInterface, b)
}

// packet writes an enhanced packet block.
func (p *PcapngWriter) packet(ns int64, event byte, data []byte) {
	ns = max(ns, 0) // stamps before 1970 do not exist in pcapng
	le, n := binary.LittleEndian, rtacHeader+len(data)
	b := le.AppendUint32(p.block[:0], 0) // interface
	b = le.AppendUint32(b, uint32(uint64(ns)>>32))
	b = le.AppendUint32(b, uint32(uint64(ns)))
	b = le.AppendUint32(b, uint32(n))
	b = le.AppendUint32(b, uint32(n))
	b = binary.BigEndian.AppendUint32(b, uint32(ns/second))
	b = binary.BigEndian.AppendUint32(b, uint32(ns%second/1000))
	b = append(b, event, 0, 0, 0) // event, modem lines: not known, footer
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	p.block = b
	p.put(ngPacket, b)
}

// put writes a block: type, length, body, length.
func (p *PcapngWriter) put(kind uint32, body []byte) {
	if p.err != nil {
		return
	}
	n := uint32(len(body) + 12)
	var h [8]byte
	binary.LittleEndian.PutUint32(h[:], kind)
	binary.LittleEndian.PutUint32(h[4:], n)
	p.w.Write(h[:])
	p.w.Write(body)
	_, p.err = p.w.Write(h[4:])
}
