package heatsink

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// maxBatchGet is how many keys a BatchGetItem takes.
const maxBatchGet = 100

// get reads the item that is like another: from its shard, or, if it may be in several, from the first that has it. With
// ErrTooNarrow it returns the item as well.
func (c *core) get(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	g, err := c.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	if c.options.Index != "" {
		item, err := c.getOne(ctx, g.key, c.tableTarget(g.key), g.in)
		narrow := c.checkListing(ctx, item)
		if item, err = g.first(err, item); err != nil {
			return nil, err
		}
		return item, narrow
	}
	homes, err := c.homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	if c.options.Layout.Strategy == layout.Random && len(homes) > 1 {
		items, err := c.find(ctx, g.key, homes, g.in)
		return g.first(err, items...)
	}
	if c.options.Version != "" && len(homes) > 1 { // only the versions tell which copy counts
		items, err := c.find(ctx, g.key, homes, g.in)
		if i := c.newest(items, like); err == nil && i >= 0 {
			return g.first(nil, items[i])
		}
		return g.first(err)
	}
	// Nearly always the item is where it would be put now.
	item, err := c.getOne(ctx, c.in(g.key, homes[0]), homes[0], g.in)
	if item, err = g.first(err, item); err != ErrNotFound || len(homes) == 1 {
		return item, err
	}
	items, err := c.find(ctx, g.key, homes[1:], g.in)
	for i, item := range items {
		if item != nil && c.otherItem(item, like) {
			items[i] = nil
		}
	}
	return g.first(err, items...)
}

// checkListing returns ErrTooNarrow if an index lists an item in a shard that queries do not read. Whatever else may be odd
// about the listing is no reason to withhold the item.
func (c *core) checkListing(ctx context.Context, item Item) error {
	if item == nil || !c.listed(item) {
		return nil
	}
	place, err := c.placeOf(item)
	if err != nil {
		return nil
	}
	if err = c.checkRead(ctx, item, place); errors.Is(err, ErrTooNarrow) {
		return err
	}
	return nil
}

// getMerged reads what all shards have under the key that like has, and puts it together.
func (c *core) getMerged(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	if c.options.Index != "" {
		return c.get(ctx, like, edits)
	}
	g, err := c.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	homes, err := c.homes(ctx, like, true)
	if err != nil {
		return nil, err
	}
	items, err := c.find(ctx, g.key, homes, g.in)
	if err != nil {
		return nil, err
	}
	var merged Item
	now := time.Now()
	for _, item := range slices.Backward(items) { // the lowest shard last, so that its attributes stand
		if c.absent(item, now) {
			continue
		}
		if merged == nil {
			merged = Item{}
		}
		maps.Copy(merged, item)
	}
	return g.first(nil, merged)
}

// getting is a get under way.
type getting struct {
	core  *core
	like  Item
	key   Item                   // of the table, with the logical partition key
	in    *dynamodb.GetItemInput // what the caller made of it, without the key
	added []string               // attributes that the caller did not ask for
}

