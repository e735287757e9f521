package protocol

import "testing"

// Ways to close a run.
const (
	counted   = iota // the closing announcement was heard
	timeless         // so, but there is no period
	uncounted        // not heard
)

// planted is a stream and what must be counted. The start is heard unless
// late is set.
type planted struct {
	name   string
	stream *plant
	late   bool
	close  int
	want   Counts
	before int64 // Unknown: not known
	least  bool  // lost is minimum
}

func (p planted) run(t *testing.T) {
	k := p.stream.check(!p.late)
	sent, period := p.stream.sent, int64(testPeriod)
	if p.close == uncounted {
		sent = Unknown
	}
	if p.close == timeless {
		period = 0
	}
	s := k.Close(sent, period)
	checkSummary(t, s)
	if s.Counts != p.want {
		t.Errorf("counted %+v, planted %+v", s.Counts, p.want)
	}
	if s.Received != int64(len(p.stream.chars)) {
		t.Errorf("received %d of %d", s.Received, len(p.stream.chars))
	}
	if s.BeforeStart != p.before || s.LostIsMinimum != p.least || s.Inconsistent {
		t.Errorf("before start %d, want %d; minimum %v, want %v; inconsistent %v",
			s.BeforeStart, p.before, s.LostIsMinimum, p.least, s.Inconsistent)
	}
}

func runPlanted(t *testing.T, cases []planted) {
	t.Helper()
	for _, p := range cases {
		t.Run(p.name, p.run)
	}
}

func stream() *plant { return newPlant(Printable) }

func TestLosses(t *testing.T) {
	lost := func(n int64) Counts { return Counts{Lost: n} }
	gap := func(n int64) *plant { return stream().good(150).lose(n).good(150) }
	runPlanted(t, []planted{
		{"none", stream().good(1000), false, counted, lost(0), 0, false},
		{"1", gap(1), false, counted, lost(1), 0, false},
		{"93", gap(93), false, counted, lost(93), 0, false},
		{"94", gap(94), false, counted, lost(94), 0, false},
		{"95", gap(95), false, counted, lost(95), 0, false},
		{"96", gap(96), false, counted, lost(96), 0, false},
		{"189", gap(189), false, counted, lost(189), 0, false},
		{"200", gap(200), false, counted, lost(200), 0, false},
		{"94 timeless", gap(94), false, timeless, lost(94), 0, false},
		{"95 timeless", gap(95), false, timeless, lost(95), 0, false},
		{"1 uncounted", gap(1), false, uncounted, lost(1), 0, true},
		{"94 uncounted", gap(94), false, uncounted, Counts{Duplicated: 1}, 0, true},
		{"95 uncounted", gap(95), false, uncounted, lost(0), 0, true},
		{"200 uncounted", gap(200), false, uncounted, lost(10), 0, true},
		{"94 twice", gap(94).lose(94).good(9), false, counted, lost(188), 0, false},
		{"first", stream().lose(1).good(99), false, counted, lost(1), 0, false},
		{"first 94", stream().lose(94).good(99), false, counted, lost(94), 0, false},
		{"first 95", stream().lose(95).good(99), false, counted, lost(95), 0, false},
		{"last", gap(0).lose(1), false, counted, lost(1), 0, false},
		{"last 94", gap(0).lose(94), false, counted, lost(94), 0, false},
		{"last 500", gap(0).lose(500), false, counted, lost(500), 0, false},
		{"last but one", gap(0).lose(1).good(1), false, counted, lost(1), 0, false},
		{"last but one of 94", gap(0).lose(94).good(1), false, counted, lost(94), 0, false},
		{"all", stream().lose(300), false, counted, lost(300), 0, false},
		{"all, uncounted", stream(), false, uncounted, lost(0), 0, true},
		{"all but one", stream().lose(7).good(1).lose(7), false, counted, lost(14), 0, false},
		{"a few at several places", gap(3).lose(7).good(20).lose(90).good(5), false, counted, lost(100), 0, false},
		{"stall", gap(0).stall(95).good(9), false, counted, lost(0), 0, false},
		{"stall uncounted", gap(0).stall(94).good(9), false, uncounted, lost(0), 0, true},
		{"stall and 95 lost", gap(0).stall(95).good(9).lose(95).good(9), false, counted, lost(95), 0, false},
	})
}

