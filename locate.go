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

// located is an item's home, where it is or would be, and what a look at its other homes has shown.
type located struct {
	place.Home
	key    Item         // of the table
	found  bool         // it was looked for, as it could have been in any shard
	hidden []place.Home // where other copies of it are, which count less; those that count most in front
}

// locate finds the item that is like another, with strongly consistent reads if there are several shards to look in.
// Those that have expired are not there, as for Get. Of a random layout it is ErrNotFound if none has it. A calculated one
// says where it would be.
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

// look finds out which of an item's homes have it.
func (f *finder) look(ctx context.Context, at *located, key, like Item, homes []place.Home) error {
	in := &dynamodb.GetItemInput{
		ConsistentRead:           aws.Bool(true),
		ReturnConsumedCapacity:   meter.Of(ctx).Wanted(),
		ProjectionExpression:     aws.String("#hs_pk"),
		ExpressionAttributeNames: map[string]string{"#hs_pk": f.schema.PartitionKey},
	}
	need := slices.Clone([]string(f.schema.Beside))
	for _, name := range []string{f.ttl.Attribute, f.versions.Name()} { // which tell whether it is there
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
