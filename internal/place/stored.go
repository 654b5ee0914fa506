package place

import (
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

// placeOf returns the place that the stored keys of an item denote. The error wraps ErrItem.
func (s *Schema) placeOf(item Item) (layout.Place, error) {
	key, ok := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return layout.Place{}, fmt.Errorf("%w: partition key %q is %s, want a string", ErrItem, s.PartitionKey, attribute.Describe(item[s.PartitionKey]))
	}
	if s.ShardAttribute == "" {
		return s.parse(key.Value)
	}
	number, _ := item[s.ShardAttribute].(*types.AttributeValueMemberN)
	if number == nil {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s, want a number", ErrItem, s.ShardAttribute, attribute.Describe(item[s.ShardAttribute]))
	}
	shard, err := strconv.Atoi(number.Value)
	if err != nil || shard < 0 {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s, want a whole number of 0 or more", ErrItem, s.ShardAttribute, attribute.Describe(number))
	}
	return layout.Place{Key: key.Value, Shard: shard}, nil
}

// checkRead returns ErrTooNarrow if queries of this collection do not read the shard of an item.
func (s *Schema) checkRead(ctx context.Context, stored Item, place layout.Place) error {
	if s.Ledgers != nil {
		return nil // a read finds out how wide the key is
	}
	width, err := s.width(ctx, place.Key, place.Bucket)
	if err != nil {
		return err
	}
	shardKey := stored[s.PartitionKey].(*types.AttributeValueMemberS).Value
	if s.ShardAttribute != "" {
		if place.Shard < width.Read {
			return nil
		}
	} else {
		own := s.LayoutAt(width.Read)
		for _, l := range slices.Concat([]layout.Layout{own}, s.Older) {
			if at, err := l.Parse(shardKey); err == nil && at.Key == place.Key {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: %q is shard %d of key %s, but the collection reads %s: raise Layout.Shards or Width.Read to %d or more",
		ErrTooNarrow, shardKey, place.Shard, quote.Text(place.Key), firstShards(width.Read), place.Shard+1)
}

func firstShards(n int) string {
	if n == 1 {
		return "only shard 0"
	}
	return fmt.Sprintf("only shards 0 to %d", n-1)
}

// CheckListing returns ErrTooNarrow if an index lists an item in a shard that queries do not read. Other faults of the
// listing are no reason to withhold the item.
func (s *Schema) CheckListing(ctx context.Context, item Item) error {
	if item == nil || !s.Listed(item) {
		return nil
	}
	place, err := s.placeOf(item)
	if err != nil {
		return nil
	}
	if err = s.checkRead(ctx, item, place); errors.Is(err, ErrTooNarrow) {
		return err
	}
	return nil
}

// Decode returns a copy of a stored item with its logical key, and its place. The place is zero if the index does not
// list the item. With ErrTooNarrow, Decode returns both as well.
func (s *Schema) Decode(ctx context.Context, stored Item) (Item, layout.Place, error) {
	if key, ok := stored[s.KeyNames()[0]].(*types.AttributeValueMemberS); ok && layout.IsControl(key.Value) {
		return nil, layout.Place{}, controlError(s.KeyNames()[0], key.Value)
	}
	item := maps.Clone(stored)
	if !s.Listed(item) {
		s.dropShard(item)
		return item, layout.Place{}, nil
	}
	place, err := s.placeOf(item)
	if err != nil {
		return nil, layout.Place{}, err
	}
	err = s.checkRead(ctx, item, place)
	if err != nil && !errors.Is(err, ErrTooNarrow) {
		return nil, layout.Place{}, err
	}
	item[s.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
	s.dropShard(item)
	return item, place, err
}

// restoreParsed is Restore for a caller that does not know the logical key: it parses the stored one. A key that no
// layout could have stored stays unchanged.
func (s *Schema) restoreParsed(item Item) {
	stored, ok := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if ok && s.ShardAttribute == "" {
		if place, err := s.parse(stored.Value); err == nil {
			item[s.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
		}
	}
	s.dropShard(item)
}

// RestoreLike is Restore for an item that was read with the key of like.
func (s *Schema) RestoreLike(item, like Item) {
	if s.Index == "" {
		s.Restore(item, like[s.PartitionKey])
	} else {
		s.restoreParsed(item)
	}
}
