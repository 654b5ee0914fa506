package heat

import (
	"fmt"
	"math"
	"slices"
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

func patternsOf(keys ...string) map[string]int64 {
	p := newPatternTable()
	for _, key := range keys {
		p.count(p.take([]byte(key), xxhash.Sum64String(key), 0, false), 1)
	}
	got := make(map[string]int64)
	for _, pattern := range p.report(Write, false, 0).patterns {
		got[pattern.Shape] = pattern.Distinct.Keys
	}
	return got
}

// A few words are the values of one set. Many with everything else alike are names.
func TestPatternsCountKeys(t *testing.T) {
	var keys []string
	for i := range 3000 {
		keys = append(keys, fmt.Sprint("USER#", i))
	}
	for i := range 40 {
		keys = append(keys, "TENANT#"+string(rune('A'+i%26))+string(rune('A'+i/26))+"#2026-01")
	}
	keys = append(keys, "STATUS#ACTIVE", "STATUS#BANNED", "OPS_LOG", "OPS_LOG")
	got := patternsOf(keys...)
	if len(got) != 4 || got["STATUS#{value}"] != 2 || got["OPS_LOG"] != 1 {
		t.Errorf("got %v", got)
	}
	if n := got["TENANT#{id}#{month}"]; n < 35 || n > 45 {
		t.Errorf("%d tenants, want about 40", n)
	}
	if n := got["USER#{n}"]; n < 2400 || n > 3600 {
		t.Errorf("%d users, want about 3000", n)
	}
}

// The values of a set are reported with what each of them took.
func TestPatternValues(t *testing.T) {
	p := newPatternTable()
	for word, units := range map[string]float64{"ACTIVE": 85, "BANNED": 10, "NEW": 5} {
		key := "STATUS#" + word
		p.count(p.take([]byte(key), xxhash.Sum64String(key), 0, false), units)
	}
	got := p.report(Write, true, 0).patterns
	want := []PatternValue{
		{Value: "ACTIVE", Key: "STATUS#ACTIVE", Writes: 85}, {Value: "BANNED", Key: "STATUS#BANNED", Writes: 10}, {Value: "NEW", Key: "STATUS#NEW", Writes: 5},
	}
	if len(got) != 1 || got[0].Writes != 100 || got[0].Distinct.Keys != 3 || !slices.Equal(got[0].Values, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Leaves that become one keep what they have counted, below and above the number that is exact.
func TestTallyMerges(t *testing.T) {
	tallyOf := func(from, to int) *tally {
		var t tally
		for i := from; i < to; i++ {
			t.add(xxhash.Sum64String(fmt.Sprint(i)))
		}
		return &t
	}
	for _, test := range []struct{ from, to, from2, to2, want int }{
		{0, 3, 2, 6, 6}, {0, 8, 0, 8, 8}, {0, 8, 8, 9, 9}, {0, 100, 50, 52, 100}, {0, 2, 0, 100, 100}, {0, 90, 30, 120, 120}, {0, 0, 0, 0, 0},
	} {
		sum := tallyOf(test.from, test.to)
		sum.merge(tallyOf(test.from2, test.to2))
		n, err := sum.count()
		if off := math.Abs(float64(n - int64(test.want))); off > 3*err*float64(test.want) {
			t.Errorf("%+v: got %d, error %.3f", test, n, err)
		}
		if want := map[bool]float64{false: 0, true: 0.065}[test.want > fewKeys]; err != want {
			t.Errorf("%+v: a relative error of %v, want %v", test, err, want)
		}
	}
}
