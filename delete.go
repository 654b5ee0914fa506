package heatsink

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
)

// delete deletes an item. If the item may be in several shards, delete looks for it first.
//
// A Random layout may have several items under a key, of which delete removes the first. With a Calculated layout, delete
// removes all copies that it found. The copy that Get returns is the last to go, so that no hidden copy becomes visible
// wherever the delete stops. The caller's conditions and return values apply to that copy. A Put in between may be
// missed, as if the delete had come first.
//
// A delete is idempotent, unless the caller asks for the old item or sets a condition: see update.
func (w *writer) delete(ctx context.Context, like Item, edits []func(*dynamodb.DeleteItemInput)) (Written[Item], error) {
	if w.movable != nil {
		return w.movable.delete(ctx, like, edits)
	}
	return w.change(ctx, like, func(at *located) (Item, *types.ConsumedCapacity, error) {
		for _, copied := range slices.Backward(at.hidden) {
			in := &dynamodb.DeleteItemInput{TableName: &w.sender.table, Key: w.schema.KeyAt(at.key, copied)}
			meter.Ask(ctx, &in.ReturnConsumedCapacity)
			out, err := w.deleteOne(ctx, copied, in, nil)
			if err != nil {
				return nil, nil, err
			}
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		in := &dynamodb.DeleteItemInput{TableName: &w.sender.table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &w.sender.table, at.key
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		watch := w.watcher.watch(ctx, &at.of, false, &in.ReturnConsumedCapacity)
		out, err := w.deleteOne(ctx, at.Home, in, watch)
		if out != nil {
			watch.end(out.ConsumedCapacity, nil)
		} else {
			watch.end(nil, nil)
		}
		if err != nil {
			w.failedCondition(err, in.ReturnValuesOnConditionCheckFailure, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

// deleteOne sends one DeleteItem. In a collection with versions it puts a tombstone instead.
func (w *writer) deleteOne(ctx context.Context, at place.Home, in *dynamodb.DeleteItemInput, watch *watch) (*dynamodb.DeleteItemOutput, error) {
	if w.versions.Keeps() {
		return w.bury(ctx, at, in, watch)
	}
	r := &request{operation: "DeleteItem", Home: at}
	var out *dynamodb.DeleteItemOutput
	err := w.sender.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, _ int) (err error) {
		out, err = w.sender.client.DeleteItem(ctx, in, dispatch.Once)
		watch.failed(err)
		return err
	})
	return out, err
}

// bury deletes an item of a collection with versions: it replaces the item with a tombstone.
func (w *writer) bury(ctx context.Context, at place.Home, in *dynamodb.DeleteItemInput, watch *watch) (*dynamodb.DeleteItemOutput, error) {
	put, claim, err := w.versions.Tombstone(in)
	if err != nil {
		return nil, err
	}
	out, err := w.sendPut(ctx, &place.Placement{Home: at}, put, claim, watch)
	if err != nil {
		return nil, err
	}
	if w.versions.Buried(out.Attributes) {
		out.Attributes = nil
	}
	return &dynamodb.DeleteItemOutput{Attributes: out.Attributes, ConsumedCapacity: out.ConsumedCapacity}, nil
}

// batchDelete deletes items. Those that can be in one place only are deleted with BatchWriteItem, 25 at a time. The others have
// to be looked for, and those of a collection with versions leave tombstones behind: w deletes them one by one, a few at a
// time, and those with the same key one after another, as each takes one copy of a random layout.
func batchDelete(ctx context.Context, w *writer, likes int, encode func(i int) (Item, error)) error {
	all := make([]*batchItem, likes)
	var together, apart keyGroups[*batchItem]
	for i := range all {
		e := &batchItem{position: i}
		all[i] = e
		var only bool
		if e.item, e.err = encode(i); e.err == nil {
			only, e.err = w.onlyPlace(ctx, e)
		}
		switch {
		case e.err != nil:
		case only:
			e.err = together.add(w.schema, e.sent, e)
		default:
			e.err = apart.add(w.schema, e.item, e)
		}
	}
	b := &batch{schema: w.schema, placer: w.placer, sender: w.sender, watcher: w.watcher, deletes: true}
	for _, same := range together.groups { // deleting twice is deleting once
		b.items = append(b.items, same[0])
	}
	b.write(ctx, b.items)
	for _, same := range together.groups {
		for _, e := range same[1:] {
			e.err = same[0].err
		}
	}
	inParallel(len(apart.groups), func(i int) {
		for _, e := range apart.groups[i] {
			_, e.err = w.delete(ctx, e.item, nil)
		}
	})
	errs := make([]error, likes)
	for i, e := range all {
		errs[i] = e.err
	}
	return batchError("BatchDelete", errs)
}

// keyGroups are items of a batch in groups of the same key, in the order of the batch.
type keyGroups[E any] struct {
	groups [][]E
	byKey  map[string]int
}

// add adds an item under its key. It is ErrItem if that is none.
func (g *keyGroups[E]) add(schema *place.Schema, key Item, e E) error {
	name, ok := schema.KeyText(key)
	if !ok {
		return errBadKey
	}
	at, known := g.byKey[name]
	if !known {
		if g.byKey == nil {
			g.byKey = make(map[string]int)
		}
		at = len(g.groups)
		g.byKey[name], g.groups = at, append(g.groups, nil)
	}
	g.groups[at] = append(g.groups[at], e)
	return nil
}

// onlyPlace reports whether one DeleteItem is all that it takes to delete an item, and says of which key.
func (w *writer) onlyPlace(ctx context.Context, e *batchItem) (bool, error) {
	key, err := w.schema.KeyOf(e.item)
	if err != nil || w.versions.Keeps() || w.movable != nil {
		return false, err
	}
	if w.schema.Index != "" {
		e.Placement, e.sent = &place.Placement{Home: w.schema.TableHome(key)}, key
		return true, nil
	}
	homes, err := w.schema.Homes(ctx, e.item, false)
	if err != nil || len(homes) > 1 || w.schema.Ledgers != nil { // a key with a ledger may be wider than this process knows
		return false, err
	}
	e.Placement, e.sent = &place.Placement{Home: homes[0]}, w.schema.KeyAt(key, homes[0])
	return true, nil
}
