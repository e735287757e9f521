package main

import (
	"bufio"
	"fmt"
	"os"

	"serialtiming/results/importer"
)

// importers are two logs of other tools, beside what people read such files
// with: the sum of a table's differences in mawk, the stamps of a capture in
// tshark. Both are asked to be no faster than the receiver, which has to make
// 3 million rows and 2 million packets a second.
var importers = []match{
	{what: "a Saleae Logic 2 table", unit: "rows", count: saleaeRows, write: writeSaleae,
		theirs: []string{"mawk", "-F,", "{s+=$3-p;p=$3}END{print s}"}, hint: "apt install mawk"},
	{what: "a pcapng file", unit: "packets", count: pcapngPackets, write: writePcapng,
		theirs: []string{"tshark", "-n", "-T", "fields", "-e", "frame.time_epoch", "-r"}, hint: "apt install tshark"},
}

const (
	saleaeRows    = 10_000_000 // 480 MB
	pcapngPackets = 1_000_000  // 45 MB: tshark takes seconds for them
	// charNS is a character back to back at 115200 8N1, the analyser's clock
	// 500 MHz: noise is in steps of 2 ns.
	charNS = 86_806
)

// writeSaleae writes rows as the analyser exports them.
func writeSaleae(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, `name,type,start_time,duration,"data"`)
	noise := newNoise()
	for i := range int64(saleaeRows) {
		ns := charNS*i + 2*noise(1000)
		fmt.Fprintf(w, "\"Async 1\",\"data\",%d.%09d,0.000082464,0x%02X\n", ns/1e9, ns%1e9, i&255)
	}
	return w.Flush()
}

// writePcapng writes RTAC serial records of one character.
func writePcapng(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := importer.NewPcapngWriter(f)
	noise := newNoise()
	for i := range int64(pcapngPackets) {
		if err := w.Write(charNS*i+2*noise(1000), []byte{byte(i)}, 0); err != nil {
			return err
		}
	}
	return w.Close()
}
