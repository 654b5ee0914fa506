package counter

import (
	"slices"
	"testing"
	"time"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// A folded slot is removed when both the clock of its writer and that of who froze it say that it is old, and never earlier
// than minRetention, however many there are.
func TestOldByBothClocks(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	for _, test := range []struct {
		name       string
		at, frozen int64
		included   bool
		crowd      bool
		want       bool
	}{
		{"both long ago", ago(25 * time.Hour), ago(24 * time.Hour), true, false, true},
		{"frozen just now", ago(1000 * time.Hour), ago(time.Minute), true, false, false},
		{"written just now", ago(time.Minute), ago(1000 * time.Hour), true, false, false},
		{"not frozen", ago(1000 * time.Hour), 0, true, false, false},
		{"not included", ago(1000 * time.Hour), ago(1000 * time.Hour), false, false, false},
		{"not long ago", ago(25 * time.Hour), ago(24*time.Hour - 1), true, false, true},
		{"in a crowd", ago(1000 * time.Hour), ago(minRetention), true, true, true},
		{"in a crowd, frozen just now", ago(1000 * time.Hour), ago(minRetention - time.Second), true, true, false},
	} {
		id := newSlotID(0)
		included := []slotID{}
		slots := []slot{{id: id, at: test.at, frozen: test.frozen}}
		if test.included {
			included = append(included, id)
		}
		if test.crowd {
			for range crowd + 1 {
				other := newSlotID(0)
				included = append(included, other)
				slots = append(slots, slot{id: other, at: now.UnixMilli(), frozen: now.UnixMilli()})
			}
		}
		c := &Counter{options: Options{Retention: 24 * time.Hour}}
		got := c.old(reading{slots: slots, base: base{included: setOf(included)}}, now)
		if slices.Contains(got, id) != test.want || len(got) > 1 {
			t.Errorf("%s: %d slots are old, want this one to be: %t", test.name, len(got), test.want)
		}
	}
}
