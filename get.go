package heatsink

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
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
	movable  *movable    // nil if items stay where they are
	ledgers  *adapt.Book // nil without ledgers
	versions *version.Keeper
	ttl      expiry.TTL
	sender   *sender
}

// maxBatchGet is the maximum number of keys in a BatchGetItem.
const maxBatchGet = 100

// get reads the item that has the key of like. If the item may be in several shards, it returns the copy that counts.
// With ErrTooNarrow it returns the item as well.
func (f *finder) get(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	if f.movable != nil {
		return f.movable.get(ctx, like, edits)
	}
	g, err := f.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := g.locate(ctx); err != nil {
		return nil, err
	}
	defer g.rest.stop(cancel)
	n := g.likely()
	copies := g.room[:]
	if n == 1 {
		copies[0], err = f.getOne(ctx, g.keyAt(g.homes[0]), g.homes[0], g.in)
	} else {
		copies, err = f.find(ctx, g.key, g.homes, g.in)
	}
	if err != nil {
		return nil, err
	}
	item, err := g.choose(ctx, copies)
	if err != ErrNotFound || n == len(g.homes) && !g.rest.pending() {
		return item, err
	}
	more, err := g.rest.wait()
	if err != nil {
		return nil, err
	}
	g.homes = append(g.homes, more...)
	others, err := f.find(ctx, g.key, g.homes[n:], g.in)
	if err != nil {
		return nil, err
	}
	return g.choose(ctx, append(copies, others...))
}

