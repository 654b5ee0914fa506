package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// judge decides of the items of one collection whether a layout in force explains where they are.
type judge struct {
	of      *collection // nil if somebody has told the layout
	name    string      // for people
	schemas []*place.Schema
	home    func(item place.Item) (string, bool) // the only shard key that an item may have; nil: any of its shards will do

	listed    int64            // items
	sharded   keySet           // logical keys that have a numbered shard
	beyond    map[string]stray // by logical key: items in shards that nobody reads
	misplaced stray            // items in another shard than their id says
	foreign   map[string]int64 // by stored key: items that no layout explains
	spots     map[spot]int64   // items of keys with ledgers, in other shards than the first
	full      bool             // there were more keys than are kept
}

// logical is a key in one bucket.
type logical struct {
	key    string
	bucket time.Time
}

// spot is a shard of a key.
type spot struct {
	logical
	shard int
}

// stray is how many items are somewhere, the largest shard that has one, and one of their keys.
type stray struct {
	items   int64
	shard   int
	example string
}

func (s stray) with(shard int, key string) stray {
	s.items++
	if s.example == "" || shard > s.shard {
		s.shard, s.example = shard, key
	}
	return s
}

// maxKept bounds how many keys are kept of each kind.
const maxKept = 100_000

type keySet map[string]struct{}

// judges returns one for each collection of the table whose layout is known.
func (v *visit) judges() (all []*judge) {
	for _, c := range v.collections {
		if c.passage != nil && (c.passage.Seat != passage.Here || c.passage.Now.Table != "") {
			continue // its items are in another table
		}
		all = append(all, c.judge())
	}
	if len(v.collections) > 0 {
		return all
	}
	hash, sort := v.keyNames()
	for index, told := range v.options.Layouts {
		s := place.Schema{Keys: place.Keys{PartitionKey: hash, SortKey: sort}, Spread: place.Spread{Layout: told.Layout}}
		if index != "" {
			s.Keys = place.Keys{Index: index, TableKey: slices.DeleteFunc([]string{hash, sort}, func(name string) bool { return name == "" })}
			s.PartitionKey, s.SortKey = v.indexKeys(index)
		}
		if told.Unsharded {
			s.Older = []layout.Layout{{}}
		}
		name := "the layout of --shards"
		if index != "" {
			name += " in index " + index
		}
		all = append(all, newJudge(nil, name, place.New(s)))
	}
	slices.SortFunc(all, func(a, b *judge) int { return strings.Compare(a.name, b.name) })
	return all
}

func newJudge(of *collection, name string, schemas ...*place.Schema) *judge {
	return &judge{of: of, name: name, schemas: schemas, sharded: keySet{}, beyond: map[string]stray{}, foreign: map[string]int64{}, spots: map[spot]int64{}}
}

// judge returns the judge of a collection.
func (c *collection) judge() *judge {
	name := "collection " + c.name
	if r := c.passage; r != nil {
		now := c.schemaOf(place.Spread{Layout: r.Now.Layout, Widths: widthsOf(r.Now)}, r.Now.Clock)
		if r.Next != nil {
			return newJudge(c, name, now, c.schemaOf(place.Spread{Layout: r.Next.Layout, Widths: widthsOf(*r.Next)}, r.Next.Clock))
		}
		j := newJudge(c, name, now)
		if !r.List() {
			j.home = func(item place.Item) (string, bool) {
				key := item[now.PartitionKey].(*types.AttributeValueMemberS).Value // as Decode has it
				home, err := now.HomeIn(r.Now.For(key), item)
				return home.ShardKey, err == nil
			}
		}
		return j
	}
	spread := place.Spread{Layout: c.charter.Layout, Older: c.charter.Older}
	if c.charter.Widths != charter.Fixed {
		spread.Widths = layout.Width{Write: layout.MaxShards, Read: layout.MaxShards} // ledgers are asked later
	}
	schema := c.schemaOf(spread, 0)
	j := newJudge(c, name, schema)
	if c.charter.Widths == charter.Fixed && c.charter.Layout.Strategy == layout.Calculated && len(c.charter.Older) == 0 && c.charter.Index.ShardAttribute == "" {
		j.home = func(item place.Item) (string, bool) {
			homes, err := schema.Homes(context.Background(), item, false) // sends nothing
			if err != nil || len(homes) != 1 {
				return "", false
			}
			return homes[0].ShardKey, true
		}
	}
	return j
}

