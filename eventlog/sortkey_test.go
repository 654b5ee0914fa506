package eventlog

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSortKeys(t *testing.T) {
	at := time.Date(2026, 6, 22, 3, 0, 0, 123456789, time.FixedZone("", 2*3600))
	for _, c := range []struct {
		prefix    string
		precision time.Duration
		id, want  string
	}{
		{"", time.Second, "threat_detector", "2026-06-22T01:00:00Z#threat_detector"},
		{"", time.Millisecond, "user-1", "2026-06-22T01:00:00.123Z#user-1"},
		{"ALERT#", time.Microsecond, "a#b", "ALERT#2026-06-22T01:00:00.123456Z#a#b"},
		{"ü", time.Nanosecond, "", "ü2026-06-22T01:00:00.123456789Z#"},
	} {
		s := newStamps(c.prefix, c.precision)
		key := s.key(s.floor(at), c.id)
		if key != c.want {
			t.Errorf("got %q, want %q", key, c.want)
		}
		got, id, err := s.parse(key)
		if err != nil || id != c.id || !got.Equal(at.Truncate(c.precision)) || got.Location() != time.UTC {
			t.Errorf("%q: parsed %v, %q, %v", key, got, id, err)
		}
	}
	s := newStamps("ALERT#", time.Second)
	for key, want := range map[string]string{
		"ALERT#2026-06-22T01:00:00Z":             "2026-06-22T01:00:00Z #",
		"ALERT#2026-06-22T01:00:00.5Z#x":         "2026-06-22T01:00:00.5Z #x",
		"ALERT#2026-06-22T01:00:00+02:00#x":      "2026-06-21T23:00:00Z #x",
		"2026-06-22T01:00:00Z#x":                 "does not begin with",
		"ALERT#":                                 "has no time",
		"ALERT#2026-06-22#x":                     "has no time",
		"ALERT#\xff":                             "has no time",
		"ALERT#2026-06-22T01:00:00Z \U0010FFFF#": "has no time",
	} {
		at, id, err := s.parse(key)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", key, err, want)
		}
		if got := at.Format(time.RFC3339Nano) + " #" + id; err == nil && got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
}

// A key that is not one of an event tells its day at least, so that reading can go on behind it.
func TestNotAfter(t *testing.T) {
	s := newStamps("ALERT#", time.Second)
	for key, want := range map[string]string{
		"ALERT#2026-06-22T01:00:00Z#x": "2026-06-22T01:00:00Z",
		"ALERT#2026-06-22T01:xx#x":     "2026-06-22T00:00:00Z",
		"ALERT#2026-06-22":             "2026-06-22T00:00:00Z",
		"ALERT#2026":                   "",
		"":                             "",
	} {
		at, err := s.notAfter(key)
		if got := at.Format(time.RFC3339); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: got %s, %v, want %q", key, got, err, want)
		}
	}
}

// The order of keys is that of times and then of ids; a bound is before all keys of its time and after all others; and
// nothing is between a bound and what is before it. Keys may have any number of digits.
func TestSortKeysAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		precision := rapid.SampledFrom([]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}).Draw(t, "precision")
		s := newStamps(rapid.SampledFrom([]string{"", "ALERT#", "Z"}).Draw(t, "prefix"), precision)
		draw := func(name string) time.Time {
			near := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, name)) * precision)
			return rapid.SampledFrom([]time.Time{near, firstTime, lastTime.Add(-1), near.AddDate(1, 0, 0)}).Draw(t, "time")
		}
		a, b := s.floor(draw("a")), s.floor(draw("b"))
		id := rapid.StringN(1, 8, -1)
		idA, idB := id.Draw(t, "id a"), id.Draw(t, "id b")
		want := cmp.Or(a.Compare(b), strings.Compare(idA, idB))
		if got := strings.Compare(s.key(a, idA), s.key(b, idB)); got != want {
			t.Fatalf("%q and %q compare as %d, want %d", s.key(a, idA), s.key(b, idB), got, want)
		}
		if isBefore := s.key(a, idA) < s.bound(b); isBefore != a.Before(b) {
			t.Fatalf("%q is before %q: %v", s.key(a, idA), s.bound(b), isBefore)
		}
		for _, key := range []string{s.key(a, idA), s.bound(a), s.prefix + a.Format(time.RFC3339), s.prefix + a.Format(time.RFC3339Nano) + "#x"} {
			if key < s.bound(b) != (key <= before(s.bound(b))) {
				t.Fatalf("%q is between %q and %q", key, before(s.bound(b)), s.bound(b))
			}
			if key <= s.bound(time.Time{}) {
				t.Fatalf("%q is not after %q", key, s.bound(time.Time{}))
			}
		}
	})
}

func TestFloorAndCeil(t *testing.T) {
	s := newStamps("", time.Millisecond)
	at := time.Date(2026, 6, 22, 1, 0, 0, int(5*time.Millisecond), time.UTC)
	for _, c := range []struct{ at, floor, ceil time.Time }{
		{at, at, at},
		{at.Add(1), at, at.Add(time.Millisecond)},
		{at.Add(-1), at.Add(-time.Millisecond), at},
	} {
		if !s.floor(c.at).Equal(c.floor) || !s.ceil(c.at).Equal(c.ceil) {
			t.Errorf("%v: got %v and %v", c.at, s.floor(c.at), s.ceil(c.at))
		}
	}
}

// Ids of one process count up, so that events of the same time keep their order; those of two are never the same.
func TestIDs(t *testing.T) {
	a, b := newIDs(), newIDs()
	var ids []string
	for range 2000 {
		ids = append(ids, a.id())
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 2000 {
		t.Error("ids are not in order, or not unique")
	}
	if id := b.id(); slices.Contains(ids, id) || len(id) != len(ids[0]) {
		t.Errorf("another's id is %q, like %q", id, ids[0])
	}
	a.next.Store(1<<35 - 1)
	if last, first := a.id(), a.id(); last[:7] != "vvvvvvv" || first[:7] != "0000000" {
		t.Errorf("at the end of the digits: %q, %q", last, first)
	}
}