func TestDuplicates(t *testing.T) {
	again := func(n int64) Counts { return Counts{Duplicated: n} }
	mixed := Counts{Lost: 94, Duplicated: 1}
	runPlanted(t, []planted{
		{"one", stream().good(50).again(1).good(50), false, counted, again(1), 0, false},
		{"one timeless", stream().good(50).again(1).good(50), false, timeless, again(1), 0, false},
		{"one uncounted", stream().good(50).again(1).good(50), false, uncounted, again(1), 0, true},
		{"three in a row", stream().good(50).again(3).good(50), false, counted, again(3), 0, false},
		{"a thousand in a row", stream().good(50).again(1000).good(50), false, counted, again(1000), 0, false},
		{"of the first", stream().good(1).again(1).good(50), false, counted, again(1), 0, false},
		{"of '~'", stream().good(95).again(1).good(50), false, counted, again(1), 0, false},
		{"of the last", stream().good(50).again(1), false, counted, again(1), 0, false},
		{"at three places", stream().good(9).again(1).good(9).again(2).good(9).again(1).good(9), false, counted, again(4), 0, false},
		{"after a stall", stream().good(50).stall(95).again(1).good(50), false, counted, again(1), 0, false},
		{"and 94 lost elsewhere", stream().good(50).again(1).good(50).lose(94).good(50), false, counted, mixed, 0, false},
		{"and 94 lost before", stream().good(50).lose(94).good(50).again(1).good(50), false, counted, mixed, 0, false},
		{"and 95 lost elsewhere", stream().good(50).again(1).good(50).lose(95).good(50), false, counted, Counts{Lost: 95, Duplicated: 1}, 0, false},
		{"and a loss", stream().good(50).again(1).good(50).lose(5).good(50), false, counted, Counts{Lost: 5, Duplicated: 1}, 0, false},
		{"of the first behind 94 lost", stream().good(50).lose(94).good(1).again(1).good(50), false, counted, mixed, 0, false},
	})
}

func TestCorrupted(t *testing.T) {
	bad := func(n int64) Counts { return Counts{Corrupted: n} }
	runPlanted(t, []planted{
		{"one", stream().good(50).corrupt(0x80).good(50), false, counted, bad(1), 0, false},
		{"one uncounted", stream().good(50).corrupt(0x80).good(50), false, uncounted, bad(1), 0, true},
		{"into the one before", stream().good(50).corrupt(' ' + 49).good(50), false, counted, bad(1), 0, false},
		{"into the one after", stream().good(50).corrupt(' ' + 51).good(50), false, counted, bad(1), 0, false},
		{"two", stream().good(50).corrupt(0x80, 0x80).good(50), false, counted, bad(2), 0, false},
		{"two with one right between", stream().good(50).corrupt(0x80).good(1).corrupt(0xff).good(50), false, counted, bad(2), 0, false},
		{"three with right ones between", stream().good(50).corrupt(0x80).good(1).corrupt(0xff).good(1).corrupt(0).good(50), false, counted, bad(3), 0, false},
		{"every other", stream().good(50).corrupt(0).good(1).corrupt(0).good(1).corrupt(0).good(1).corrupt(0).good(1).corrupt(0).good(9), false, counted, bad(5), 0, false},
		{"the first", stream().corrupt(0x80).good(50), false, counted, bad(1), 0, false},
		{"the first, uncounted", stream().corrupt(0x80).good(50), false, uncounted, bad(1), 0, true},
		{"the last", stream().good(50).corrupt(0x80), false, counted, bad(1), 0, false},
		{"the last, uncounted", stream().good(50).corrupt('0'), false, uncounted, bad(1), 0, true},
		{"the last two", stream().good(50).corrupt(0x80, 0x80), false, counted, bad(2), 0, false},
		{"the last but one", stream().good(50).corrupt(0x80).good(1), false, counted, bad(1), 0, false},
		{"the last but one, uncounted", stream().good(50).corrupt(0x80).good(1), false, uncounted, bad(1), 0, true},
		{"all", stream().corrupt(make([]byte, 500)...), false, counted, bad(500), 0, false},
		{"all, uncounted", stream().corrupt(make([]byte, 500)...), false, uncounted, bad(500), 0, true},
		{"two hundred in a row", stream().good(50).corrupt(make([]byte, 200)...).good(50), false, counted, bad(200), 0, false},
		{"one, and a duplicate", stream().good(50).again(1).corrupt(0x80).good(50), false, counted, Counts{Corrupted: 1, Duplicated: 1}, 0, false},
		{"one, then 3 lost", stream().good(50).corrupt(0x80).lose(3).good(50), false, counted, Counts{Corrupted: 1, Lost: 3}, 0, false},
		{"the last, 94 lost elsewhere", stream().good(50).lose(94).good(50).corrupt(0x80), false, counted, Counts{Corrupted: 1, Lost: 94}, 0, false},
	})
}