// widthsOf returns the widths of an arrangement, nil if all keys have the same.
func widthsOf(a passage.Arrangement) layout.Widths {
	if a.Varies() {
		return a
	}
	return nil
}

// schemaOf returns where items of the collection are with a layout. clock is how the sort keys of a movable collection hold times.
func (c *collection) schemaOf(spread place.Spread, clock place.TimeUnit) *place.Schema {
	s := place.Schema{
		Keys:   place.Keys{PartitionKey: c.charter.PartitionKey, SortKey: c.charter.SortKey, Stamped: c.adaptive()},
		Spread: spread, ShardBy: c.charter.ShardBy,
	}
	if index := c.charter.Index; index.Name != "" {
		table := []string{c.charter.PartitionKey}
		if c.charter.SortKey != "" {
			table = append(table, c.charter.SortKey)
		}
		s.Keys = place.Keys{
			PartitionKey: index.PartitionKey, SortKey: index.SortKey, Index: index.Name, TableKey: table,
			ShardAttribute: index.ShardAttribute, Stamped: c.adaptive(),
		}
	}
	if t := c.charter.EventTime; t != (charter.EventTime{}) {
		units := map[string]place.TimeUnit{charter.UnixSeconds: place.UnixSeconds, charter.UnixMilliseconds: place.UnixMilliseconds}
		s.EventTime = place.EventTime{Attribute: t.Attribute, Unit: units[t.Unit]}
	}
	if c.charter.Movable {
		return place.New(s).Timed(clock)
	}
	return place.New(s)
}

// see judges an item.
func (j *judge) see(ctx context.Context, item place.Item) {
	first := j.schemas[0]
	if !first.Listed(item) {
		return
	}
	stored, ok := item[first.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return // the schema's check says so
	}
	j.listed++
	var narrow *layout.Place
	for _, s := range j.schemas {
		plain, at, err := s.Decode(ctx, item)
		switch {
		case err == nil:
			j.explained(stored.Value, plain, at)
			return
		case errors.Is(err, place.ErrTooNarrow):
			narrow = &at
		}
	}
	if narrow != nil {
		if _, known := j.beyond[narrow.Key]; known || j.room(len(j.beyond)) {
			j.beyond[narrow.Key] = j.beyond[narrow.Key].with(narrow.Shard, stored.Value)
		}
		return
	}
	if _, known := j.foreign[stored.Value]; known || j.room(len(j.foreign)) {
		j.foreign[stored.Value]++
	}
}

// explained takes an item that a layout explains.
func (j *judge) explained(stored string, item place.Item, at layout.Place) {
	if _, known := j.sharded[at.Key]; stored != at.Key && !known && j.room(len(j.sharded)) {
		j.sharded[at.Key] = struct{}{}
	}
	if j.of != nil && j.of.adaptive() && at.Shard > 0 {
		k := spot{logical{at.Key, at.Bucket}, at.Shard}
		if _, known := j.spots[k]; known || j.room(len(j.spots)) {
			j.spots[k]++
		}
	}
	if j.home == nil {
		return
	}
	if home, ok := j.home(item); ok && home != stored {
		j.misplaced = j.misplaced.with(at.Shard, stored)
	}
}

// index reports whether the layout is that of an index.
func (j *judge) index() bool { return len(j.schemas) > 0 && j.schemas[0].Index != "" }

// room reports whether another key is kept.
func (j *judge) room(kept int) bool {
	if kept >= maxKept {
		j.full = true
	}
	return kept < maxKept
}

// bare returns the keys that are stored as they are, and have shards as well. Nobody who reads the shards reads them.
func (j *judge) bare() (keys []string, items int64) {
	for key, n := range j.foreign {
		if _, sharded := j.sharded[key]; sharded {
			keys, items = append(keys, key), items+n
		}
	}
	slices.Sort(keys)
	return keys, items
}

// lookalikes returns the keys that end like a shard in another spelling, and how many other keys no layout explains.
func (j *judge) lookalikes() (keys []string, items, others int64) {
	for key, n := range j.foreign {
		if _, sharded := j.sharded[key]; sharded {
			continue
		}
		if _, ok := layout.ShardNumber(key); ok {
			keys, items = append(keys, key), items+n
		} else {
			others += n
		}
	}
	slices.Sort(keys)
	return keys, items, others
}
