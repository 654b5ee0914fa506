package place

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/layout"
)

// Listed reports whether an item is in the collection. An item without the index's key is only in the table.
func (k *Keys) Listed(item Item) bool {
	return k.Index == "" || !attribute.Empty(item[k.PartitionKey])
}

// checkListed returns an error if an item lacks the index's sort key. DynamoDB stores such an item, but the index does
// not list it.
func (k *Keys) checkListed(item Item) error {
	if k.Index != "" && k.SortKey != "" && k.Listed(item) && attribute.Empty(item[k.SortKey]) {
		return fmt.Errorf("%w: sort key %q of index %s is %s, so the index would not list the item: set it, or leave %q out to store the item unlisted",
			ErrItem, k.SortKey, k.Index, attribute.Describe(item[k.SortKey]), k.PartitionKey)
	}
	return nil
}

// list sets the attributes that hold the item's shard.
func (k *Keys) list(home Home, item Item) {
	item[k.PartitionKey] = &types.AttributeValueMemberS{Value: home.ShardKey}
	if k.ShardAttribute != "" {
		item[k.ShardAttribute] = &types.AttributeValueMemberN{Value: strconv.Itoa(home.Shard)}
	}
}

// unlist removes the index's key from an item that the index does not list, because DynamoDB refuses empty key
// attributes.
func (k *Keys) unlist(item Item) {
	delete(item, k.PartitionKey)
	if attribute.Empty(item[k.SortKey]) && !slices.Contains(k.TableKey, k.SortKey) {
		delete(item, k.SortKey)
	}
}

// Listing returns the home of an item in the index after an update, and the attributes that list it there. They include
// the event time, unless the update sets it: an item with another event time than like would be in the wrong bucket.
func (p *Placer) Listing(ctx context.Context, like Item, assigned []compose.Assignment) (Home, Item, error) {
	s := p.schema
	at, err := p.placeLike(ctx, like)
	if err != nil {
		return Home{}, nil, err
	}
	listing := make(Item, 4)
	s.list(at.Home, listing)
	if s.Stamped {
		stampWith(listing, at.stamp)
	}
	name := s.EventTime.Attribute
	if s.Layout.Bucket != layout.NoBucket && !slices.Contains(s.TableKey, name) &&
		!slices.ContainsFunc(assigned, func(a compose.Assignment) bool { return a.Attribute == name }) {
		listing[name] = like[name]
	}
	return at.Home, listing, nil
}
