package counter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/layout"
)

// Tally is the usual sharded counter: several items per counter. Each increment is an ADD to a random item, and a
// reader sums them up. It has no background work and nothing to close. It costs one write unit per increment, and is
// not exact if answers are lost: see Mode. Its methods may be called concurrently.
type Tally struct {
	options TallyOptions // with defaults
	client  Client
	layout  layout.Layout
	items   *direct.Table
	sender  *dispatch.Dispatcher // of transactions
}

// OpenTally returns the tallies in a table. It does no I/O and needs no closing.
func OpenTally(client Client, options TallyOptions) (*Tally, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", heatsink.ErrOptions)
	}
	items, err := direct.Open(client, direct.Options{
		Table: options.Table, PartitionKey: options.PartitionKey, Retry: options.Retry, Logger: options.Logger,
	})
	if err != nil {
		return nil, err
	}
	spread := layout.Layout{Shards: options.Shards, Format: options.Format}
	sender := dispatch.New(options.transactions(), nil, nil)
	return &Tally{options: options, client: client, layout: spread, items: items, sender: sender}, nil
}

// SetupTally creates the table of options as an on-demand table, or checks the one that exists. If that table does not
// have the required key, the error wraps ErrTable.
func SetupTally(ctx context.Context, client heatsink.TableClient, options TallyOptions) error {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return err
	}
	return options.table().Ensure(ctx, client)
}

// Add adds delta, which may be negative, to one item of the counter with this key. The error is an AddError, as for
// Counter.Add. The Mode decides how often delta is counted if an answer is lost.
func (t *Tally) Add(ctx context.Context, key string, delta int64) error {
	if t.options.Mode == Transaction {
		return t.AddOnce(ctx, key, delta, newToken())
	}
	err := t.add(ctx, key, delta)
	if err == nil {
		return nil
	}
	return &AddError{Key: key, Delta: delta, Uncertain: errors.As(err, new(*heatsink.UnknownOutcomeError)), Err: err}
}

// add sends an increment to a shard, and to another if that has no capacity. A lost answer ends it, or does not count,
// as the mode has it.
func (t *Tally) add(ctx context.Context, key string, delta int64) error {
	const draws = 3
	var lost error
	for n := 1; ; n++ {
		item, err := t.item(key, t.layout.Draw(nil))
		if err != nil {
			return err
		}
		_, err = t.items.Update(ctx, item, false, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression = aws.String("ADD #a :d")
			in.ExpressionAttributeNames = map[string]string{"#a": t.options.Attribute}
			in.ExpressionAttributeValues = heatsink.Item{":d": number(wideOf(delta))}
		})
		if err == nil {
			return nil
		}
		if errors.As(err, new(*heatsink.UnknownOutcomeError)) {
			lost = err
		}
		again := lost == nil || t.options.Mode == AtLeastOnce
		if !again || n == draws || dispatch.Judge(err) == dispatch.Rejected || ctx.Err() != nil {
			if lost != nil && !errors.As(err, new(*heatsink.UnknownOutcomeError)) {
				err = &heatsink.UnknownOutcomeError{Err: err}
			}
			return err
		}
	}
}

// Total returns the sum of the counter's items. A missing item counts as 0.
//
// It costs one GetItem per item: one read unit, or half a unit with Eventual.
func (t *Tally) Total(ctx context.Context, key string) (int64, error) {
	shards, err := t.read(ctx, key)
	if err != nil {
		return 0, err
	}
	return t.sum(key, shards)
}

// Shards returns the value of each of the counter's items, and 0 for a missing item.
func (t *Tally) Shards(ctx context.Context, key string) ([]int64, error) {
	shards, err := t.read(ctx, key)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(shards))
	for i, n := range shards {
		if out[i], err = t.sum(key, []wide{n}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Reset sets all items of the counter to 0, one after another, and returns the sum of their values before. A concurrent
// Add is either in that sum or still in the counter. If an answer is lost, the error is a heatsink.UnknownOutcomeError:
// some items may be reset, and their values are not known.
func (t *Tally) Reset(ctx context.Context, key string) (int64, error) {
	removed := make([]wide, t.options.Shards)
	err := t.each(func(shard int) error {
		item, err := t.item(key, shard)
		if err != nil {
			return err
		}
		old, err := t.items.Update(ctx, item, false, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression = aws.String("SET #a = :zero")
			in.ConditionExpression = aws.String("attribute_exists(#a)")
			in.ExpressionAttributeNames = map[string]string{"#a": t.options.Attribute}
			in.ExpressionAttributeValues = heatsink.Item{":zero": number(wide{})}
			in.ReturnValues = types.ReturnValueUpdatedOld
		})
		if errors.As(err, new(*types.ConditionalCheckFailedException)) {
			return nil // there is none
		}
		if err != nil {
			return err
		}
		removed[shard], err = t.value(old, item)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reset counter %q: %w", key, err)
	}
	return t.sum(key, removed)
}

func (t *Tally) read(ctx context.Context, key string) ([]wide, error) {
	shards := make([]wide, t.options.Shards)
	err := t.each(func(shard int) error {
		item, err := t.item(key, shard)
		if err != nil {
			return err
		}
		found, err := t.items.Get(ctx, item, func(in *dynamodb.GetItemInput) {
			in.ConsistentRead = aws.Bool(!t.options.Eventual)
		})
		if err != nil || found == nil {
			return err
		}
		shards[shard], err = t.value(found, item)
		return err
	})
	if err != nil {
		return nil, readError(key, err)
	}
	return shards, nil
}

// each calls do for all shards, some at a time, and returns what went wrong.
func (t *Tally) each(do func(shard int) error) error {
	const together = 64
	errs := make([]error, t.options.Shards)
	gate := make(chan struct{}, together)
	var all sync.WaitGroup
	for shard := range errs {
		gate <- struct{}{}
		all.Go(func() {
			errs[shard] = do(shard)
			<-gate
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// item returns the key of a shard's item.
func (t *Tally) item(key string, shard int) (heatsink.Item, error) {
	if err := checkControl(key); err != nil {
		return nil, err
	}
	shardKey, err := t.layout.ShardKey(key, time.Time{}, shard)
	if err != nil {
		return nil, err
	}
	item := heatsink.Item{t.options.PartitionKey: text(shardKey)}
	if t.options.SortKey != "" {
		item[t.options.SortKey] = text(t.options.SortValue)
	}
	return item, nil
}

// value reads the number out of an item.
func (t *Tally) value(item, key heatsink.Item) (wide, error) {
	name := key[t.options.PartitionKey].(*types.AttributeValueMemberS).Value
	d := decoder{item: item, what: fmt.Sprintf("item %q", name)}
	n := d.wide(t.options.Attribute)
	return n, d.err
}

func (t *Tally) sum(key string, shards []wide) (int64, error) {
	var total wide
	for _, n := range shards {
		total = total.plus(n)
	}
	n, fits := total.int64()
	if !fits {
		return 0, readError(key, fmt.Errorf("%w: %v", ErrOverflow, total))
	}
	return n, nil
}
