//go:build !linux && !darwin && !freebsd && !openbsd

package realtime

func usage(bool) (Counters, bool) { return Counters{}, false }
