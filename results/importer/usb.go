package importer

import (
	"encoding/binary"
	"fmt"

	"serialtiming/results"
)

// usbDevice is a device on a bus.
type usbDevice struct{ bus, device uint16 }

// usbState is what is known of a device.
type usbState struct {
	ftdi    bool
	settled bool // by its vendor number
	in      int  // bulk IN transfers seen in the head
	status  int  // of them such as begin with FTDI's two status bytes
	idle    int  // of them such as are nothing else
}

// urb is a USB transfer as usbmon or USBPcap captured it.
type urb struct {
	usbDevice
	endpoint byte
	bulk     bool
	control  bool
	incoming bool
	done     bool // completed; else submitted
	data     []byte
}

// parseURB reads the header: 48 or 64 bytes of usbmon in the byte order of the
// host, or USBPcap's, little-endian.
func parseURB(p *packet) (u urb, ok bool) {
	b := p.data
	if p.link == linkUSBPcap {
		return parseUSBPcap(b)
	}
	header := 48
	if p.link == linkUSBMmap {
		header = 64
	}
	if len(b) < header {
		return u, false
	}
	u.bus, u.device = p.order.Uint16(b[12:]), uint16(b[11])
	u.endpoint = b[10]
	u.incoming = b[10]&0x80 != 0
	u.control, u.bulk = b[9] == 2, b[9] == 3
	u.done = b[8] == 'C'
	u.data = b[header:]
	if n := p.order.Uint32(b[36:]); int(n) < len(u.data) {
		u.data = u.data[:n]
	}
	return u, b[8] == 'C' || b[8] == 'S' || b[8] == 'E'
}

func parseUSBPcap(b []byte) (u urb, ok bool) {
	if len(b) < 27 {
		return u, false
	}
	header := int(binary.LittleEndian.Uint16(b))
	if header < 27 || header > len(b) {
		return u, false
	}
	u.bus, u.device = binary.LittleEndian.Uint16(b[17:]), binary.LittleEndian.Uint16(b[19:])
	u.endpoint = b[21]
	u.incoming = b[21]&0x80 != 0
	u.control, u.bulk = b[22] == 2, b[22] == 3
	u.done = b[16]&1 != 0
	u.data = b[header:]
	if n := binary.LittleEndian.Uint32(b[23:]); int(n) < len(u.data) {
		u.data = u.data[:n]
	}
	return u, true
}

// look learns from a packet of the head which devices are FTDI's: by vendor
// number, or because every transfer in begins with its two status bytes and
// some are nothing but these, as its latency timer sends them.
func (c *capture) look(p *packet) {
	if p.link != linkUSBLinux && p.link != linkUSBMmap && p.link != linkUSBPcap {
		return
	}
	u, ok := parseURB(p)
	if !ok {
		return
	}
	s := c.state(u.usbDevice)
	s.learnVendor(u)
	if u.bulk && u.incoming && u.done && len(u.data) > 0 && !s.settled {
		s.in++
		if hasStatus(u.data) {
			s.status++
		}
		if len(u.data) == 2 && u.data[1]&0x60 == 0x60 {
			s.idle++
		}
		s.ftdi = s.in == s.status && s.idle > 0
	}
}

const vendorFTDI = 0x0403

// learnVendor reads a device descriptor.
func (s *usbState) learnVendor(u urb) {
	if u.control && u.done && len(u.data) >= 12 && u.data[0] == 18 && u.data[1] == 1 {
		s.ftdi = binary.LittleEndian.Uint16(u.data[8:]) == vendorFTDI
		s.settled = true
	}
}

// hasStatus says whether a packet begins as FTDI's do: modem lines in the high
// nibble above a fixed 1, then the line status. A ringing line is left out: with
// it the bytes would be the letters A, Q, a and q.
func hasStatus(b []byte) bool {
	return len(b) >= 2 && b[0]&0x4f == 1 && b[1]&0x80 == 0
}

func (c *capture) state(d usbDevice) *usbState {
	s := c.usb[d]
	if s == nil {
		s = &usbState{}
		if len(c.usb) < maxUSBDevices {
			c.usb[d] = s
		}
	}
	return s
}

// usbPacket takes what came in when the transfer completed, and what went out
// when it was submitted: each transfer is in the capture twice.
func (c *capture) usbPacket(rec *record) bool {
	u, ok := parseURB(&c.p)
	if !ok {
		c.in.sink.bad("no USB transfer of usbmon or USBPcap")
		return false
	}
	if u.control {
		c.state(u.usbDevice).learnVendor(u)
	}
	if !u.bulk || u.incoming != u.done || len(u.data) == 0 {
		return false
	}
	rec.data = u.data
	status := u.incoming && c.state(u.usbDevice).ftdi
	if status {
		c.in.sink.warn("an FTDI adapter: its two status bytes are taken off, its stamps step by its latency timer")
		rec.data = c.stripStatus(u.data, rec)
	}
	rec.ch = c.channel(streamKey{bus: u.bus, device: u.device, a: uint16(u.endpoint), outgoing: !u.incoming},
		func() (string, []string) {
			dir := "tx"
			if u.incoming {
				dir = "rx"
			}
			name := fmt.Sprintf("usb %d:%d:%#02x %s", u.bus, u.device, u.endpoint, dir)
			return name, []string{dir, fmt.Sprintf("%#02x", u.endpoint), fmt.Sprintf("usb %d:%d %s", u.bus, u.device, dir)}
		})
	if status {
		rec.ch.marks = allErrors
	}
	return len(rec.data) > 0 || rec.flags != 0
}

// stripStatus takes the status off each USB packet of a transfer: every 64
// bytes on a full speed device, every 512 on a high speed one.
func (c *capture) stripStatus(b []byte, rec *record) []byte {
	size := 64
	for i := 64; i < len(b); i += 64 {
		if !hasStatus(b[i:]) {
			size = 512
			break
		}
	}
	c.buf = c.buf[:0]
	for len(b) > 0 {
		p := b[:min(size, len(b))]
		b = b[len(p):]
		if len(p) < 2 {
			break
		}
		rec.flags |= ftdiErrors(p[1])
		c.buf = append(c.buf, p[2:]...)
	}
	return c.buf
}

// ftdiErrors reads the line status of a 16550, as FTDI sends it.
func ftdiErrors(status byte) results.Flags {
	var f results.Flags
	for i, flag := range [...]results.Flags{results.Overrun, results.Parity, results.Framing, results.Break} {
		if status&(2<<i) != 0 {
			f |= flag
		}
	}
	return f
}
