package heatsink

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/compose"
)

// transactPut returns a put as part of a transaction.
func (c *core) transactPut(ctx context.Context, item Item, edits []func(*types.Put)) (types.TransactWriteItem, error) {
	if err := c.untransacted(); err != nil {
		return types.TransactWriteItem{}, err
	}
	put := &types.Put{TableName: &c.options.Table, Item: c.withKeyOf(item, c.withTTL(item))}
	for _, edit := range edits {
		edit(put)
	}
	put.TableName, put.Item = &c.options.Table, c.withKeyOf(item, put.Item)
	p, err := c.placePut(ctx, put.Item, put.ConditionExpression != nil)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	put.Item = c.stored(p, put.Item)
	return types.TransactWriteItem{Put: put}, nil
}

// transactUpdate returns an update as part of a transaction.
func (c *core) transactUpdate(ctx context.Context, like Item, edits []func(*types.Update)) (types.TransactWriteItem, error) {
	key, err := c.onlyKey(ctx, like)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	update := &types.Update{TableName: &c.options.Table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(update)
	}
	update.TableName, update.Key = &c.options.Table, key
	assigned := compose.Assignments(aws.ToString(update.UpdateExpression), update.ExpressionAttributeNames, update.ExpressionAttributeValues)
	if err := c.checkAssignments(assigned, like); err != nil {
		return types.TransactWriteItem{}, err
	}
	if c.options.Index != "" && c.listed(like) {
		_, listing, err := c.listing(ctx, like, assigned)
		if err == nil {
			err = compose.Set(listing, &update.UpdateExpression, &update.ExpressionAttributeNames, &update.ExpressionAttributeValues)
		}
		if err != nil {
			return types.TransactWriteItem{}, err
		}
	}
	return types.TransactWriteItem{Update: update}, nil
}

// transactDelete returns a delete as part of a transaction.
func (c *core) transactDelete(ctx context.Context, like Item, edits []func(*types.Delete)) (types.TransactWriteItem, error) {
	key, err := c.onlyKey(ctx, like)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	del := &types.Delete{TableName: &c.options.Table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(del)
	}
	del.TableName, del.Key = &c.options.Table, key
	return types.TransactWriteItem{Delete: del}, nil
}

// transactCheck returns a condition as part of a transaction.
func (c *core) transactCheck(ctx context.Context, like Item, edits []func(*types.ConditionCheck)) (types.TransactWriteItem, error) {
	key, err := c.onlyKey(ctx, like)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	check := &types.ConditionCheck{TableName: &c.options.Table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(check)
	}
	check.TableName, check.Key = &c.options.Table, key
	return types.TransactWriteItem{ConditionCheck: check}, nil
}

// untransacted refuses transactions on a collection with versions: a part that was built before another write has an older
// version, and so would be refused without a reason that the caller could see.
func (c *core) untransacted() error {
	if c.options.Version == "" {
		return nil
	}
	return fmt.Errorf("%w: transactions cannot keep Options.Version %q: leave Version out, or write items one by one", ErrOptions, c.options.Version)
}

// onlyKey returns the table's key of an item, if there is only one shard that it can be in.
func (c *core) onlyKey(ctx context.Context, like Item) (Item, error) {
	if err := c.untransacted(); err != nil {
		return nil, err
	}
	key, err := c.keyOf(like)
	if err != nil || c.options.Index != "" {
		return key, err
	}
	home, err := c.onlyHome(ctx, like, "a transaction cannot look for it: send the write by itself")
	if err != nil {
		return nil, err
	}
	return c.in(key, home), nil
}
