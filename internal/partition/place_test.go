package partition

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawBound(t *rapid.T, label string) bound {
	hash := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(math.MaxUint64-3, math.MaxUint64), rapid.Uint64()).Draw(t, label)
	return bound{hash, rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 4).Draw(t, label+" rest")}
}

func TestBoundsOrderAsPlacesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawBound(t, "a"), drawBound(t, "b")
		place := func(b bound) []byte { return append(binary.BigEndian.AppendUint64(nil, b.hash), b.rest...) }
		if got, want := a.compare(b), bytes.Compare(place(a), place(b)); got != want {
			t.Errorf("%v and %v: got %d, want %d", a, b, got, want)
		}
		if back := boundOf(a.place()); back.compare(a) != 0 {
			t.Errorf("%v became %v", a, back)
		}
	})
}

func TestShortPlace(t *testing.T) {
	for _, c := range []struct {
		place []byte
		want  uint64
	}{{nil, 0}, {[]byte{1}, 1 << 56}, {[]byte{0, 0, 0, 0, 0, 0, 2}, 512}} {
		if got := boundOf(c.place); got.hash != c.want || len(got.rest) > 0 {
			t.Errorf("%v: got %v, want hash %d", c.place, got, c.want)
		}
	}
}

func TestBorderIsBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, right := drawBound(t, "left"), drawBound(t, "right")
		if left.compare(right) >= 0 {
			t.Skip("not in order")
		}
		b := border(left, right)
		if left.compare(b) >= 0 || b.compare(right) > 0 {
			t.Errorf("between %v and %v: got %v", left, right, b)
		}
		if left.hash != right.hash && len(b.rest) > 0 {
			t.Errorf("between two collections: got %v, want a hash alone", b)
		}
	})
}

func TestMiddle(t *testing.T) {
	const end = math.MaxUint64
	x := []byte("x")
	for _, c := range []struct {
		name         string
		lower, upper bound
		last         bool
		want         uint64
		ok           bool
	}{
		{"everything", bound{}, bound{}, true, 1 << 63, true},
		{"upper half", bound{hash: 1 << 63}, bound{}, true, 3 << 62, true},
		{"lower half", bound{}, bound{hash: 1 << 63}, false, 1 << 62, true},
		{"one hash", bound{hash: 5}, bound{hash: 6}, false, 0, false},
		{"two hashes", bound{hash: 5}, bound{hash: 7}, false, 6, true},
		{"last hash", bound{hash: end}, bound{}, true, 0, false},
		{"last two hashes", bound{hash: end - 1}, bound{}, true, end, true},
		{"within a collection", bound{5, x}, bound{5, []byte("y")}, false, 0, false},
		{"rest of a collection", bound{5, x}, bound{hash: 6}, false, 0, false},
		{"rest of a collection and another", bound{5, x}, bound{hash: 7}, false, 6, true},
		{"a collection and part of another", bound{hash: 5}, bound{6, x}, false, 6, true},
		{"rest of the last collection", bound{end, x}, bound{}, true, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := middle(c.lower, c.upper, c.last)
			if ok != c.ok || got.hash != c.want || len(got.rest) > 0 {
				t.Errorf("got %v, %v, want %d, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
