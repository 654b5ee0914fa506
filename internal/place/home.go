package place

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// Key is what determines the shards of an item: its logical key, its bucket, and the width of the key there.
type Key struct {
	Text   string
	Bucket time.Time // the start of the bucket; the zero time without buckets
	Width  layout.Width
}

// Home is one shard of a key, where an item is or will be. An item that no index lists has none.
type Home struct {
	ShardKey string // the stored partition key
	Shard    int
}

// controlName is the one key that has shards with keys of control items.
const controlName = "_hs"

// KeyIn returns an item's key, bucket and width. Errors about the item wrap ErrItem.
func (s *Schema) KeyIn(ctx context.Context, item Item) (k Key, err error) {
	text, ok := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if !ok || text.Value == "" {
		return k, fmt.Errorf("%w: partition key %q is %s, want a non-empty string", ErrItem, s.PartitionKey, attribute.Describe(item[s.PartitionKey]))
	}
	// The shards of the prefix itself would look like control items. Keys of an index are refused as well, as queries do.
	if layout.IsControl(text.Value) || text.Value == controlName {
		return k, controlError(s.PartitionKey, text.Value)
	}
	k.Text = text.Value
	if s.Layout.Bucket != layout.NoBucket {
		at, err := s.EventTime.Of(item)
		if err != nil {
			return k, err
		}
		k.Bucket = s.Layout.Bucket.Start(at)
	}
	k.Width, err = s.Width(ctx, k.Text, k.Bucket)
	return k, err
}

// home returns a shard of a key in the collection's layout.
func (s *Schema) home(k *Key, shard int) (Home, error) {
	if s.ShardAttribute != "" {
		return Home{k.Text, shard}, nil
	}
	if s.Adaptive() {
		return homeIn(s.Layout.WithShards(k.Width.Read), k, shard)
	}
	return homeIn(s.Layout, k, shard)
}

// homeSet lists homes without repetition, in the order in which they were added.
type homeSet struct {
	homes []Home
	seen  map[string]bool // the shard keys, once there are more than fewHomes
}

// fewHomes is the number of shard keys up to which homeSet compares them one by one.
const fewHomes = 8

func (set *homeSet) add(h Home, err error) error {
	if err != nil || set.has(h.ShardKey) {
		return err
	}
	set.homes = append(set.homes, h)
	switch {
	case set.seen != nil:
		set.seen[h.ShardKey] = true
	case len(set.homes) > fewHomes:
		set.seen = make(map[string]bool, 4*fewHomes)
		for _, h := range set.homes {
			set.seen[h.ShardKey] = true
		}
	}
	return nil
}

func (set *homeSet) has(shardKey string) bool {
	if set.seen != nil {
		return set.seen[shardKey]
	}
	return slices.ContainsFunc(set.homes, func(h Home) bool { return h.ShardKey == shardKey })
}

// Homes returns the homes of an item, in the order in which Get prefers them:
//
//   - With a Calculated layout, the shard that the id determines. With Widths, the shards of all widths that the key may
//     have had: the current one first, then from wide to narrow.
//   - With a Random layout, or if every is set, all shards from 0 on.
//   - The shards of older layouts.
//   - The bare key, if a format has one. The item is there if it was written before the key had shards.
func (s *Schema) Homes(ctx context.Context, like Item, every bool) ([]Home, error) {
	k, err := s.KeyIn(ctx, like)
	if err != nil {
		return nil, err
	}
	return s.HomesAt(&k, like, every)
}

// HomesAt is Homes for a key with the width that it says.
func (s *Schema) HomesAt(k *Key, like Item, every bool) ([]Home, error) {
	var set homeSet
	var buffer [16]int // avoids an allocation for a few shards
	shards, err := s.appendOwnShards(buffer[:0], k, like, every)
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		if err := set.add(s.home(k, shard)); err != nil {
			return nil, err
		}
	}
	for i := range s.Older {
		shards, err := s.appendOlderShards(buffer[:0], &s.Older[i], like, every)
		if err != nil {
			return nil, err
		}
		for _, shard := range shards {
			if err := set.add(homeIn(s.Older[i], k, shard)); err != nil {
				return nil, err
			}
		}
	}
	if s.Layout.Format.BareZero { // last, because any other copy is newer
		if err := set.add(s.home(k, 0)); err != nil {
			return nil, err
		}
	}
	for _, older := range s.Older {
		if older.Format.BareZero {
			if err := set.add(homeIn(older, k, 0)); err != nil {
				return nil, err
			}
		}
	}
	return set.homes, nil
}

