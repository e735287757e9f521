package importer

import (
	"bufio"
	"encoding/binary"
	"fmt"

	"serialtiming/results"
)

// capture finds the serial data in captured packets: USB bulk transfers, RTAC
// serial records, payloads of UDP datagrams.
type capture struct {
	in      *input
	packets packetReader
	p       packet
	usb     map[usbDevice]*usbState
	known   map[streamKey]*channel
	lastKey streamKey
	last    *channel
	buf     []byte
}

// streamKey tells channels apart without building their names.
type streamKey struct {
	link     uint32
	iface    int
	bus      uint16
	device   uint16
	a, b     uint16 // ports, or endpoint
	outgoing bool
}

// Link types, from the registry of tcpdump.org.
const (
	linkNull      = 0
	linkEthernet  = 1
	linkRaw12     = 12
	linkRaw14     = 14
	linkRaw       = 101
	linkLoop      = 108
	linkSLL       = 113
	linkUser0     = 147
	linkUSBLinux  = 189
	linkUSBMmap   = 220
	linkIPv4      = 228
	linkIPv6      = 229
	linkUSBPcap   = 249
	linkRTAC      = 250
	linkSLL2      = 276
	maxUSBDevices = 1000
)

func openPcap(in *input) (reader, error) { return openCapture(in, pcapOf) }

func openPcapng(in *input) (reader, error) { return openCapture(in, pcapngOf) }

func pcapOf(br *bufio.Reader, s *sink) (packetReader, error) { return newPcapReader(br, s) }

func pcapngOf(br *bufio.Reader, s *sink) (packetReader, error) {
	return &ngReader{br: br, sink: s}, nil
}

func openCapture(in *input, open func(*bufio.Reader, *sink) (packetReader, error)) (reader, error) {
	c := &capture{in: in, usb: map[usbDevice]*usbState{}, known: map[streamKey]*channel{}}
	sniff(in, open, c.look)
	pr, err := open(in.br, in.sink)
	if err != nil {
		return nil, err
	}
	c.packets = pr
	return c, nil
}

func (c *capture) next(rec *record) error {
	for {
		if err := c.packets.packet(&c.p); err != nil {
			return err
		}
		rec.at, rec.step = c.p.ns, c.p.step
		rec.data, rec.flags = nil, 0
		if c.decode(rec) {
			return nil
		}
	}
}

// decode finds the serial data of a packet; false when there is none.
func (c *capture) decode(rec *record) bool {
	switch c.p.link {
	case linkUSBLinux, linkUSBMmap, linkUSBPcap:
		return c.usbPacket(rec)
	case linkRTAC, linkUser0:
		return c.rtac(rec)
	}
	if ip := ipPacket(c.p.link, c.p.data); ip != nil {
		return c.udp(ip, rec)
	}
	if !carriesIP(c.p.link) {
		c.in.sink.warn("packets of link type %d hold nothing serial that is known here", c.p.link)
	}
	return false
}

// channel finds a stream, or names it with the function.
func (c *capture) channel(k streamKey, name func() (string, []string)) *channel {
	k.link, k.iface = c.p.link, c.p.iface
	if c.last != nil && k == c.lastKey {
		return c.last
	}
	ch := c.known[k]
	if ch == nil {
		n, aliases := name()
		if k.iface > 0 {
			n = fmt.Sprintf("interface %d %s", k.iface, n)
		}
		ch = c.in.ch.add(n, false, aliases...)
		if len(c.known) < maxChannels {
			c.known[k] = ch
		}
	}
	c.lastKey, c.last = k, ch
	return ch
}

// The events of an RTAC serial record, as Wireshark names them in
// packet-rtacser.c.
const (
	rtacTxStart  = 1
	rtacRxStart  = 2
	rtacTxEnd    = 3
	rtacRxEnd    = 4
	rtacLost     = 5
	rtacFraming  = 7
	rtacParity   = 8
	rtacBreak    = 9
	rtacOverflow = 10

	allErrors = results.Framing | results.Parity | results.Overrun | results.Break

	rtacHeader = 12 // u32 s, u32 µs, event, lines, two bytes of footer; big-endian
)

var rtacFlags = [rtacOverflow + 1]results.Flags{rtacLost: results.Overrun, rtacFraming: results.Framing,
	rtacParity: results.Parity, rtacBreak: results.Break, rtacOverflow: results.Overrun}

// rtac reads a record. One without data that tells an error belongs to the
// character before it.
func (c *capture) rtac(rec *record) bool {
	b := c.p.data
	if len(b) < rtacHeader || b[8] > rtacOverflow {
		c.in.sink.bad("no RTAC serial record")
		return false
	}
	event := b[8]
	rec.data = b[rtacHeader:]
	rec.flags = rtacFlags[event]
	outgoing := event == rtacTxStart || event == rtacTxEnd
	rec.ch = c.channel(streamKey{outgoing: outgoing}, func() (string, []string) {
		if outgoing {
			return "tx", nil
		}
		return "rx", nil
	})
	rec.ch.marks = allErrors
	return len(rec.data) > 0 || rec.flags != 0
}

func carriesIP(link uint32) bool {
	switch link {
	case linkNull, linkLoop, linkEthernet, linkRaw12, linkRaw14, linkRaw, linkSLL, linkSLL2, linkIPv4, linkIPv6:
		return true
	}
	return false
}

// ipPacket takes off the link layer, nil when what is in it is not IP.
func ipPacket(link uint32, b []byte) []byte {
	header, kind := 0, -1
	switch link {
	case linkNull, linkLoop:
		header = 4
	case linkEthernet:
		header, kind = 14, 12
		for len(b) >= header+4 && binary.BigEndian.Uint16(b[kind:]) == 0x8100 { // VLAN
			header, kind = header+4, kind+4
		}
	case linkSLL:
		header, kind = 16, 14
	case linkSLL2:
		header, kind = 20, 0
	case linkRaw12, linkRaw14, linkRaw, linkIPv4, linkIPv6:
	default:
		return nil
	}
	if len(b) < header+1 {
		return nil
	}
	if kind >= 0 {
		if t := binary.BigEndian.Uint16(b[kind:]); t != 0x0800 && t != 0x86dd {
			return nil
		}
	}
	return b[header:]
}

// udp takes the payload of a datagram that is not a fragment.
func (c *capture) udp(ip []byte, rec *record) bool {
	var udp []byte
	switch {
	case ip[0]>>4 == 4 && len(ip) >= 20 && ip[9] == 17 && binary.BigEndian.Uint16(ip[6:])&0x3fff == 0:
		if n := int(ip[0]&15) * 4; n >= 20 && n <= len(ip) {
			udp = ip[n:]
		}
	case ip[0]>>4 == 6 && len(ip) >= 40 && ip[6] == 17:
		udp = ip[40:]
	}
	if len(udp) < 8 {
		return false
	}
	n := int(binary.BigEndian.Uint16(udp[4:]))
	if n < 8 || n > len(udp) {
		n = len(udp) // cut by the capture's snap length
	}
	from, to := binary.BigEndian.Uint16(udp), binary.BigEndian.Uint16(udp[2:])
	rec.data = udp[8:n]
	rec.ch = c.channel(streamKey{a: from, b: to}, func() (string, []string) {
		return fmt.Sprintf("udp %d > %d", from, to), []string{fmt.Sprintf("udp %d", from)}
	})
	return len(rec.data) > 0
}
