package session

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestVersionRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := newVersion(rapid.Int64Min(0).Draw(rt, "epoch"))
		v.count = rapid.Int64Range(1, 1<<62).Draw(rt, "count")
		if got, err := parseVersion(v.String()); got != v || err != nil {
			rt.Fatalf("%v is read as %v, %v", v, got, err)
		}
		next := v.next()
		if next == v || next.write == v.write || next.count != v.count+1 || !next.sameSession(v) {
			rt.Fatalf("after %v comes %v", v, next)
		}
		if other := newVersion(v.epoch); other.sameSession(v) {
			rt.Fatalf("%v and %v are of one session", v, other)
		}
	})
	for _, text := range []string{"", "a", "a.1.1", "a.1.1.b.c", ".1.1.b", "a.1.1.", "a.x.1.b", "a.1.x.b", "a.1.99999999999999999999.b"} {
		if v, err := parseVersion(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

func TestRoundUp(t *testing.T) {
	at := time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)
	for add, want := range map[time.Duration]time.Duration{0: 0, 1: time.Second, time.Second - 1: time.Second, time.Second: time.Second, -1: 0} {
		if got := roundUp(at.Add(add)); !got.Equal(at.Add(want)) {
			t.Errorf("%v becomes %v", at.Add(add), got)
		}
	}
	if before := roundUp(time.Unix(-1, 5)); before.Unix() != 0 {
		t.Errorf("before 1970: %v", before)
	}
}
