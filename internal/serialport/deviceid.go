package serialport

import "strings"

// parseDeviceID reads the ids out of two levels of Windows' Enum tree, as in
// USB\VID_2341&PID_0043&MI_00\95735353 and
// FTDIBUS\VID_0403+PID_6001+A6008isPA\0000. A serial number with & in it was
// made up by Windows; FTDI's driver appends the channel's letter to it.
func parseDeviceID(enumerator, device, instance string) (usb, serial string) {
	var vid, pid, third string
	parts := strings.FieldsFunc(device, func(r rune) bool { return r == '&' || r == '+' })
	for _, part := range parts {
		upper := strings.ToUpper(part)
		switch {
		case strings.HasPrefix(upper, "VID_"):
			vid = part[4:]
		case strings.HasPrefix(upper, "PID_"):
			pid = part[4:]
		default:
			third = part
		}
	}
	if !isHex4(vid) || !isHex4(pid) {
		return "", ""
	}
	switch {
	case strings.EqualFold(enumerator, "FTDIBUS"):
		serial = third
	case strings.EqualFold(enumerator, "USB") && !strings.Contains(instance, "&"):
		serial = instance
	}
	return strings.ToLower(vid + ":" + pid), cleaned(serial)
}

func isHex4(s string) bool {
	return len(s) == 4 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// friendly takes the port off a friendly name: "USB Serial Port (COM3)".
func friendly(name, port string) string {
	return cleaned(strings.TrimSuffix(strings.TrimSpace(name), "("+port+")"))
}
