package heatsink

import (
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

// parse finds out where a stored partition key belongs, in the collection's layout at any width, or in an older one.
func (c *core) parse(stored string) (Place, error) {
	var first error
	for i, layout := range slices.Concat([]Layout{c.options.Layout}, c.options.Older) {
		if layout.Shards > 0 || i == 0 && c.adaptive() {
			layout.Shards = MaxShards // it may have been wider than it is
		}
		place, err := layout.Parse(stored)
		if err == nil {
			return place, nil
		}
		if first == nil {
			first = err
		}
	}
	return Place{}, fmt.Errorf("%w: %w", ErrItem, first)
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
