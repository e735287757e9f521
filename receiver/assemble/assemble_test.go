package assemble

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"serialtiming/protocol"
	"serialtiming/results"
)

var oneMS = results.TableKind{Bin: time.Millisecond}

// wire plays a sender into an assembler.
type wire struct {
	t   *testing.T
	a   *Assembler
	now int64
}

func (w *wire) frame(m protocol.Announcement) {
	w.t.Helper()
	f, err := m.Append(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.now += int64(time.Second)
	// A frame arrives in several reads.
	for len(f) > 0 {
		n := min(len(f), 37)
		w.a.Event(results.Event{At: w.now, Bytes: f[:n]})
		f = f[n:]
		w.now += 4e6
	}
	w.now += int64(time.Second)
}

// chars sends places from..to of the cycle, one every 5 ms, and leaves out
// those that drop says.
func (w *wire) chars(from, to int64, drop func(int64) bool) {
	for i := from; i < to; i++ {
		w.now += 5e6
		if drop != nil && drop(i) {
			continue
		}
		w.a.Event(results.Event{At: w.now, Bytes: []byte{protocol.Printable.Char(i)}})
	}
}

func announcement(label string, count int64) protocol.Announcement {
	return protocol.Announcement{Run: 1, Label: label, PeriodNS: 5e6, Count: count, Baud: 9600, Line: "8N1",
		Char: "cycle", Timer: "absolute", CatchUp: "skip",
		Granted: []protocol.Grant{{Item: "priority", Asked: "realtime", Got: "SCHED_FIFO 80"}, {Item: "memory", Asked: "locked", Got: "unlocked", Why: "limit | 8 MiB"}}}
}

func after(m protocol.Announcement, sent int64, last bool) protocol.Announcement {
	m.Kind, m.Sent, m.Last = protocol.After, sent, last
	m.Lateness = &protocol.Lateness{P50: 60_000, P99: 90_000, Max: 400_000}
	m.Extra = append(m.Extra, protocol.Pair{Key: "sender_gc", Value: "0"})
	return m
}

// live runs a scenario and gives its runs and its log.
func live(t *testing.T, play func(*wire)) ([]results.Run, []byte) {
	t.Helper()
	var log bytes.Buffer
	lw := results.NewLogWriter(&log, results.ReceiverColumns)
	a := New(Options{Table: oneMS, Quantum: 1, Log: lw, Wall: func() time.Time { return time.Unix(1e9, 0) },
		Usage: func() []results.KeyValue { return []results.KeyValue{{Key: "gc", Value: "0"}} }})
	a.Header(results.KeyValue{Key: "port", Value: "/dev/ttyS9"})
	a.Header(results.KeyValue{Key: "granted", Value: "priority | realtime | normal | no right"})
	play(&wire{t: t, a: a})
	runs := a.Finish(ReasonInterrupt)
	if err := lw.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		if err := runs[i].Check(); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	return runs, log.Bytes()
}

func replayed(t *testing.T, log []byte, o Options) []results.Run {
	t.Helper()
	l, err := results.NewLogReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	a := New(o)
	if err := a.Replay(l, "test.csv"); err != nil {
		t.Fatal(err)
	}
	return a.Finish(ReasonEnd)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scenarios are what a receiver can meet; check says what must come of it.
var scenarios = map[string]struct {
	play  func(*wire)
	check func(*testing.T, []results.Run)
}{
	"a whole run": {
		func(w *wire) {
			m := announcement("quiet", 2000)
			w.frame(m)
			w.chars(0, 2000, nil)
			w.frame(after(m, 2000, true))
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 2000, 0, 0, 0, 0)
			if r[0].Label != "quiet" || len(r) != 1 || *r[0].Sent != 2000 || r[0].LostIsMinimum {
				t.Errorf("%+v", r)
			}
		},
	},
	"two runs after each other": {
		func(w *wire) {
			for i, last := range []bool{false, true} {
				m := announcement([]string{"first", "second"}[i], 500)
				m.Run = i + 1
				w.frame(m)
				w.chars(0, 500, func(n int64) bool { return i == 1 && n == 77 })
				w.frame(after(m, 500, last))
			}
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 500, 0, 0, 0, 0)
			counts(t, r[1], 499, 1, 0, 0, 0)
		},
	},
	"a late receiver": {
		func(w *wire) {
			m := announcement("late", 2000)
			w.chars(700, 2000, nil)
			w.frame(after(m, 2000, true))
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 1300, 0, 0, 0, 0)
			if *r[0].BeforeStart != 700 || !r[0].LostIsMinimum || r[0].Label != "late" {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
	"a receiver that comes in the middle of the opening announcement": {
		func(w *wire) {
			m := announcement("cut", 300)
			f, _ := m.Append(nil)
			w.a.Event(results.Event{At: 1, Bytes: f[len(f)/2:]})
			w.now = 1e9
			w.chars(0, 300, nil)
			w.frame(after(m, 300, true))
		},
		func(t *testing.T, r []results.Run) {
			if len(r) != 1 || r[0].Noise == 0 || r[0].Characters != 300 || *r[0].Lost != 0 {
				t.Errorf("%s", asJSON(t, r))
			}
		},
	},
	"noise before the start": {
		func(w *wire) {
			w.a.Event(results.Event{At: 1e6, Bytes: []byte{0xff, 0x80}})
			w.a.Event(results.Event{At: 9e6, Bytes: []byte{0x00}})
			m := announcement("noise", 300)
			w.frame(m)
			w.chars(0, 300, nil)
			w.frame(after(m, 300, true))
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[len(r)-1], 300, 0, 0, 0, 0)
			if len(r) != 1 || r[0].Noise != 3 {
				t.Errorf("%s", asJSON(t, r))
			}
		},
	},
	"noise between the announcement and the first character": {
		func(w *wire) {
			m := announcement("noise", 300)
			w.frame(m)
			w.a.Event(results.Event{At: w.now, Bytes: []byte{0xff}})
			w.chars(0, 300, nil)
			w.frame(after(m, 300, true))
		},
		func(t *testing.T, r []results.Run) { counts(t, r[0], 301, 0, 0, 0, 1) },
	},
	"a delimiter as noise": {
		func(w *wire) {
			m := announcement("noise", 300)
			w.frame(m)
			w.chars(0, 100, nil)
			w.a.Event(results.Event{At: w.now + 1000, Bytes: []byte{protocol.SOH}})
			w.chars(100, 200, nil)
			w.a.Event(results.Event{At: w.now + 1000, Bytes: []byte{protocol.EOT}})
			w.chars(200, 300, nil)
			w.frame(after(m, 300, true))
		},
		func(t *testing.T, r []results.Run) { counts(t, r[0], 302, 0, 0, 0, 2) },
	},
	"the closing announcement lost its first byte": {
		func(w *wire) {
			m := announcement("damaged", 300)
			w.frame(m)
			w.chars(0, 300, nil)
			w.now += int64(time.Second)
			c := after(m, 300, true)
			f, _ := c.Append(nil)
			w.a.Event(results.Event{At: w.now, Bytes: f[1:]})
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 300, 0, 0, 0, 0)
			if w := strings.Join(r[0].Warnings, "\n"); len(r) != 1 || !strings.Contains(w, "damaged") || !strings.Contains(w, "not heard") {
				t.Errorf("%s", asJSON(t, r))
			}
		},
	},
	"the second opening lost its first byte": {
		func(w *wire) {
			m := announcement("first", 300)
			w.frame(m)
			w.chars(0, 300, nil)
			w.frame(after(m, 300, false))
			w.now += int64(time.Second)
			m = announcement("second", 200)
			f, _ := m.Append(nil)
			w.a.Event(results.Event{At: w.now, Bytes: f[1:]})
			w.now += int64(time.Second)
			w.chars(0, 200, nil)
			w.frame(after(m, 200, true))
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 300, 0, 0, 0, 0)
			counts(t, r[1], 200, 0, 0, 0, 0)
		},
	},
	"nothing announced": {
		func(w *wire) { w.chars(17, 900, nil) },
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 883, 0, 0, 0, 0)
			if r[0].Sent != nil || !r[0].LostIsMinimum || r[0].Lateness != nil || r[0].Period.PPM != nil || r[0].Period.AnnouncedNS != nil {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
	"another program's bytes": {
		func(w *wire) {
			r := rand.New(rand.NewPCG(1, 1))
			for range 200 {
				w.now += 5e6
				w.a.Event(results.Event{At: w.now, Bytes: []byte{byte(5 + r.IntN(250))}})
			}
		},
		func(t *testing.T, r []results.Run) {
			if r[0].Lost != nil || r[0].Characters != 200 || len(r[0].Warnings) == 0 {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
	"batches": {
		func(w *wire) {
			m := announcement("batches", 400)
			w.frame(m)
			for i := int64(0); i < 400; i += 4 {
				w.now += 20e6
				b := []byte{}
				for k := range int64(4) {
					b = append(b, protocol.Printable.Char(i+k))
				}
				w.a.Event(results.Event{At: w.now, Bytes: b})
			}
			w.frame(after(m, 400, true))
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 400, 0, 0, 0, 0)
			if r[0].Events != 100 || r[0].Batched != 300 || r[0].Interval.Count != 99 {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
	"the closing announcement never came": {
		func(w *wire) {
			w.frame(announcement("torn off", 2000))
			w.chars(0, 600, func(n int64) bool { return n >= 200 && n < 210 })
		},
		func(t *testing.T, r []results.Run) {
			counts(t, r[0], 590, 10, 0, 0, 0)
			if !r[0].LostIsMinimum || r[0].Sent != nil {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
	"only the closing announcement": {
		func(w *wire) { w.frame(after(announcement("gone", 50), 50, true)) },
		func(t *testing.T, r []results.Run) {
			if len(r) != 1 || r[0].Characters != 0 || *r[0].Sent != 50 {
				t.Errorf("%s", asJSON(t, r))
			}
		},
	},
	"stale characters at the start": {
		func(w *wire) {
			w.a.Event(results.Event{At: 1e6, Bytes: []byte("ABC"), Stale: true})
			w.now = 1e6
			w.chars('D'-' ', 300, nil)
		},
		func(t *testing.T, r []results.Run) {
			if r[0].Steps.Stale != 1 || *r[0].Lost != 0 {
				t.Errorf("%s", asJSON(t, r[0]))
			}
		},
	},
}

func counts(t *testing.T, r results.Run, characters, lost, duplicated, corrupted, extra int64) {
	t.Helper()
	if r.Lost == nil || r.Characters != characters || *r.Lost != lost || *r.Duplicated != duplicated || *r.Corrupted != corrupted || *r.Extra != extra {
		t.Errorf("want %d characters, %d lost, %d duplicated, %d corrupted, %d extra:\n%s",
			characters, lost, duplicated, corrupted, extra, asJSON(t, r))
	}
}

func TestScenariosLiveAndReplayed(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			runs, log := live(t, s.play)
			if len(runs) == 0 {
				t.Fatal("no run")
			}
			s.check(t, runs)
			again := replayed(t, log, Options{Table: oneMS, Quantum: 1})
			if a, b := asJSON(t, runs), asJSON(t, again); a != b {
				t.Errorf("the replay differs:\n%s\nlive:\n%s\nlog:\n%s", b, a, log[:min(len(log), 3000)])
			}
		})
	}
}

func TestReplayWithOtherOptions(t *testing.T) {
	_, log := live(t, scenarios["a whole run"].play)
	ticks := replayed(t, log, Options{Table: results.TableKind{Bin: time.Millisecond, Hz: 1024}, Quantum: 1})[0]
	if rows := ticks.Table.Rows; len(rows) != 2 || rows[0].Key != 4 || rows[1].Key != 5 {
		t.Errorf("ticks: %v", rows)
	}
	fine := replayed(t, log, Options{Table: results.TableKind{Bin: 100 * time.Microsecond}, Quantum: 1, LateBy: time.Nanosecond})[0]
	if rows := fine.Table.Rows; len(rows) != 1 || rows[0].Key != 50 {
		t.Errorf("bins: %v", rows)
	}
	if *fine.Late.ByNS != 1 || *fine.Late.Count != 0 {
		t.Errorf("late: %s", asJSON(t, fine.Late))
	}
	other := replayed(t, log, Options{Table: oneMS, Quantum: 1, Period: 10 * time.Millisecond})[0]
	if other.Lateness == nil || other.Period.PPM != nil || *other.Period.AnnouncedNS != 5e6 {
		t.Errorf("period: %s", asJSON(t, other.Period))
	}
}

func TestDamagedLogs(t *testing.T) {
	_, log := live(t, scenarios["a whole run"].play)
	lines := bytes.SplitAfter(log, []byte{'\n'})
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	middle := len(lines) / 2
	for name, c := range map[string]struct {
		log        []byte
		characters int64
		warning    string
	}{
		"cut in a row":         {log[:bytes.LastIndex(log, []byte("\n1,"))+9], 1999, "torn"},
		"cut behind a row":     {log[:bytes.LastIndex(log, []byte("\n1,"))+1], 1999, "torn"},
		"a line of garbage":    {join(join(lines[:middle]...), []byte("\x00\xff garbage\n"), join(lines[middle:]...)), 2000, "test.csv:"},
		"a row without a time": {join(join(lines[:middle]...), []byte("1,,20,1,\n"), join(lines[middle:]...)), 2000, "no instant"},
		"a row too long":       {join(join(lines[:middle]...), []byte("1,5,20,1,,7\n"), join(lines[middle:]...)), 2000, "more fields"},
		"CRLF":                 {bytes.ReplaceAll(log, []byte{'\n'}, []byte("\r\n")), 2000, ""},
		"a BOM":                {join([]byte("\xef\xbb\xbf"), log), 2000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := replayed(t, c.log, Options{Table: oneMS, Quantum: 1})
			if len(r) != 1 || r[0].Characters != c.characters {
				t.Fatalf("%s", asJSON(t, r))
			}
			all := strings.Join(r[0].Warnings, "\n")
			if !strings.Contains(all, c.warning) || c.warning == "" && all != "" {
				t.Errorf("warnings %q, want %q", all, c.warning)
			}
			if err := r[0].Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownKeysAndColumnsAreIgnored(t *testing.T) {
	log := "# serialtiming log 1\n# colour: green\n# run 1 mood: fine\nnote,arrived_ns,run\nx,1000,1\ny,5001000,1\n# end 1 reason: end\n"
	r := replayed(t, []byte(log), Options{Table: oneMS, Quantum: 1})
	if len(r) != 1 || r[0].Characters != 2 || r[0].Interval.Count != 1 || r[0].Lost != nil {
		t.Errorf("%s", asJSON(t, r))
	}
}

func FuzzLive(f *testing.F) {
	m, _ := func() ([]byte, error) { m := announcement("x", 5); return m.Append(nil) }()
	f.Add(append(m, " !\"#$"...), uint16(5))
	f.Add([]byte{1, '~', 'S', 'T', 4, 4, 1, 1, ' ', '!', 0xff}, uint16(300))
	f.Fuzz(func(t *testing.T, b []byte, step uint16) {
		runs, log := live(t, func(w *wire) {
			for len(b) > 0 {
				n := min(len(b), 1+int(b[0])%7)
				w.now += int64(step) * 1e6
				w.a.Event(results.Event{At: w.now, Bytes: b[:n]})
				b = b[n:]
			}
		})
		if a, b := asJSON(t, runs), asJSON(t, replayed(t, log, Options{Table: oneMS, Quantum: 1})); len(runs) > 0 && a != b {
			t.Fatalf("live:\n%s\nreplay:\n%s", a, b)
		}
	})
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte("# run 1 period_ns: 5\nrun,arrived_ns,byte,batch,flags\n1,5,20,1,\n1,10,21,2,fpobd\n1,10,22,0,\n# end 1 sent: 3\n"))
	f.Add([]byte("run,seq,due_ns,woke_ns,wrote_ns,byte\n1,0,5,6,7,20\n"))
	f.Add([]byte("arrived_ns\n5\n4\n4\n9223372036854775807\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range replayed(t, append([]byte("# serialtiming log 1\n"), b...), Options{Table: oneMS, Quantum: 1}) {
			if err := r.Check(); err != nil && len(r.Findings) == 0 && r.Sent == nil {
				t.Fatal(err)
			}
		}
	})
}
