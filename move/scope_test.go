package move

import (
	"slices"
	"testing"

	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
)

// A move is limited to the keys whose places change. One that changes the places of all keys is not limited.
func TestScope(t *testing.T) {
	bare := spelt(layout.Format{BareZero: true})
	for name, test := range map[string]struct {
		a, b           passage.Arrangement
		all            bool
		keys, prefixes []string
	}{
		"more shards":                         {a: arranged(4), b: arranged(8), all: true},
		"one shard with its number":           {a: arranged(0), b: arranged(1), all: true},
		"one shard, bare from now on":         {a: arranged(1), b: arranged(1, bare), all: true},
		"another table":                       {a: arranged(4), b: arranged(4, func(a *passage.Arrangement) { a.Table = "other" }), all: true},
		"one bare shard":                      {a: arranged(0), b: arranged(1, bare)},
		"bare keys, also of one shard":        {a: arranged(0), b: arranged(0, bare)},
		"one bare shard, and a wide key":      {a: arranged(1, bare), b: arranged(0, wide("HOT", 8)), keys: []string{"HOT"}},
		"a key with the width that it had":    {a: arranged(4, bare), b: arranged(4, wide("HOT", 4), wide("B", 2)), keys: []string{"B"}},
		"a prefix, and a key that stays":      {a: arranged(0), b: arranged(0, begins("P#", 8), wide("P#cold", 1)), prefixes: []string{"P#"}},
		"a prefix of one shard says nothing":  {a: arranged(0), b: arranged(0, begins("P#", 1))},
		"a prefix that gives way to a longer": {a: arranged(0, begins("P#", 8)), b: arranged(0, begins("P#", 8), begins("P#2026", 4)), prefixes: []string{"P#2026"}},
	} {
		for _, way := range [][2]passage.Arrangement{{test.a, test.b}, {test.b, test.a}} {
			s := newScope("pk", way[0], way[1])
			if (s == nil) != test.all || s != nil && (!slices.Equal(s.keys, test.keys) || !slices.Equal(s.prefixes, test.prefixes)) {
				t.Errorf("%s, from %v to %v: got %+v", name, way[0], way[1], s)
			}
		}
	}
}

// A scope has the items of its keys, wherever they are stored, and those that no arrangement explains if they look like them.
func TestScopeHas(t *testing.T) {
	s := newScope("pk", arranged(0), arranged(0, wide("HOT", 8), begins("P#", 8)))
	for stores, want := range map[string]bool{
		"HOT":                 true,
		"HOT#SHARD_3":         true,
		"HOTTER":              false,
		"HOTTER#SHARD_3":      false,
		"P#1":                 true,
		"P#1#SHARD_7":         true,
		"P":                   false,
		"P#SHARD_7":           false, // a shard of the key P
		"P#1#SHARD_1#SHARD_2": true,  // no key may be spelt like it
		"Q#1#SHARD_1#SHARD_2": false,
	} {
		if got := s.has(stored(stores, "a")); got != want {
			t.Errorf("%s: got %v, want %v", stores, got, want)
		}
		if all := (*scope)(nil); !all.has(stored(stores, "a")) {
			t.Errorf("a move of all keys lacks %s", stores)
		}
	}
}
