package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// decodeStored is Collection.Decode: it returns a copy of a stored item with the logical key, and where it was stored. An
// item that the index does not list was nowhere. With ErrTooNarrow it returns both all the same.
func (c *core) decodeStored(stored Item) (Item, layout.Place, error) {
	if c.buried(stored) {
		return nil, layout.Place{}, ErrNotFound
	}
	item := maps.Clone(stored)
	if !c.listed(item) {
		c.dropShard(item)
		return item, layout.Place{}, nil
	}
	place, err := c.placeOf(item)
	if err != nil {
		return nil, layout.Place{}, err
	}
	// Decode has no context: Widths answer from memory.
	err = c.checkRead(context.Background(), item, place)
	if err != nil && !errors.Is(err, ErrTooNarrow) {
		return nil, layout.Place{}, err
	}
	item[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
	c.dropShard(item)
	return item, place, err
}

// placeOf returns where an item says that it is stored. The error wraps ErrItem.
func (c *core) placeOf(item Item) (layout.Place, error) {
	o := &c.options
	key, ok := item[o.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return layout.Place{}, fmt.Errorf("%w: partition key %q is %s", ErrItem, o.PartitionKey, attribute.Describe(item[o.PartitionKey]))
	}
	if o.ShardAttribute == "" {
		return c.parse(key.Value)
	}
	number, _ := item[o.ShardAttribute].(*types.AttributeValueMemberN)
	if number == nil {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s", ErrItem, o.ShardAttribute, attribute.Describe(item[o.ShardAttribute]))
	}
	shard, err := strconv.Atoi(number.Value)
	if err != nil || shard < 0 {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s, want a shard counted from 0", ErrItem, o.ShardAttribute, attribute.Describe(number))
	}
	return layout.Place{Key: key.Value, Shard: shard}, nil
}

// parse finds out where a stored partition key belongs, in the collection's layout or an older one, at any width. To a layout
// that has a bare key everything is a key. So a key that another layout would have refused is taken only if there is no
// other way to read the text.
func (c *core) parse(stored string) (layout.Place, error) {
	layouts := slices.Concat([]layout.Layout{c.options.Layout}, c.options.Older)
	for i := range layouts {
		if layouts[i].Shards > 0 || i == 0 && c.adaptive() {
			layouts[i].Shards = layout.MaxShards // it may have been wider than it is
		}
	}
	slices.SortStableFunc(layouts, func(a, b layout.Layout) int { return b.Shards - a.Shards })
	var failed error
	var refused *layout.Place
	for _, l := range layouts {
		place, err := l.Parse(stored)
		if err == nil {
			if !slices.ContainsFunc(layouts, func(l layout.Layout) bool { return l.CheckKey(place.Key) != nil }) {
				return place, nil
			}
			if refused == nil {
				refused = &place
			}
		}
		failed = cmp.Or(failed, err)
	}
	if refused != nil {
		return *refused, nil
	}
	if c.options.Layout.Shards == 0 && !c.adaptive() { // others may have begun to spread the key
		if place, err := c.options.Layout.WithShards(layout.MaxShards).Parse(stored); err == nil {
			return place, nil
		}
	}
	return layout.Place{}, fmt.Errorf("%w: %w", ErrItem, failed)
}

// checkRead returns ErrTooNarrow if queries of this collection do not ask the shard that an item is stored in.
func (c *core) checkRead(ctx context.Context, stored Item, place layout.Place) error {
	width, err := c.width(ctx, place.Key, place.Bucket)
	if err != nil {
		return err
	}
	shardKey := stored[c.options.PartitionKey].(*types.AttributeValueMemberS).Value
	if c.options.ShardAttribute != "" {
		if place.Shard < width.Read {
			return nil
		}
	} else {
		own := c.layout(width.Read)
		for _, l := range slices.Concat([]layout.Layout{own}, c.options.Older) {
			if at, err := l.Parse(shardKey); err == nil && at.Key == place.Key {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: %q is shard %d of key %s, counted from 0, but %s read: raise Layout.Shards or Width.Read to %d or more",
		ErrTooNarrow, shardKey, place.Shard, quote.Text(place.Key), areRead(width.Read), place.Shard+1)
}

func areRead(n int) string {
	if n == 1 {
		return "only shard 0 is"
	}
	return fmt.Sprintf("only shards 0 to %d are", n-1)
}

// returned makes attributes that a write returned what the caller expects. The write has happened, so that an item in a shard
// which is not read is no error, but a warning.
func (c *core) returned(ctx context.Context, attributes, like Item) {
	if c.options.Index != "" && attributes != nil && c.listed(attributes) {
		if place, err := c.placeOf(attributes); err == nil {
			if err := c.checkRead(ctx, attributes, place); errors.Is(err, ErrTooNarrow) {
				c.options.Logger.WarnContext(ctx, "write returned an item that queries do not read",
					"table", c.options.Table, "index", c.options.Index, "error", err)
			}
		}
	}
	c.restoreLike(attributes, like)
}

// candidates is Collection.Locate: the table's keys under which an item may be stored.
func (c *core) candidates(ctx context.Context, like Item) ([]Item, error) {
	key, err := c.keyOf(like)
	if err != nil {
		return nil, err
	}
	if c.options.Index != "" {
		return []Item{key}, nil
	}
	homes, err := c.homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	keys := make([]Item, len(homes))
	for i, home := range homes {
		keys[i] = c.in(key, home)
	}
	return keys, nil
}

// restore puts the logical key in place of the stored one, in an item that was read or the part of one, and takes out
// what only heatsink added.
func (c *core) restore(item Item, key types.AttributeValue) {
	if item[c.options.PartitionKey] != nil && c.options.ShardAttribute == "" {
		item[c.options.PartitionKey] = key
	}
	c.dropShard(item)
}

// restoreParsed is restore for who does not know the key: it is taken from the stored one. What no layout could have
// stored is left as it is.
func (c *core) restoreParsed(item Item) {
	stored, ok := item[c.options.PartitionKey].(*types.AttributeValueMemberS)
	if ok && c.options.ShardAttribute == "" {
		if place, err := c.parse(stored.Value); err == nil {
			item[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
		}
	}
	c.dropShard(item)
}

// restoreLike is restore for an item that was read because it is like another.
func (c *core) restoreLike(item, like Item) {
	if c.options.Index == "" {
		c.restore(item, like[c.options.PartitionKey])
	} else {
		c.restoreParsed(item)
	}
}

func (c *core) dropShard(item Item) {
	if c.options.ShardAttribute != "" {
		delete(item, c.options.ShardAttribute)
	}
}
