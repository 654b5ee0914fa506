package heatsink

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/version"
)

// transactions builds the parts of callers' own transactions. It sends nothing.
type transactions struct {
	schema   *place.Schema
	movable  *movable // nil if items stay where they are
	placer   *place.Placer
	versions *version.Keeper
	ttl      expiry.TTL
	table    string
}

// put returns a put as part of a transaction.
func (t *transactions) put(ctx context.Context, item Item, edits []func(*types.Put)) (part types.TransactWriteItem, err error) {
	if err := t.check(); err != nil {
		return part, err
	}
	put := &types.Put{TableName: &t.table, Item: t.schema.WithKeyOf(item, t.ttl.Give(item))}
	for _, edit := range edits {
		edit(put)
	}
	put.TableName, put.Item = &t.table, t.schema.WithKeyOf(item, put.Item)
	p, err := t.placer.Place(ctx, put.Item, put.ConditionExpression != nil)
	if err != nil {
		return part, err
	}
	put.Item = t.placer.Stored(p, put.Item)
	return types.TransactWriteItem{Put: put}, nil
}

// update returns an update as part of a transaction.
func (t *transactions) update(ctx context.Context, like Item, edits []func(*types.Update)) (part types.TransactWriteItem, err error) {
	update, err := partFor(ctx, t, like, edits, func(u *types.Update) (**string, *Item) { return &u.TableName, &u.Key })
	if err != nil {
		return part, err
	}
	assigned := compose.Assignments(aws.ToString(update.UpdateExpression), update.ExpressionAttributeNames, update.ExpressionAttributeValues)
	if err := t.schema.CheckAssignments(assigned, like); err != nil {
		return part, err
	}
	if t.schema.Index != "" && t.schema.Listed(like) {
		_, listing, err := t.placer.Listing(ctx, like, assigned)
		if err != nil {
			return part, err
		}
		if err := compose.Set(listing, &update.UpdateExpression, &update.ExpressionAttributeNames, &update.ExpressionAttributeValues); err != nil {
			return part, err
		}
	}
	return types.TransactWriteItem{Update: update}, nil
}

// delete returns a delete as part of a transaction.
func (t *transactions) delete(ctx context.Context, like Item, edits []func(*types.Delete)) (types.TransactWriteItem, error) {
	del, err := partFor(ctx, t, like, edits, func(d *types.Delete) (**string, *Item) { return &d.TableName, &d.Key })
	return types.TransactWriteItem{Delete: del}, err
}

// condition returns a condition as part of a transaction.
func (t *transactions) condition(ctx context.Context, like Item, edits []func(*types.ConditionCheck)) (types.TransactWriteItem, error) {
	check, err := partFor(ctx, t, like, edits, func(c *types.ConditionCheck) (**string, *Item) { return &c.TableName, &c.Key })
	return types.TransactWriteItem{ConditionCheck: check}, err
}

// partFor returns a part for one item, after the edits. The edits see the table and the key, which where returns, but
// cannot change them.
func partFor[P any](ctx context.Context, t *transactions, like Item, edits []func(*P), where func(*P) (table **string, key *Item)) (*P, error) {
	key, err := t.key(ctx, like)
	if err != nil {
		return nil, err
	}
	part := new(P)
	table, own := where(part)
	*table, *own = &t.table, maps.Clone(key)
	for _, edit := range edits {
		edit(part)
	}
	*table, *own = &t.table, key
	return part, nil
}

// check refuses transactions in a collection with versions. A part that is built before another write has an older
// version, so DynamoDB would cancel it without a reason that the caller could see.
func (t *transactions) check() error {
	if !t.versions.Keeps() {
		return nil
	}
	return fmt.Errorf("%w: transactions are not possible with Options.Version %q: leave Version out, or write items one by one", ErrOptions, t.versions.Name())
}

// key returns the table's key of an item. It returns ErrScattered if the item may be in several shards.
func (t *transactions) key(ctx context.Context, like Item) (Item, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.schema.OnlyKey(ctx, like, "a transaction cannot look for the item: send the write by itself")
}
