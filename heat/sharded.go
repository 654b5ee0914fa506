package heat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/layout"
)

// Sharded is the shards of one layout: one that the source was told, or keys that end in #SHARD_n or #SHARD#n. It counts
// requests in a Flow, and items in a Stored.
type Sharded struct {
	Layout Layout `json:"layout"`
	Count  int64  `json:"count"` // in shards that readers of the layout ask for; only served requests

	// Stray counts requests or items of keys that end like a shard, but that readers of the layout do not ask for: they
	// miss these. Strays lists up to 50 of these keys, the fullest first; StrayKeys is their number.
	Stray     int64    `json:"stray,omitempty"`
	StrayKeys Distinct `json:"strayKeys,omitzero"`
	Strays    []Stray  `json:"strays,omitempty"`

	// Bare counts requests or items of keys without a shard number, where numbered shards of the same key exist and
	// readers ask only for those: they miss the bare key. Bares lists up to 50 of these keys, the fullest first;
	// BareKeys is their number. Of more than 1,024 keys without a number only the heaviest are checked, and of more than
	// 8,192 sharded keys only some.
	Bare     int64    `json:"bare,omitempty"`
	BareKeys Distinct `json:"bareKeys,omitzero"`
	Bares    []Stray  `json:"bares,omitempty"`

	// Keys are sharded keys, each with its bucket: all if there are few, else a random sample of 64.
	Keys []KeyShards `json:"keys,omitempty"`
}

// Stray is a key that readers do not ask for.
type Stray struct {
	Key    string `json:"key"`    // as it is stored
	Number string `json:"number"` // of the shard, as the key spells it; "" for a bare key
	Count  int64  `json:"count"`
}

// KeyShards is the distribution of a key over its shards.
type KeyShards struct {
	Key     string `json:"key"`     // without the shard, but with its bucket
	Shards  int    `json:"shards"`  // the number of its shards
	Seen    int    `json:"seen"`    // shards with requests or items
	Count   int64  `json:"count"`   // in all shards, upper bound
	Fullest string `json:"fullest"` // the fullest shard, as stored
	Most    int64  `json:"most"`    // in the fullest shard, lower bound

	// Grown is the number of shards that the key seems to have had before: the first ones are about equally full, and
	// later ones hold less. 0: there is no sign of that.
	Grown int `json:"grown,omitempty"`

	// Items is the approximate number of different items in the fullest shard, OtherItems the average of the others; 0 if
	// unknown. Above 200 they mean "many".
	Items      int64   `json:"items,omitempty"`
	OtherItems float64 `json:"otherItems,omitempty"`
}

const (
	mostStrays  = 50      // keys that are named
	mostSpreads = 64      // keys whose shards are counted
	mostCells   = 1 << 13 // shards of these, unless there is only one such key
)

// Fold computes Sharded from the listed keys of a report whose source was not told the layouts, such as Contributor Insights
// or a stored report. It calls a key uneven only if that holds wherever the keys that are not listed belong. Call Fold
// before Redact. An error names all faults of the layouts.
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

// foldFlow counts the listed keys of a flow.
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

// foldStored counts the listed keys of a table.
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

// selfTold are the layouts of keys that end in #SHARD_n or #SHARD#n. The highest number gives the number of shards.
var selfTold = []Layout{
	{Layout: layout.Layout{Shards: layout.MaxShards}, Widths: true},
	{Layout: layout.Layout{Shards: layout.MaxShards, Format: layout.SharpNumber()}, Widths: true},
}

// compareStrays orders strays, the fullest first.
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