// appendOwnShards appends the shards of the collection's layout that may have an item.
func (s *Schema) appendOwnShards(shards []int, k *Key, like Item, every bool) ([]int, error) {
	if every || s.Layout.Strategy != layout.Calculated || k.Width.Read == 1 {
		return appendFirst(shards, k.Width.Read), nil
	}
	id, err := idOf(like, s.ShardBy)
	if err != nil {
		return nil, err
	}
	if !s.Adaptive() {
		return append(shards, s.Layout.Shard(id)), nil
	}
	shards = append(shards, s.Layout.WithShards(k.Width.Write).Shard(id))
	for n := k.Width.Read; n > 0; n /= 2 {
		shards = append(shards, s.Layout.WithShards(n).Shard(id))
	}
	return shards, nil
}

// appendOlderShards appends the shards of an older layout that may have an item.
func (s *Schema) appendOlderShards(shards []int, older *layout.Layout, like Item, every bool) ([]int, error) {
	if every || older.Strategy != layout.Calculated || older.Shards < 2 {
		return appendFirst(shards, max(older.Shards, 1)), nil
	}
	id, err := idOf(like, s.ShardBy)
	if err != nil {
		return nil, err
	}
	return append(shards, older.Shard(id)), nil
}

// appendFirst appends the numbers below n.
func appendFirst(shards []int, n int) []int {
	for shard := range n {
		shards = append(shards, shard)
	}
	return shards
}

// HomeIn returns the only home of an item in a Calculated layout that is given, whatever layout the collection has. like has the
// logical key. The bucket follows from the sort key: see TimeUnit.Ordered.
func (s *Schema) HomeIn(l layout.Layout, like Item) (Home, error) {
	text, ok := like[s.PartitionKey].(*types.AttributeValueMemberS)
	if !ok || text.Value == "" {
		return Home{}, fmt.Errorf("%w: partition key %q is %s, want a non-empty string", ErrItem, s.PartitionKey, attribute.Describe(like[s.PartitionKey]))
	}
	k, shard := Key{Text: text.Value}, 0
	if l.Shards > 1 {
		id, err := idOf(like, s.ShardBy)
		if err != nil {
			return Home{}, err
		}
		shard = l.Shard(id)
	}
	if l.Bucket != layout.NoBucket {
		var err error
		if k.Bucket, err = s.orderedTime(like); err != nil {
			return Home{}, err
		}
	}
	return homeIn(l, &k, shard)
}

// orderedTime returns the time that an item's sort key holds. Strings are in another order than the numbers in them.
func (s *Schema) orderedTime(like Item) (time.Time, error) {
	switch v := like[s.SortKey].(type) {
	case *types.AttributeValueMemberS:
		if s.EventTime.Unit == RFC3339 {
			return s.EventTime.Unit.Ordered(v.Value)
		}
		return time.Time{}, fmt.Errorf("%w: sort key %q is %s, whose order is not that of time: want a number", ErrItem, s.SortKey, attribute.Describe(v))
	case *types.AttributeValueMemberN:
		return s.EventTime.Unit.Ordered(v.Value)
	}
	return time.Time{}, fmt.Errorf("%w: sort key %q is %s, and has no time: want a string or a number", ErrItem, s.SortKey, attribute.Describe(like[s.SortKey]))
}

// Timed returns the schema with the sort key as the event time.
func (s *Schema) Timed(unit TimeUnit) *Schema {
	timed := *s
	timed.EventTime = EventTime{s.SortKey, unit}
	return &timed
}

// onlyHome returns the only home of an item. If there are several, it returns ErrScattered with the reason why.
func (s *Schema) onlyHome(ctx context.Context, like Item, why string) (Home, error) {
	homes, err := s.Homes(ctx, like, false)
	if err != nil {
		return Home{}, err
	}
	if s.Ledgers != nil {
		return Home{}, fmt.Errorf("%w: the item with %s may be in a shard that this process does not know of, because the key may have grown, but %s",
			ErrScattered, s.nameOf(like), why)
	}
	if n := len(homes); n > 1 {
		return Home{}, fmt.Errorf("%w: the item with %s may be in any of %d shards, such as %q and %q, but %s",
			ErrScattered, s.nameOf(like), n, homes[0].ShardKey, homes[1].ShardKey, why)
	}
	return homes[0], nil
}

// OnlyKey returns the table's key of an item that has only one home. If there are several, it returns ErrScattered with
// the reason why.
func (s *Schema) OnlyKey(ctx context.Context, like Item, why string) (Item, error) {
	key, err := s.KeyOf(like)
	if err != nil || s.Index != "" {
		return key, err
	}
	home, err := s.onlyHome(ctx, like, why)
	if err != nil {
		return nil, err
	}
	return s.KeyAt(key, home), nil
}

// EveryKey returns the table's keys under which an item may be stored, in the order of Homes.
func (s *Schema) EveryKey(ctx context.Context, like Item) ([]Item, error) {
	key, err := s.KeyOf(like)
	if err != nil {
		return nil, err
	}
	if s.Index != "" {
		return []Item{key}, nil
	}
	homes, err := s.Homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	keys := make([]Item, len(homes))
	for i, home := range homes {
		keys[i] = s.KeyAt(key, home)
	}
	return keys, nil
}