// getMerged reads what all shards have under the key of like, and merges it.
func (f *finder) getMerged(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	if f.schema.Index != "" || f.movable != nil {
		return f.get(ctx, like, edits)
	}
	g, err := f.newGet(ctx, like, edits)
	if err != nil {
		return nil, err
	}
	homes, rest, err := f.homes(ctx, like, true, aws.ToBool(g.in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	more, err := rest.wait()
	if err != nil {
		return nil, err
	}
	items, err := f.find(ctx, g.key, append(homes, more...), g.in)
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
	return g.first(merged)
}

// getting is a Get in progress.
type getting struct {
	finder *finder
	like   Item
	key    Item                   // of the table, with the logical partition key
	in     *dynamodb.GetItemInput // what the caller made of it, without the key
	added  []string               // attributes that the caller did not ask for
	homes  []place.Home           // where the item may be, which locate finds out
	rest   *restOfHomes           // where it may be besides, if a ledger has to tell
	room   [1]Item                // spares an allocation where one home is read
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

// locate works out where the item may be.
func (g *getting) locate(ctx context.Context) (err error) {
	if s := g.finder.schema; s.Index != "" {
		g.homes = []place.Home{s.TableHome(g.key)}
	} else {
		g.homes, g.rest, err = g.finder.homes(ctx, g.like, false, aws.ToBool(g.in.ConsistentRead))
	}
	return err
}

// keyAt returns the table's key of the item in one of its homes.
func (g *getting) keyAt(home place.Home) Item {
	if s := g.finder.schema; s.Index == "" {
		return s.KeyAt(g.key, home)
	}
	return g.key
}

// likely returns how many homes are to be read first. Nearly always the item is where it would be put now, so that is one,
// and the others are read if it is not there. All must be read at once if any may have it, or if only the versions tell
// which copy counts.
func (g *getting) likely() int {
	if g.finder.schema.Layout.Strategy == layout.Random || g.finder.versions.Keeps() {
		return len(g.homes)
	}
	return 1
}

// choose returns the copy that counts, as the caller wants it, of what was read from the first homes or from all, in their
// order. With ErrTooNarrow it returns the item as well. It changes the copies.
func (g *getting) choose(ctx context.Context, copies []Item) (Item, error) {
	f := g.finder
	if f.schema.Index != "" {
		narrow := f.schema.CheckListing(ctx, copies[0])
		item, err := g.first(copies[0])
		if err != nil {
			return nil, err
		}
		return item, narrow
	}
	if f.schema.Layout.Strategy == layout.Random {
		return g.first(copies...)
	}
	f.schema.Beside.KeepSame(copies[1:], g.like)
	if !f.versions.Keeps() {
		return g.first(copies...)
	}
	if i := f.versions.Newest(copies); i >= 0 {
		return g.first(copies[i])
	}
	return nil, ErrNotFound
}

// first returns the first item that is there and not expired, as the caller wants it.
func (g *getting) first(items ...Item) (Item, error) {
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
	wanted, room := make([]*sought, len(homes)), make([]sought, len(homes))
	for i, home := range homes {
		room[i] = sought{key: f.schema.KeyAt(key, home), home: home, name: home.ShardKey}
		wanted[i] = &room[i]
	}
	requests := slices.Collect(slices.Chunk(wanted, maxBatchGet))
	var mu sync.Mutex // guards failed
	var failed error
	inParallel(len(requests), func(i int) {
		_, err := f.fetch(ctx, requests[i], f.shardKeyIn, in)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = err
			cancel() // the other batches are no use without this one
		}
	})
	items := make([]Item, len(homes))
	for i := range room {
		items[i] = room[i].item
	}
	return items, failed
}

// sought is a key of the table that is to be read.
type sought struct {
	key  Item
	home place.Home
	name string // by which it is told from the others of a request
	item Item   // nil if it is not there
	uses int    // how many items of a BatchGet may be there
	err  error  // why nobody knows
}

// shardKeyIn returns the name of a key or an item where all keys differ in the partition key.
func (f *finder) shardKeyIn(item Item) (string, bool) {
	stored, ok := item[f.schema.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return stored.Value, true
}

// fetch reads as many keys as one BatchGetItem takes, and fills in their items. nameOf returns the name of a key or an item.
// With an error it returns the keys that were not read; the others were. bind are options of each request.
func (f *finder) fetch(ctx context.Context, wanted []*sought, nameOf func(Item) (string, bool), in *dynamodb.GetItemInput, bind ...func(*dynamodb.Options)) ([]*sought, error) {
	named := make(map[string]*sought, len(wanted))
	for _, s := range wanted {
		named[s.name] = s
	}
	find := func(item Item) *sought {
		name, ok := nameOf(item)
		if !ok {
			return nil
		}
		return named[name]
	}
	pending := wanted
	r := &request{operation: "BatchGetItem", Home: pending[0].home}
	err := f.sender.read(ctx, r, func(ctx context.Context, _ int) error {
		keys := make([]Item, len(pending))
		for i, s := range pending {
			keys[i] = s.key
		}
		out, err := f.sender.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{f.sender.table: {
				Keys:                     keys,
				ConsistentRead:           in.ConsistentRead,
				ProjectionExpression:     in.ProjectionExpression,
				ExpressionAttributeNames: in.ExpressionAttributeNames,
				AttributesToGet:          in.AttributesToGet,
			}},
			ReturnConsumedCapacity: in.ReturnConsumedCapacity,
		}, append(bind, dispatch.Once)...)
		if err != nil {
			return err
		}
		read := 0
		for _, found := range out.Responses { // in our table, under its name or its ARN
			for _, item := range found {
				if s := find(item); s != nil {
					s.item = item
					read++
				}
			}
		}
		meter.ReadAll(ctx, read, out.ConsumedCapacity)
		left := unread(out, pending, find)
		if len(left) == 0 {
			return nil
		}
		err = &dispatch.UnprocessedError{Left: len(left), Of: len(pending)}
		pending = left
		r.Home = pending[0].home
		return err
	})
	return pending, err
}

// unread returns the keys that an answer says were not read: all that were sent if it names one that was not, as nothing is
// certain about any then.
func unread(out *dynamodb.BatchGetItemOutput, sent []*sought, find func(Item) *sought) (left []*sought) {
	for _, unprocessed := range out.UnprocessedKeys { // under our table's name, even if there are none
		for _, key := range unprocessed.Keys {
			s := find(key)
			if s == nil {
				return sent
			}
			left = append(left, s)
		}
	}
	return left
}