func TestExtra(t *testing.T) {
	extra := func(n int64) Counts { return Counts{Extra: n} }
	runPlanted(t, []planted{
		{"one", stream().good(50).extra(0x80).good(50), false, counted, extra(1), 0, false},
		{"one uncounted", stream().good(50).extra(0x80).good(50), false, uncounted, extra(1), 0, true},
		{"of the cycle", stream().good(50).extra('z').good(50), false, counted, extra(1), 0, false},
		{"the one after next", stream().good(50).extra(' ' + 51).good(50), false, counted, extra(1), 0, false},
		{"two", stream().good(50).extra(0x80, 0xff).good(50), false, counted, extra(2), 0, false},
		{"forty in a row", stream().good(50).extra(make([]byte, 40)...).good(50), false, counted, extra(40), 0, false},
		{"a hundred in a row", stream().good(50).extra(make([]byte, 100)...).good(50), false, counted, extra(100), 0, false},
		{"before the start", stream().extra(0xff).good(50), false, counted, extra(1), 0, false},
		{"before the start, '~'", stream().extra('~').good(50), false, counted, extra(1), 0, false},
		{"many before the start", stream().extra(0xff, 'x', 0, 'q').good(50), false, uncounted, extra(4), 0, true},
		{"before the start of a late receiver", stream().good(50).late().extra(0xff).good(70), true, counted, extra(1), 50, false},
		{"after the end", stream().good(50).extra(0xff), false, counted, extra(1), 0, false},
		{"two steps back", stream().good(50).extra(' '+48, ' '+49).good(50), false, counted, extra(2), 0, false},
		{"last but one, uncounted", stream().good(50).extra(0x80).good(1), false, uncounted, extra(1), 0, true},
		{"two steps back, then 3 lost at the end", stream().good(50).extra(' '+48, ' '+49).good(50).lose(3), false, counted, Counts{Extra: 2, Lost: 3}, 0, false},
		{"twenty, the last a duplicate", stream().good(50).extra(append(make([]byte, 20), ' '+49)...).good(50), false, counted, Counts{Extra: 20, Duplicated: 1}, 0, false},
		{"and a duplicate", stream().good(50).again(1).extra(0x80).good(50), false, counted, Counts{Extra: 1, Duplicated: 1}, 0, false},
		{"after the end, 94 lost elsewhere", stream().good(50).lose(94).good(50).extra(0x80), false, counted, Counts{Extra: 1, Lost: 94}, 0, false},
	})
}

func TestLateReceiver(t *testing.T) {
	from := func(n int64) *plant { return stream().good(n).late() }
	runPlanted(t, []planted{
		{"after 10", from(10).good(200), true, counted, Counts{}, 10, false},
		{"after 0", from(0).good(200), true, counted, Counts{}, 0, false},
		{"after 94", from(94).good(200), true, counted, Counts{}, 94, false},
		{"after 95", from(95).good(200), true, counted, Counts{}, 95, true},
		{"after 1000", from(1000).good(200), true, counted, Counts{}, 1000, true},
		{"uncounted", from(10).good(200), true, uncounted, Counts{}, Unknown, true},
		{"3 lost", from(10).good(200).lose(3).good(50), true, counted, Counts{Lost: 3}, 10, false},
		{"95 lost, which may be before", from(10).good(200).lose(95).good(50), true, counted, Counts{}, 105, true},
		{"94 lost", from(10).good(200).lose(94).good(50), true, counted, Counts{Lost: 94}, 10, false},
		{"94 lost, timeless", from(10).good(200).lose(94).good(50), true, timeless, Counts{Duplicated: 1}, 105, true},
		{"duplicate", from(210).good(200).again(1).good(50), true, counted, Counts{Duplicated: 1}, 210, true},
		{"duplicate after a stall", from(10).good(200).stall(95).again(1).good(50), true, counted, Counts{Duplicated: 1}, 10, false},
		{"3 lost at the end", from(10).good(200).lose(3), true, counted, Counts{Lost: 3}, 10, false},
		{"last corrupted", from(10).good(200).corrupt(0), true, counted, Counts{Corrupted: 1}, 10, false},
		{"last extra", from(10).good(200).extra(0), true, counted, Counts{Extra: 1}, 10, false},
		{"last lot corrupted", from(10).good(9).corrupt(make([]byte, 150)...), true, counted, Counts{Corrupted: 150}, 10, false},
		{"corrupted", from(10).good(200).corrupt(0).good(50), true, counted, Counts{Corrupted: 1}, 10, false},
		{"nothing heard", from(500), true, counted, Counts{}, 500, true},
		{"one character", from(500).good(1), true, counted, Counts{}, 500, true},
		{"one character, uncounted", from(500).good(1), true, uncounted, Counts{}, Unknown, true},
		{"never in order", from(500).corrupt(make([]byte, 77)...), true, counted, Counts{Corrupted: 77}, 500, true},
	})
}