func (c *core) newGet(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (*getting, error) {
	key, err := c.keyOf(like)
	if err != nil {
		return nil, err
	}
	g := &getting{core: c, like: like, key: key, in: &dynamodb.GetItemInput{TableName: &c.options.Table, Key: maps.Clone(key)}}
	for _, edit := range edits {
		edit(g.in)
	}
	g.in.TableName = &c.options.Table
	meter.Ask(ctx, &g.in.ReturnConsumedCapacity)
	need := []string{c.options.PartitionKey} // to tell the items of a batch apart
	if c.options.Index == "" {
		need = append(need, c.beside...)
	} else if c.options.ShardAttribute != "" {
		need = append(need, c.options.ShardAttribute) // to tell whether queries read its shard
	}
	if ttl := c.options.TTL; ttl != "" && !slices.Contains(need, ttl) {
		need = append(need, ttl)
	}
	if c.options.Version != "" {
		need = append(need, c.options.Version) // to tell what was deleted
	}
	g.added, err = project(g.in, need)
	return g, err
}

// first returns the first item that is there and not expired, as the caller wants it.
func (g *getting) first(err error, items ...Item) (Item, error) {
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, item := range items {
		if g.core.absent(item, now) {
			continue
		}
		g.core.restoreLike(item, g.like)
		for _, name := range g.added {
			delete(item, name)
		}
		return item, nil
	}
	return nil, ErrNotFound
}

// project makes a projection include what is needed, and returns what it lacked. Without a projection there is nothing
// that it could lack.
func project(in *dynamodb.GetItemInput, need []string) (added []string, err error) {
	if len(in.AttributesToGet) > 0 {
		in.AttributesToGet = slices.Clone(in.AttributesToGet)
		for _, name := range need {
			if !slices.Contains(in.AttributesToGet, name) {
				in.AttributesToGet = append(in.AttributesToGet, name)
				added = append(added, name)
			}
		}
		return added, nil
	}
	if in.ProjectionExpression == nil {
		return nil, nil
	}
	if err := checkParts(*in.ProjectionExpression, in.ExpressionAttributeNames, need); err != nil {
		return nil, err
	}
	asked := topLevel(*in.ProjectionExpression, in.ExpressionAttributeNames)
	names, err := ownNames(in.ExpressionAttributeNames)
	if err != nil {
		return nil, err
	}
	projection := *in.ProjectionExpression
	for _, name := range need {
		if slices.Contains(asked, name) {
			continue
		}
		alias := "#" + placeholder + strconv.Itoa(len(added))
		names[alias] = name
		projection += ", " + alias
		added = append(added, name)
	}
	if len(added) > 0 {
		in.ProjectionExpression, in.ExpressionAttributeNames = &projection, names
	}
	return added, nil
}

// getOne reads an item with GetItem, nil if it is not there.
func (c *core) getOne(ctx context.Context, key Item, at target, in *dynamodb.GetItemInput) (Item, error) {
	one := *in
	one.Key = key
	var out *dynamodb.GetItemOutput
	err := c.read(ctx, &request{operation: "GetItem", target: at}, func(ctx context.Context, _ int) (err error) {
		out, err = c.client.GetItem(ctx, &one, dispatch.Once)
		return err
	})
	if err != nil {
		return nil, err
	}
	items := 0
	if out.Item != nil {
		items++
	}
	meter.Read(ctx, items, out.ConsumedCapacity)
	return out.Item, nil
}

// find reads an item from each of its homes with BatchGetItem, in the order of the homes, nil where there is none. Of in
// it takes the consistency and the projection, which must have the partition key.
func (c *core) find(ctx context.Context, key Item, homes []target, in *dynamodb.GetItemInput) ([]Item, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	items := make([]Item, len(homes))
	var mu sync.Mutex // guards failed
	var failed error
	inParallel((len(homes)+maxBatchGet-1)/maxBatchGet, func(i int) {
		start, end := i*maxBatchGet, min((i+1)*maxBatchGet, len(homes))
		err := c.findBatch(ctx, key, homes[start:end], items[start:end], in)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = err
			cancel() // the other batches are no use without this one
		}
	})
	return items, failed
}

// findBatch is find for as many homes as one request takes. It fills in items.
func (c *core) findBatch(ctx context.Context, key Item, homes []target, items []Item, in *dynamodb.GetItemInput) error {
	position := make(map[string]int, len(homes))
	keys := make([]Item, len(homes))
	for i, home := range homes {
		position[home.shardKey] = i
		keys[i] = c.in(key, home)
	}
	home := func(item Item) (int, bool) {
		stored, ok := item[c.options.PartitionKey].(*types.AttributeValueMemberS)
		if !ok {
			return 0, false
		}
		i, ok := position[stored.Value]
		return i, ok
	}
	r := &request{operation: "BatchGetItem", target: homes[0]}
	return c.read(ctx, r, func(ctx context.Context, _ int) error {
		out, err := c.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{c.options.Table: {
				Keys:                     keys,
				ConsistentRead:           in.ConsistentRead,
				ProjectionExpression:     in.ProjectionExpression,
				ExpressionAttributeNames: in.ExpressionAttributeNames,
				AttributesToGet:          in.AttributesToGet,
			}},
			ReturnConsumedCapacity: in.ReturnConsumedCapacity,
		}, dispatch.Once)
		if err != nil {
			return err
		}
		read := 0
		for _, found := range out.Responses { // in our table, under its name or its ARN
			for _, item := range found {
				if i, ok := home(item); ok {
					items[i] = item
					read++
				}
			}
		}
		meter.ReadAll(ctx, read, out.ConsumedCapacity)
		var left []Item
		for _, unprocessed := range out.UnprocessedKeys { // under our table's name, even if there are none
			left = append(left, unprocessed.Keys...)
		}
		if len(left) == 0 {
			return nil
		}
		err = &dispatch.UnprocessedError{Left: len(left), Of: len(keys)}
		keys = left
		if i, ok := home(keys[0]); ok {
			r.target = homes[i]
		}
		return err
	})
}
