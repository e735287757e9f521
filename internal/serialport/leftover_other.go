//go:build !linux

package serialport

// leftovers: nothing is changed here that would have to be put back.
func leftovers() []Leftover { return nil }
