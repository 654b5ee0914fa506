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

// placeOf returns where an item says that it is stored. The error wraps ErrItem.
func (s *Schema) placeOf(item Item) (layout.Place, error) {
	key, ok := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return layout.Place{}, fmt.Errorf("%w: partition key %q is %s", ErrItem, s.PartitionKey, attribute.Describe(item[s.PartitionKey]))
	}
	if s.ShardAttribute == "" {
		return s.parse(key.Value)
	}
	number, _ := item[s.ShardAttribute].(*types.AttributeValueMemberN)
	if number == nil {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s", ErrItem, s.ShardAttribute, attribute.Describe(item[s.ShardAttribute]))
	}
	shard, err := strconv.Atoi(number.Value)
	if err != nil || shard < 0 {
		return layout.Place{}, fmt.Errorf("%w: shard attribute %q is %s, want a shard counted from 0", ErrItem, s.ShardAttribute, attribute.Describe(number))
	}
	return layout.Place{Key: key.Value, Shard: shard}, nil
}

// checkRead returns ErrTooNarrow if queries of this collection do not ask the shard that an item is stored in.
func (s *Schema) checkRead(ctx context.Context, stored Item, place layout.Place) error {
	width, err := s.Width(ctx, place.Key, place.Bucket)
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
	return fmt.Errorf("%w: %q is shard %d of key %s, counted from 0, but %s read: raise Layout.Shards or Width.Read to %d or more",
		ErrTooNarrow, shardKey, place.Shard, quote.Text(place.Key), areRead(width.Read), place.Shard+1)
}

func areRead(n int) string {
	if n == 1 {
		return "only shard 0 is"
	}
	return fmt.Sprintf("only shards 0 to %d are", n-1)
}

// CheckListing returns ErrTooNarrow if an index lists an item in a shard that queries do not read. Whatever else may be odd
// about the listing is no reason to withhold the item.
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

// Decode returns a copy of a stored item with the logical key, and where it was stored. An item that the index does not
// list was nowhere. With ErrTooNarrow it returns both all the same.
func (s *Schema) Decode(ctx context.Context, stored Item) (Item, layout.Place, error) {
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

// restoreParsed is Restore for who does not know the key: it is taken from the stored one. What no layout could have
// stored is left as it is.
func (s *Schema) restoreParsed(item Item) {
	stored, ok := item[s.PartitionKey].(*types.AttributeValueMemberS)
	if ok && s.ShardAttribute == "" {
		if place, err := s.parse(stored.Value); err == nil {
			item[s.PartitionKey] = &types.AttributeValueMemberS{Value: place.Key}
		}
	}
	s.dropShard(item)
}

// RestoreLike is Restore for an item that was read because it is like another.
func (s *Schema) RestoreLike(item, like Item) {
	if s.Index == "" {
		s.Restore(item, like[s.PartitionKey])
	} else {
		s.restoreParsed(item)
	}
}
