package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// decodeStored is Collection.Decode: it returns a copy of a stored item with the logical key, and where it was stored. An
// item that the index does not list was nowhere.
func (c *core) decodeStored(stored Item) (Item, Place, error) {
	o := &c.options
	if c.buried(stored) {
		return nil, Place{}, ErrNotFound
	}
	item := maps.Clone(stored)
	if !c.listed(item) {
		return item, Place{}, nil
	}
	key, ok := item[o.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return nil, Place{}, fmt.Errorf("%w: partition key %q is %s", ErrItem, o.PartitionKey, describe(item[o.PartitionKey]))
	}
	if o.ShardAttribute != "" {
		number, _ := item[o.ShardAttribute].(*types.AttributeValueMemberN)
		if number == nil {
			return nil, Place{}, fmt.Errorf("%w: shard attribute %q is %s", ErrItem, o.ShardAttribute, describe(item[o.ShardAttribute]))
		}
		shard, err := strconv.Atoi(number.Value)
		if err != nil {
			return nil, Place{}, fmt.Errorf("%w: shard attribute %q: %w", ErrItem, o.ShardAttribute, err)
		}
		c.dropShard(item)
		return item, Place{Key: key.Value, Shard: shard}, nil
	}
	place, err := c.parse(key.Value)
	if err != nil {
		return nil, Place{}, err
	}
	item[o.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
	return item, place, nil
}

// parse finds out where a stored partition key belongs, in the collection's layout or an older one, at any width. To a layout
// that does not spread keys everything is a key, so it is asked last.
func (c *core) parse(stored string) (Place, error) {
	layouts := slices.Concat([]Layout{c.options.Layout}, c.options.Older)
	for i := range layouts {
		if layouts[i].Shards > 0 || i == 0 && c.adaptive() {
			layouts[i].Shards = MaxShards // it may have been wider than it is
		}
	}
	slices.SortStableFunc(layouts, func(a, b Layout) int { return b.Shards - a.Shards })
	var failed error
	for _, layout := range layouts {
		place, err := layout.Parse(stored)
		if err == nil {
			return place, nil
		}
		failed = cmp.Or(failed, err)
	}
	return Place{}, fmt.Errorf("%w: %w", ErrItem, failed)
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
