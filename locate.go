package heatsink

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// located is the home of an item, where it is or would be, and the homes of its other copies.
type located struct {
	place.Home
	key    Item         // the item's key in the table
	found  bool         // the item exists, in one shard of a Random layout
	hidden []place.Home // homes of copies that Get does not return, in the order of preference
}

// locate finds the item that has the key of like. If the item may be in several shards, locate reads them with strong
// consistency. An expired item does not exist, as for Get. With a Random layout, locate returns ErrNotFound if no shard
// has the item. A Calculated layout determines where the item would be.
func (f *finder) locate(ctx context.Context, like Item) (*located, error) {
	key, err := f.schema.KeyOf(like)
	if err != nil {
		return nil, err
	}
	if f.schema.Index != "" {
		return &located{Home: f.schema.TableHome(key), key: key}, nil
	}
	homes, err := f.schema.Homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	at := &located{Home: homes[0]}
	if len(homes) > 1 {
		if err := f.look(ctx, at, key, like, homes); err != nil {
			return nil, err
		}
	}
	at.key = f.schema.KeyAt(key, at.Home)
	return at, nil
}

// look finds out which homes have the item.
func (f *finder) look(ctx context.Context, at *located, key, like Item, homes []place.Home) error {
	in := &dynamodb.GetItemInput{
		ConsistentRead:           aws.Bool(true),
		ReturnConsumedCapacity:   meter.Of(ctx).Wanted(),
		ProjectionExpression:     aws.String("#hs_pk"),
		ExpressionAttributeNames: map[string]string{"#hs_pk": f.schema.PartitionKey},
	}
	need := slices.Clone([]string(f.schema.Beside))
	for _, name := range []string{f.ttl.Attribute, f.versions.Name()} { // they show whether the item has expired or was deleted
		if name != "" && !slices.Contains(need, name) {
			need = append(need, name)
		}
	}
	for i, name := range need {
		alias := "#hs_" + strconv.Itoa(i)
		in.ExpressionAttributeNames[alias] = name
		*in.ProjectionExpression += ", " + alias
	}
	items, err := f.find(ctx, key, homes, in)
	if err != nil {
		return err
	}
	f.schema.Beside.KeepSame(items[1:], like)
	now := time.Now()
	random := f.schema.Layout.Strategy == layout.Random
	there := false
	if f.versions.Keeps() && !random {
		i := f.versions.Newest(items)
		for j, item := range items {
			if j != i && !f.versions.Absent(item, now) && f.schema.Beside.SurelySame(item, like) {
				at.hidden = append(at.hidden, homes[j])
			}
		}
		if i >= 0 && !f.versions.Absent(items[i], now) {
			at.Home = homes[i]
		}
		return nil
	}
	for i, item := range items {
		switch {
		case f.versions.Absent(item, now):
		case !there:
			at.Home, at.found, there = homes[i], random, true
		case !random && f.schema.Beside.SurelySame(item, like):
			at.hidden = append(at.hidden, homes[i])
		}
	}
	if random && !there {
		return ErrNotFound
	}
	return nil
}
