package move

import (
	"maps"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// scope is what a move is limited to, if it does not move all keys: single keys, and those that begin with some prefix. It may have keys
// that stay where they are, such as one with its own number of shards under a prefix.
type scope struct {
	keys, prefixes []string

	partition string                // the attribute of the partition key
	in        []passage.Arrangement // they tell which logical key a stored one is of
}

// newScope returns what a move between two arrangements is limited to, nil if that is nothing: then it moves all keys.
func newScope(partition string, a, b passage.Arrangement) *scope {
	none := func(a passage.Arrangement) layout.Layout { return passage.Arrangement{Layout: a.Layout}.For("") }
	if a.Table != b.Table || !samePlaces(none(a), none(b)) {
		return nil
	}
	s := &scope{partition: partition, in: []passage.Arrangement{a, b}}
	s.keys = slices.DeleteFunc(union(a.Widths, b.Widths), func(key string) bool { return samePlaces(a.For(key), b.For(key)) })
	// The longer one of the prefixes that count for a key before and after differs between the two, if the key moves.
	s.prefixes = slices.DeleteFunc(union(a.Prefixes, b.Prefixes), func(prefix string) bool { return samePlaces(a.Under(prefix), b.Under(prefix)) })
	return s
}

// union returns the names that two maps have, in order.
func union(a, b map[string]int) []string {
	return slices.Sorted(maps.Keys(merged(a, b)))
}

// merged returns what two maps have. The second one counts where both have something.
func merged(a, b map[string]int) map[string]int {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]int{}
	}
	maps.Copy(all, b)
	return all
}

// empty reports whether no key moves.
func (s *scope) empty() bool { return len(s.keys)+len(s.prefixes) == 0 }

// named reports whether a logical key is one of the scope.
func (s *scope) named(key string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	return slices.Contains(s.keys, key) || slices.ContainsFunc(s.prefixes, begins)
}

// has reports whether a stored item is one of the scope, by its logical key. One that no arrangement explains is, if its stored key looks like
// it. A nil scope has all items.
func (s *scope) has(item place.Item) bool {
	if s == nil {
		return true
	}
	stored := storedKey(item, s.partition)
	for _, a := range s.in {
		if key, err := keyIn(a, stored); err == nil {
			return s.named(key)
		}
	}
	return s.named(stored)
}

// samePlaces reports whether two layouts put each item of a key into the same place, and refuse the same keys.
func samePlaces(x, y layout.Layout) bool {
	x.Format, y.Format = x.Format.WithDefaults(), y.Format.WithDefaults()
	bare := func(l layout.Layout) bool { return l.Shards == 0 || l.Shards == 1 && l.Format.BareZero }
	if bare(x) && bare(y) { // keys are stored as they are
		x.Shards, y.Shards, x.Hash, y.Hash = 0, 0, 0, 0
		x.Format.BareZero, y.Format.BareZero = false, false
	}
	return x == y
}
