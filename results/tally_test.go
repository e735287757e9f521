package results

import "testing"

// What had waited before the capture has no arrival: neither the period nor
// the lateness may be measured from it.
func TestAStaleFirstCharacterMeasuresNothing(t *testing.T) {
	for name, o := range map[string]TallyOptions{
		"no grid": {Table: TableKind{Bin: 1e6}},
		"a grid":  {Table: TableKind{Bin: 1e6}, PeriodNS: 2e6},
	} {
		stream := func(stale bool) Run {
			tally := NewTally(o)
			if stale {
				tally.Stale()
			}
			for i := range int64(300) {
				at := i * 2e6
				if i == 0 {
					at = 0.766e6 // read so much late
				}
				tally.Event(at, 1, 0)
				tally.Place(at, i, true, false)
			}
			var r Run
			tally.Fill(&r)
			return r
		}
		waited := stream(true)
		if got := waited.Period.MeasuredNS; got == nil || *got != 2e6 {
			t.Errorf("%s: measured %v", name, got)
		}
		if o.PeriodNS > 0 && (waited.Lateness.Count != 299 || *waited.Lateness.Max != 0) {
			t.Errorf("%s: lateness %+v", name, waited.Lateness)
		}
		if waited.Steps.Stale != 1 || waited.Interval.Count != 298 {
			t.Errorf("%s: %+v, %d intervals", name, waited.Steps, waited.Interval.Count)
		}
		if fresh := stream(false); *fresh.Period.MeasuredNS == 2e6 {
			t.Errorf("%s: a first character that is late shows nowhere", name)
		}
	}
}
