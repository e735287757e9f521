//go:build !linux

package realtime

// ordinaryNice does nothing where threads have no nice value of their own.
func (s *Session) ordinaryNice(int) {}
