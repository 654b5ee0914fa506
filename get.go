package heatsink

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/version"
	"github.com/heatsink-go/heatsink/layout"
)

// finder reads single items, which may be in several shards.
type finder struct {
	schema   *place.Schema
	versions *version.Keeper
	ttl      expiry.TTL
	sender   *sender
}

// maxBatchGet is the maximum number of keys in a BatchGetItem.
const maxBatchGet = 100

// get reads the item that has the key of like. If the item may be in several shards, it returns that of the first shard
// that has it. With ErrTooNarrow it returns the item as well.
func (f *finder) get(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	g, err := f.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	if f.schema.Index != "" {
		item, err := f.getOne(ctx, g.key, f.schema.TableHome(g.key), g.in)
		narrow := f.schema.CheckListing(ctx, item)
		if item, err = g.first(err, item); err != nil {
			return nil, err
		}
		return item, narrow
	}
	homes, err := f.schema.Homes(ctx, like, false)
	if err != nil {
		return nil, err
	}
	if f.schema.Layout.Strategy == layout.Random && len(homes) > 1 {
		items, err := f.find(ctx, g.key, homes, g.in)
		return g.first(err, items...)
	}
	if f.versions.Keeps() && len(homes) > 1 { // only the versions tell which copy counts
		items, err := f.find(ctx, g.key, homes, g.in)
		f.schema.Beside.KeepSame(items[1:], like)
		if i := f.versions.Newest(items); err == nil && i >= 0 {
			return g.first(nil, items[i])
		}
		return g.first(err)
	}
	// Nearly always the item is where it would be put now.
	item, err := f.getOne(ctx, f.schema.KeyAt(g.key, homes[0]), homes[0], g.in)
	if item, err = g.first(err, item); err != ErrNotFound || len(homes) == 1 {
		return item, err
	}
	items, err := f.find(ctx, g.key, homes[1:], g.in)
	f.schema.Beside.KeepSame(items, like)
	return g.first(err, items...)
}

// getMerged reads what all shards have under the key of like, and merges it.
func (f *finder) getMerged(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	if f.schema.Index != "" {
		return f.get(ctx, like, edits)
	}
	g, err := f.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	homes, err := f.schema.Homes(ctx, like, true)
	if err != nil {
		return nil, err
	}
	items, err := f.find(ctx, g.key, homes, g.in)
	if err != nil {
		return nil, err
	}
	var merged Item
	now := time.Now()
	for _, item := range slices.Backward(items) { // the lowest shard last, so that its attributes stand
		if f.versions.Absent(item, now) {
			continue
		}
		if merged == nil {
			merged = Item{}
		}
		maps.Copy(merged, item)
	}
	return g.first(nil, merged)
}

// getting is a Get in progress.
type getting struct {
	finder *finder
	like   Item
	key    Item                   // of the table, with the logical partition key
	in     *dynamodb.GetItemInput // what the caller made of it, without the key
	added  []string               // attributes that the caller did not ask for
}

func (f *finder) newGet(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (*getting, error) {
	key, err := f.schema.KeyOf(like)
	if err != nil {
		return nil, err
	}
	g := &getting{finder: f, like: like, key: key, in: &dynamodb.GetItemInput{TableName: &f.sender.table, Key: maps.Clone(key)}}
	for _, edit := range edits {
		edit(g.in)
	}
	g.in.TableName = &f.sender.table
	meter.Ask(ctx, &g.in.ReturnConsumedCapacity)
	need := []string{f.schema.PartitionKey} // to tell the items of a batch apart
	if f.schema.Index == "" {
		need = append(need, f.schema.Beside...)
	} else if f.schema.ShardAttribute != "" {
		need = append(need, f.schema.ShardAttribute) // to tell whether queries read its shard
	}
	if ttl := f.ttl.Attribute; ttl != "" && !slices.Contains(need, ttl) {
		need = append(need, ttl)
	}
	if f.versions.Keeps() {
		need = append(need, f.versions.Name()) // to tell what was deleted
	}
	if projection := g.in.ProjectionExpression; projection != nil && len(g.in.AttributesToGet) == 0 {
		if err := checkParts(*projection, g.in.ExpressionAttributeNames, need); err != nil {
			return nil, err
		}
	}
	g.added, err = compose.Project(g.in, need)
	return g, err
}

// first returns the first item that exists and has not expired, as the caller asked for it.
func (g *getting) first(err error, items ...Item) (Item, error) {
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, item := range items {
		if g.finder.versions.Absent(item, now) {
			continue
		}
		g.finder.schema.RestoreLike(item, g.like)
		for _, name := range g.added {
			delete(item, name)
		}
		return item, nil
	}
	return nil, ErrNotFound
}

// getOne reads an item with GetItem. It returns nil if the item does not exist.
func (f *finder) getOne(ctx context.Context, key Item, at place.Home, in *dynamodb.GetItemInput) (Item, error) {
	one := *in
	one.Key = key
	var out *dynamodb.GetItemOutput
	err := f.sender.read(ctx, &request{operation: "GetItem", Home: at}, func(ctx context.Context, _ int) (err error) {
		out, err = f.sender.client.GetItem(ctx, &one, dispatch.Once)
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

// find reads the item from each home with BatchGetItem. It returns the items in the order of the homes, nil where there
// is none. It uses the consistency and the projection of in, which must include the partition key.
func (f *finder) find(ctx context.Context, key Item, homes []place.Home, in *dynamodb.GetItemInput) ([]Item, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	items := make([]Item, len(homes))
	var mu sync.Mutex // guards failed
	var failed error
	inParallel((len(homes)+maxBatchGet-1)/maxBatchGet, func(i int) {
		start, end := i*maxBatchGet, min((i+1)*maxBatchGet, len(homes))
		err := f.findBatch(ctx, key, homes[start:end], items[start:end], in)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = err
			cancel() // the other batches are no use without this one
		}
	})
	return items, failed
}

// findBatch is find for the homes of one request. It fills in items.
func (f *finder) findBatch(ctx context.Context, key Item, homes []place.Home, items []Item, in *dynamodb.GetItemInput) error {
	numbers := make(map[string]int, len(homes))
	keys := make([]Item, len(homes))
	for i, home := range homes {
		numbers[home.ShardKey] = i
		keys[i] = f.schema.KeyAt(key, home)
	}
	home := func(item Item) (int, bool) {
		stored, ok := item[f.schema.PartitionKey].(*types.AttributeValueMemberS)
		if !ok {
			return 0, false
		}
		i, ok := numbers[stored.Value]
		return i, ok
	}
	r := &request{operation: "BatchGetItem", Home: homes[0]}
	return f.sender.read(ctx, r, func(ctx context.Context, _ int) error {
		out, err := f.sender.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{f.sender.table: {
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
			r.Home = homes[i]
		}
		return err
	})
}
