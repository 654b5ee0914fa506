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

// Listed reports whether an item is in the collection: one without the index's key is in the table only.
func (k *Keys) Listed(item Item) bool {
	return k.Index == "" || !attribute.Empty(item[k.PartitionKey])
}

// checkListed returns an error unless an item that an index is to list has all that the index needs: DynamoDB stores one
// without the sort key, and does not list it.
func (k *Keys) checkListed(item Item) error {
	if k.Index != "" && k.SortKey != "" && k.Listed(item) && attribute.Empty(item[k.SortKey]) {
		return fmt.Errorf("%w: sort key %q of index %s is %s, so that the item would not be listed: set it, or leave %q out to keep the item off the list",
			ErrItem, k.SortKey, k.Index, attribute.Describe(item[k.SortKey]), k.PartitionKey)
	}
	return nil
}

// list sets the attributes that say in which shard an item is.
func (k *Keys) list(home Home, item Item) {
	item[k.PartitionKey] = &types.AttributeValueMemberS{Value: home.ShardKey}
	if k.ShardAttribute != "" {
		item[k.ShardAttribute] = &types.AttributeValueMemberN{Value: strconv.Itoa(home.Shard)}
	}
}

// unlist takes the key of an index out of an item that it does not list: DynamoDB would refuse the empty attributes.
func (k *Keys) unlist(item Item) {
	delete(item, k.PartitionKey)
	if attribute.Empty(item[k.SortKey]) && !slices.Contains(k.TableKey, k.SortKey) {
		delete(item, k.SortKey)
	}
}

// Listing returns where an index lists an item after an update, and the attributes that make it so. The event time is
// among them, unless the update sets it itself: an item that says another one than like would be listed in a bucket that
// is not its own.
func (p *Placer) Listing(ctx context.Context, like Item, assigned []compose.Assignment) (Home, Item, error) {
	s := p.schema
	at, err := p.placeLike(ctx, like)
	if err != nil {
		return Home{}, nil, err
	}
	listing := make(Item, 3)
	s.list(at.Home, listing)
	name := s.EventTime.Attribute
	if s.Layout.Bucket != layout.NoBucket && !slices.Contains(s.TableKey, name) &&
		!slices.ContainsFunc(assigned, func(a compose.Assignment) bool { return a.Attribute == name }) {
		listing[name] = like[name]
	}
	return at.Home, listing, nil
}
