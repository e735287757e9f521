//go:build rig && linux

package qemu

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	. "serialtiming/internal/rig/qemu/script"
)

// TestDOS: half an hour of guest time at exactly 5 ms, read as the DOS program
// read it: 5.12 ticks are 5 or 6, so 88.0 % read 4 and 12.0 % read 5.
//
// It takes longest by far, so its guest starts before the test waits for its
// turn, and runs beside all others. And one process sends and receives: two
// take twice as long to emulate.
func TestDOS(t *testing.T) {
	notLong(t)
	m := bootDOS(t, halfHour, 15*time.Minute)
	t.Parallel()
	dos(t, m, halfHour)
}

// TestLong is the same over two hours, and only on request.
func TestLong(t *testing.T) {
	if os.Getenv("RIG_LONG") != "1" {
		t.Skip("RIG_LONG is not 1")
	}
	dos(t, bootDOS(t, twoHours, 55*time.Minute), twoHours)
}

const (
	halfHour = 30 * time.Minute
	twoHours = 2 * time.Hour
)

func bootDOS(t *testing.T, guestTime, limit time.Duration) *Machine {
	t.Helper()
	n := int64(guestTime / fiveMS)
	return boot(t, Guest{Kernel: Cloud, Virtual: true, UARTs: []UART{Unwired()}, Limit: limit, Script: Script{
		Deadline: guestTime + 5*time.Minute,
		Steps: steps(
			Loop(looped), trigger(looped, 1), Count("before", looped),
			sender("dos", looped, fiveMS, "--loopback", "--tick", "1024", "--timer", "absolute", "--count", fmt.Sprint(n)),
			Wait("dos-sender", guestTime+time.Minute),
			Count("after", looped))}})
}

func dos(t *testing.T, m *Machine, guestTime time.Duration) {
	t.Helper()
	n := int64(guestTime / fiveMS)
	o := outcome(t, m)
	exitStatus(t, o, "dos-sender", "exit status 0")
	r := oneRun(t, o, "dos-sender.json")
	l := runLog(t, o, "dos-sender.csv")
	whole(t, r, r, l, n)
	equal(t, "missed", r.Missed, 0)
	driverClean(t, o, r)
	exact(t, l, fiveMS, 100*time.Microsecond)
	mean(t, r, fiveMS, 5e-6) // 5 ppm: one clock
	readings(t, r, l)
}

// readings asserts the shares, and that the table is the one that the log
// gives by the rule.
func readings(t *testing.T, r RunReport, l Log) {
	t.Helper()
	if r.Table.Tick == nil || *r.Table.Tick != 1024 {
		t.Errorf("tick_hz is %v, want 1024", r.Table.Tick)
	}
	want, total := map[int64]int64{}, int64(0)
	last := int64(-1)
	for _, e := range l.Events {
		if e.Batch == 0 {
			continue
		}
		tick := e.Arrived * 1024 / int64(time.Second)
		if last >= 0 {
			want[(tick-last)*1000/1024]++
			total++
		}
		last = tick
	}
	got := map[int64]int64{}
	for _, row := range r.Table.Rows {
		got[row[0]] = row[1]
		if row[1] != want[row[0]] {
			t.Errorf("reading %d ms: %d times, by the log %d", row[0], row[1], want[row[0]])
		}
	}
	for reading, count := range want {
		if got[reading] == 0 {
			t.Errorf("reading %d ms is not in the table, by the log %d times", reading, count)
		}
	}
	for _, x := range []struct {
		reading int64
		share   float64
	}{{4, 0.880}, {5, 0.120}} {
		share := float64(got[x.reading]) / float64(max(total, 1))
		t.Logf("reading %d: %.3f %%", x.reading, share*100)
		if math.Abs(share-x.share) > 0.001 {
			t.Errorf("%.3f %% read %d, want %.1f %% within 0.1 %%", share*100, x.reading, x.share*100)
		}
	}
}
