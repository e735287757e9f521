package realtime

import "testing"

func TestRtprioOf(t *testing.T) {
	for _, c := range []struct {
		n    int
		want uint16
	}{{1, 31}, {99, 0}, {80, 7}, {50, 16}} {
		if got := rtprioOf(c.n); got != c.want {
			t.Errorf("realtime:%d: rtprio %d, want %d", c.n, got, c.want)
		}
	}
}