func TestConstant(t *testing.T) {
	nul := func() *plant { return newPlant(Constant(0)) }
	runPlanted(t, []planted{
		{"clean", nul().good(300), false, counted, Counts{}, 0, false},
		{"lost", nul().good(300).lose(7).good(5), false, counted, Counts{Lost: 7}, 0, false},
		{"uncounted", nul().good(300).lose(7).good(5), false, uncounted, Counts{}, 0, true},
		{"corrupted", nul().good(300).corrupt('x', 'y').good(5), false, counted, Counts{Corrupted: 2}, 0, false},
		{"extra", nul().good(300).extra('x', 'y').good(5), false, counted, Counts{Extra: 2}, 0, false},
		{"too many", nul().good(300).again(2).good(5), false, counted, Counts{Duplicated: 2}, 0, false},
		{"late", nul().good(10).late().good(300), true, counted, Counts{}, 10, true},
		{"late, but nothing missed", nul().good(300), true, counted, Counts{}, 0, false},
	})
}

func TestCounter(t *testing.T) {
	from := func(n int64) *plant { return newPlant(Counter).good(n).late() }
	runPlanted(t, []planted{
		{"clean", from(77).good(1000), true, uncounted, Counts{}, Unknown, true},
		{"lost", from(77).good(1000).lose(3).good(9), true, uncounted, Counts{Lost: 3}, Unknown, true},
		{"duplicated", from(77).good(1000).again(1).good(9), true, uncounted, Counts{Duplicated: 1}, Unknown, true},
		{"corrupted", from(77).good(1000).corrupt(5).good(9), true, uncounted, Counts{Corrupted: 1}, Unknown, true},
		{"extra", from(77).good(1000).extra(5).good(9), true, uncounted, Counts{Extra: 1}, Unknown, true},
		{"255 lost", from(0).good(1000).lose(255).good(9), false, counted, Counts{Lost: 255}, 0, false},
	})
}

// More came in order than was sent: a finding.
func TestInconsistent(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream *plant
		sent   int64
		extra  int64
		flag   bool
	}{
		{"one in order behind the end", stream().good(51), 50, 1, true},
		{"a cycle in order behind the end", stream().good(145), 50, 95, true},
		{"one that was no wonder", stream().good(50).extra(0), 50, 1, false},
	} {
		s := c.stream.check(true).Close(c.sent, testPeriod)
		checkSummary(t, s)
		if s.Counts != (Counts{Extra: c.extra}) || s.Inconsistent != c.flag {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// Two runs after each other: each has its own check, and begins with a space.
func TestTwoRuns(t *testing.T) {
	one := stream().good(50).lose(2).good(50)
	two := stream().good(300).again(1).good(3)
	for i, want := range []Counts{{Lost: 2}, {Duplicated: 1}} {
		p := []*plant{one, two}[i]
		if s := p.check(true).Close(p.sent, testPeriod); s.Counts != want {
			t.Errorf("run %d: %+v, planted %+v", i+1, s.Counts, want)
		}
	}
}

func TestPos(t *testing.T) {
	k := NewChecker(Printable, true)
	for _, c := range []struct {
		b       byte
		verdict Verdict
		pos     int64
	}{
		{' ', Right, 0}, {'!', Right, 1},
		{0x80, Wrong, 1}, {'#', Wrong, 1}, {'$', Resumed, 4}, // corrupted
		{'(', Wrong, 4}, {')', Resumed, 9}, // 3 lost
		{')', Wrong, 9}, {'*', Right, 10}, // duplicated
		{'+', Right, 11},
	} {
		if v := k.Feed(c.b, 0); v != c.verdict || k.Pos() != c.pos {
			t.Fatalf("%q: verdict %d at %d, want %d at %d", c.b, v, k.Pos(), c.verdict, c.pos)
		}
	}
	if want := (Counts{Lost: 3, Duplicated: 1, Corrupted: 1}); k.Counts() != want || k.Pending() != 0 {
		t.Errorf("%+v, %d pending", k.Counts(), k.Pending())
	}
}
