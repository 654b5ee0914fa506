package heat

import (
	"cmp"
	"slices"
	"strings"
)

// Sharded is what was seen of a layout that a source was told of, or of keys that say themselves that they are shards.
// What is counted are requests in a Flow, items in a Stored.
type Sharded struct {
	Layout Layout `json:"layout"`
	Count  int64  `json:"count"` // in shards that readers of the layout ask for; of requests, those that were served

	// Stray counts what is in keys that end like a shard, but that readers of the layout do not ask for: they miss it.
	// Strays are some of these keys, 50 at most, those of most first; StrayKeys is how many there are.
	Stray     int64    `json:"stray,omitempty"`
	StrayKeys Distinct `json:"strayKeys,omitzero"`
	Strays    []Stray  `json:"strays,omitempty"`

	// Bare counts what is in keys without a shard, where readers ask for numbered shards only and numbered shards of the
	// same key were seen as well: they miss it. Bares are some of these keys, 50 at most, those of most first, and BareKeys
	// is how many there are. Of more than 1,024 keys without a shard the heaviest are looked at, and of more than 8,192
	// sharded keys some.
	Bare     int64    `json:"bare,omitempty"`
	BareKeys Distinct `json:"bareKeys,omitzero"`
	Bares    []Stray  `json:"bares,omitempty"`

	// Keys are some of the keys that are sharded, each with its bucket: all if there are few, else 64 of them at random.
	Keys []KeyShards `json:"keys,omitempty"`
}

// Stray is a shard that readers do not ask for.
type Stray struct {
	Key    string `json:"key"`    // as it is stored
	Number string `json:"number"` // of the shard, as the key has it; none of a bare key
	Count  int64  `json:"count"`
}

// KeyShards is how a key is spread over its shards.
type KeyShards struct {
	Key     string `json:"key"`     // without the shard, but with its bucket
	Shards  int    `json:"shards"`  // that it should be spread over
	Seen    int    `json:"seen"`    // of these, those that have something
	Count   int64  `json:"count"`   // in all shards, at most
	Fullest string `json:"fullest"` // the fullest shard, as it is stored
	Most    int64  `json:"most"`    // in the fullest shard, at least

	// Grown is how many shards the key seems to have had before: so many of the first have about as much each, and those
	// after them less. 0: it does not look like that.
	Grown int `json:"grown,omitempty"`

	// Items is about how many different items were touched in the fullest shard, OtherItems in the others on average; 0
	// if nobody knows. Above 200 they mean "many".
	Items      int64   `json:"items,omitempty"`
	OtherItems float64 `json:"otherItems,omitempty"`
}

const (
	mostStrays  = 50      // keys that are named
	mostSpreads = 64      // keys whose shards are counted
	mostCells   = 1 << 13 // shards of these, unless there is only one such key
)

// Fold adds what the keys that a report lists show of layouts, where its source was not told of them: of Contributor
// Insights, or of a report that was kept. Keys that are not listed may be anywhere: an uneven key is not found where that
// would matter. Call it before Redact. The error says what is wrong with the layouts.
func (r *Report) Fold(layouts ...Layout) error {
	if err := validateLayouts(layouts); err != nil {
		return err
	}
	for i := range r.Resources {
		resource := &r.Resources[i]
		for _, d := range [...]Direction{Read, Write} {
			if f := resource.Flow(d); len(f.Sharded) == 0 {
				f.Sharded = foldFlow(f, newShardBook(layouts, resource.Resource, false))
			}
		}
		if s := resource.Stored; s != nil && len(s.Sharded) == 0 {
			s.Sharded = foldStored(s, newShardBook(layouts, resource.Resource, true))
		}
	}
	return nil
}

// foldFlow returns what the listed keys of a flow show.
func foldFlow(f *Flow, book *shardBook) []Sharded {
	if book == nil {
		return nil
	}
	rest := max(0, f.Requests-f.Throttled)
	for i := range f.Keys {
		k := &f.Keys[i]
		served, refused := max(0, k.Requests-k.Throttled), max(0, k.Throttled)
		book.add([]byte(k.Key), shardTouch{count: served, refused: refused, distinct: k.Items}, nil)
		rest -= min(rest, served)
	}
	return book.report(rest)
}

// foldStored returns what the listed keys of a table show.
func foldStored(s *Stored, book *shardBook) []Sharded {
	if book == nil {
		return nil
	}
	rest := max(0, s.Items)
	for i := range s.Keys {
		k := &s.Keys[i]
		low := max(0, k.Low)
		book.add([]byte(k.Key), shardTouch{count: low}, nil)
		rest -= min(rest, low)
	}
	return book.report(rest)
}

// selfTold are layouts whose shards say themselves that they are shards. How many a key has is told by the highest.
var selfTold = []Layout{
	{Shards: mostShards, Widths: true},
	{Shards: mostShards, Widths: true, Prefix: shardHashPrefix},
}

// compareStrays orders strays, those of most first.
func compareStrays(a, b Stray) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
}

// redact replaces the keys.
func (s *Sharded) redact(redact func(dst, key []byte) []byte) {
	hide := func(key *string) { *key = string(redact(nil, []byte(*key))) }
	s.Strays, s.Bares, s.Keys = slices.Clone(s.Strays), slices.Clone(s.Bares), slices.Clone(s.Keys)
	for i := range s.Strays {
		hide(&s.Strays[i].Key)
	}
	for i := range s.Bares {
		hide(&s.Bares[i].Key)
	}
	for i := range s.Keys {
		hide(&s.Keys[i].Key)
		hide(&s.Keys[i].Fullest)
	}
}
