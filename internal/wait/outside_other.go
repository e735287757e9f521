//go:build !linux

package wait

func outside(l Loop) { l.Hot() }
