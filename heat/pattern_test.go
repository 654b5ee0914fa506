package heat

import (
	"fmt"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Of far more keys than the sketch keeps, patterns still tell how many there are and what they took: most of them are
// known by a sample, whose error the report states.
func TestPatternsOfKeysThatAreNotKept(t *testing.T) {
	options := Options{}.withDefaults()
	f := newFlow(&options)
	now := int64(1e18)
	touchKey := func(key string, units float64) {
		now += 100_000 // ten thousand a second
		text := []byte(key)
		f.add(now, &touch{key: text, hash: xxhash.Sum64(text), units: units, attempts: 1}, nil)
	}
	const users, sessions = 50_000, 10_000
	for round := range 3 {
		for i := range users {
			touchKey(fmt.Sprintf("USER#%d", i), 1)
			if i%5 == 0 {
				touchKey(fmt.Sprintf("SESSION#%08x-%d", i*2654435761, round), 2)
			}
			if i%10 == 0 {
				touchKey("STATUS#ACTIVE", 1)
			}
		}
	}
	_, patterns := f.report(now, 10, Write)
	want := map[string]Pattern{
		"USER#{n}":      {Distinct: Distinct{Keys: users}, Writes: 3 * users},
		"SESSION#{id}":  {Distinct: Distinct{Keys: 3 * sessions}, Writes: 3 * 2 * sessions},
		"STATUS#ACTIVE": {Distinct: Distinct{Keys: 1}, Writes: 3 * users / 10},
	}
	for _, got := range patterns {
		want, ok := want[got.Shape]
		if !ok {
			t.Errorf("pattern %q", got.Shape)
			continue
		}
		if off := math.Abs(float64(got.Distinct.Keys)/float64(want.Distinct.Keys) - 1); off > 4*got.Distinct.Error {
			t.Errorf("%s has %d keys, want %d: off by %.3f, error %.3f", got.Shape, got.Distinct.Keys, want.Distinct.Keys, off, got.Distinct.Error)
		}
		if off := math.Abs(got.Writes/want.Writes - 1); off > 0.1 {
			t.Errorf("%s took %g, want %g", got.Shape, got.Writes, want.Writes)
		}
	}
	if len(patterns) != len(want) {
		t.Errorf("%d patterns, want %d", len(patterns), len(want))
	}
}

// A key that comes when the sketch is full is one key, whether it is in the sample or not, and its units count once, also
// those from before it was looked at.
func TestPatternOfALateKey(t *testing.T) {
	options := Options{Entries: 64}.withDefaults()
	f := newFlow(&options)
	now := int64(1e18)
	touchKey := func(key string, hash uint64, units float64) {
		now += int64(1e6)
		f.add(now, &touch{key: []byte(key), hash: hash, units: units, attempts: 1}, nil)
	}
	for i := range 1000 {
		key := fmt.Sprintf("USER#%d", i)
		touchKey(key, xxhash.Sum64String(key), 1)
	}
	for range 10 {
		touchKey("COUNTER", 8<<32|7, 40) // in the sample
		touchKey("GLOBAL", 9<<32|7, 40)  // not
	}
	_, patterns := f.report(now, 10, Write)
	for _, p := range patterns {
		if p.Shape == "COUNTER" || p.Shape == "GLOBAL" {
			if p.Distinct.Keys != 1 || p.Writes != 400 {
				t.Errorf("%s has %d keys that took %g units, want 1 and 400", p.Shape, p.Distinct.Keys, p.Writes)
			}
		}
	}
	if len(patterns) != 3 {
		t.Errorf("got %+v", patterns)
	}
}
