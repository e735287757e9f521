package importer

import (
	"bytes"
	"fmt"
)

// Formats that are known and hold no arrival times: naming them is more useful
// than "unknown".

// detectPortmon knows the TAB-separated log of Sysinternals PortMon.
func detectPortmon(h head) string {
	yes, of := h.count(func(l []byte) bool {
		f := bytes.Split(l, []byte{'\t'})
		return len(f) >= 6 && allOf(f[0], "0123456789") && bytes.HasPrefix(f[3], []byte("IRP_MJ_"))
	})
	return mostLines(yes, of, "number, time, process, IRP_MJ_…")
}

// detectEltima knows the text export of Eltima's Serial Port Monitor.
func detectEltima(h head) string {
	yes, _ := h.count(func(l []byte) bool {
		return len(l) > 22 && l[0] == '[' && l[3] == '/' && l[6] == '/' && l[20] == ']' &&
			(bytes.Contains(l, []byte(" data (")) || bytes.Contains(l, []byte("Port ")))
	})
	if yes == 0 {
		return "no line is [DD/MM/YYYY HH:MM:SS] Read data (PORT)"
	}
	return ""
}

// detectIntercept knows interceptty: direction, hex and text, no time.
func detectIntercept(h head) string {
	yes, of := h.count(func(l []byte) bool {
		return len(l) > 6 && (l[0] == '<' || l[0] == '>') && l[1] == ' ' && bytes.Contains(l[:min(len(l), 8)], []byte("\t0x"))
	})
	return mostLines(yes, of, "> TAB 0x41 (A)")
}

func mostLines(yes, of int, shape string) string {
	if yes == 0 || yes*2 < of {
		return fmt.Sprintf("%d of %d lines are %s", yes, of, shape)
	}
	return ""
}
