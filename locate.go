package heatsink

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// location is where an item is, or would be.
type location struct {
	target
	key    Item     // of the table
	found  bool     // it was looked for, as it could have been in any shard
	hidden []target // where other copies of it are, which count less; those that count most in front
}

// locate finds the item that is like another, with strongly consistent reads if there are several shards to look in.
// Those that have expired are not there, as for Get. Of a random layout it is ErrNotFound if none has it. A calculated one
// says where it would be.
func (c *core) locate(ctx context.Context, like Item) (*location, error) {
	key, err := c.keyOf(like)
	if err != nil {
		return nil, err
	}
	if c.options.Index != "" {
		return &location{target: c.tableTarget(key), key: key}, nil
	}
	homes, err := c.homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	at := &location{target: homes[0]}
	if len(homes) > 1 {
		if err := c.look(ctx, at, key, like, homes); err != nil {
			return nil, err
		}
	}
	at.key = c.in(key, at.target)
	return at, nil
}

// look finds out which of an item's homes have it.
func (c *core) look(ctx context.Context, at *location, key, like Item, homes []target) error {
	in := &dynamodb.GetItemInput{
		ConsistentRead:           aws.Bool(true),
		ReturnConsumedCapacity:   meter.Of(ctx).Wanted(),
		ProjectionExpression:     aws.String("#hs_pk"),
		ExpressionAttributeNames: map[string]string{"#hs_pk": c.options.PartitionKey},
	}
	need := slices.Clone(c.beside)
	for _, name := range []string{c.options.TTL, c.options.Version} { // which tell whether it is there
		if name != "" && !slices.Contains(need, name) {
			need = append(need, name)
		}
	}
	for i, name := range need {
		alias := "#hs_" + strconv.Itoa(i)
		in.ExpressionAttributeNames[alias] = name
		*in.ProjectionExpression += ", " + alias
	}
	items, err := c.find(ctx, key, homes, in)
	if err != nil {
		return err
	}
	now := time.Now()
	random := c.options.Layout.Strategy == layout.Random
	there := false
	if c.options.Version != "" && !random {
		i := c.newest(items, like)
		for j, item := range items {
			if j != i && !c.absent(item, now) && c.surelySame(item, like) {
				at.hidden = append(at.hidden, homes[j])
			}
		}
		if i >= 0 && !c.absent(items[i], now) {
			at.target = homes[i]
		}
		return nil
	}
	for i, item := range items {
		switch {
		case c.absent(item, now) || i > 0 && c.otherItem(item, like):
		case !there:
			at.target, at.found, there = homes[i], random, true
		case !random && c.surelySame(item, like):
			at.hidden = append(at.hidden, homes[i])
		}
	}
	if random && !there {
		return ErrNotFound
	}
	return nil
}

// change finds the item that is like another and has send change it there. send returns the attributes that were asked for
// and what the request consumed.
func (c *core) change(ctx context.Context, like Item, send func(at *location) (Item, *types.ConsumedCapacity, error)) (w Written[Item], err error) {
	at, err := c.locate(ctx, like)
	if err != nil {
		return w, err
	}
	attributes, consumed, err := send(at)
	if err != nil {
		return w, err
	}
	meter.Wrote(ctx, consumed)
	c.returned(ctx, attributes, like)
	return Written[Item]{ShardKey: at.shardKey, Shard: at.shard, Attributes: attributes}, nil
}
