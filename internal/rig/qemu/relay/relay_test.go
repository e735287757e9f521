package relay

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestLineFaults(t *testing.T) {
	only := func(want int) func(int) bool { return func(k int) bool { return k == want } }
	tests := []struct {
		name string
		line Line
		want string
	}{
		{"clean", Line{}, "abcdef"},
		{"one dropped", Line{Drop: only(2)}, "abdef"},
		{"first dropped", Line{Drop: only(0)}, "bcdef"},
		{"noise before the fourth", Line{Noise: func(k int) []byte {
			if k == 3 {
				return []byte("##")
			}
			return nil
		}}, "abc##def"},
		{"noise in place of one", Line{Drop: only(5), Noise: func(k int) []byte {
			if k == 5 {
				return []byte("?")
			}
			return nil
		}}, "abcde?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := tt.line.Run(&out, strings.NewReader("abcdef"))
			if n != 6 || err != nil || out.String() != tt.want {
				t.Errorf("Run = %d, %v, handed on %q; want 6, nil, %q", n, err, out.String(), tt.want)
			}
		})
	}
}

// TestLinePace looks at the instants asked for, not at the clock: characters
// that wait are exactly one character time apart, a late one shifts the rest.
func TestLinePace(t *testing.T) {
	var asked []time.Time
	l := Line{
		CharTime: time.Hour, // no real time can pass that long
		Late: func(k int) time.Duration {
			if k == 2 {
				return 30 * time.Minute
			}
			return 0
		},
		Sleep: func(u time.Time) { asked = append(asked, u) },
	}
	var out bytes.Buffer
	if _, err := l.Run(&out, strings.NewReader("abcd")); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{time.Hour, 90 * time.Minute, time.Hour}
	if len(asked) != 4 {
		t.Fatalf("%d waits, want 4", len(asked))
	}
	for i, w := range want {
		if d := asked[i+1].Sub(asked[i]); d != w {
			t.Errorf("character %d came %v after the one before, want %v", i+1, d, w)
		}
	}
}
