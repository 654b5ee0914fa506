// Package direct reads and writes items under their stored keys. It serves recipes that write shard keys themselves: a
// Collection would treat such a key as a logical key with shards of its own. internal/dispatch sends, retries and meters
// the requests as it does for collections, with the same errors.
package direct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// maxConcurrency is the maximum number of reads of one Table in flight, which is the default of a collection.
const maxConcurrency = 256

// Options describe a Table. Table and PartitionKey are required.
type Options struct {
	Table        string
	PartitionKey string // of the table or, if it has one, the Index; errors and logs name it
	SortKey      string // of the table, for PutAll to distinguish items; "" if it has none
	Index        string // the index that queries read; "" means the table
	Retry        heatsink.Retry
	Logger       *slog.Logger // receives retries at debug level; may be nil
}

// Table sends requests for the items of a table. Its methods are safe for concurrent use. They add their cost to the
// meters of their context.
type Table struct {
	client        heatsink.Client
	options       Options
	reads, writes *dispatch.Dispatcher // separate, so that reads do not spend the retry budget of writes
}

// Open returns the table that options describe. It does no I/O. Its errors wrap heatsink.ErrOptions.
func Open(client heatsink.Client, options Options) (*Table, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", heatsink.ErrOptions)
	}
	retry := dispatch.Retry(options.Retry)
	if err := retry.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", heatsink.ErrOptions, err)
	}
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	return &Table{
		client: client, options: options,
		reads:  dispatch.New(retry, dispatch.NewLimiter(maxConcurrency), nil),
		writes: dispatch.New(retry, nil, nil),
	}, nil
}

// Get returns the item with a key, or nil if there is none. edit may be nil, here and below. It cannot change the table
// or the key.
func (t *Table) Get(ctx context.Context, key heatsink.Item, edit func(*dynamodb.GetItemInput)) (heatsink.Item, error) {
	return t.GetAny(ctx, func() heatsink.Item { return key }, edit)
}

// GetAny is Get for an item that is stored under several keys. Each attempt asks next for its key, so that a read of a
// throttled key can be repeated with another one. An error has the key of the last attempt.
func (t *Table) GetAny(ctx context.Context, next func() heatsink.Item, edit func(*dynamodb.GetItemInput)) (heatsink.Item, error) {
	const operation = "GetItem"
	var out *dynamodb.GetItemOutput
	key := ""
	attempts, err := t.reads.Do(ctx, dispatch.Request{Send: t.logged(operation, &key, func(ctx context.Context) (err error) {
		in := &dynamodb.GetItemInput{} // another for each attempt: who records requests may still have the last
		if edit != nil {
			edit(in)
		}
		in.TableName, in.Key = &t.options.Table, next()
		key = t.name(in.Key)
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		out, err = t.client.GetItem(ctx, in, dispatch.Once)
		return err
	})})
	if err != nil {
		return nil, t.failure(operation, key, attempts, err)
	}
	found := 0
	if out.Item != nil {
		found = 1
	}
	meter.Read(ctx, found, out.ConsumedCapacity)
	return out.Item, nil
}

// Query returns the items of one partition key. It sends nothing before the loop starts. An error is the last pair. edit
// sets the key condition, which must select items of one partition key.
func (t *Table) Query(ctx context.Context, key string, edit func(*dynamodb.QueryInput)) iter.Seq2[heatsink.Item, error] {
	return func(yield func(heatsink.Item, error) bool) {
		for page, err := range t.pages(ctx, key, edit) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Count returns the number of items that Query would return.
func (t *Table) Count(ctx context.Context, key string, edit func(*dynamodb.QueryInput)) (n int, err error) {
	for page, err := range t.pages(ctx, key, func(in *dynamodb.QueryInput) {
		edit(in)
		in.Select = types.SelectCount
	}) {
		if err != nil {
			return 0, err
		}
		n += int(page.Count)
	}
	return n, nil
}

// pages returns the responses to a query, page by page.
func (t *Table) pages(ctx context.Context, key string, edit func(*dynamodb.QueryInput)) iter.Seq2[*dynamodb.QueryOutput, error] {
	return func(yield func(*dynamodb.QueryOutput, error) bool) {
		var start heatsink.Item
		for {
			in := &dynamodb.QueryInput{} // another for each page: who logs or records requests may still have the last
			edit(in)
			in.TableName, in.ExclusiveStartKey = &t.options.Table, start
			if t.options.Index != "" {
				in.IndexName = &t.options.Index
			}
			meter.Ask(ctx, &in.ReturnConsumedCapacity)
			var out *dynamodb.QueryOutput
			err := t.read(ctx, "Query", t.options.Index, key, func(ctx context.Context) (err error) {
				out, err = t.client.Query(ctx, in, dispatch.Once)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			meter.Read(ctx, int(out.ScannedCount), out.ConsumedCapacity)
			if len(start) > 0 && reflect.DeepEqual(start, out.LastEvaluatedKey) { // there would be no end
				yield(nil, t.failure("Query", key, 1, errors.New("a page ends where it starts")))
				return
			}
			if start = out.LastEvaluatedKey; !yield(out, nil) || len(start) == 0 {
				return
			}
		}
	}
}

// Put writes an item. Doing it twice is doing it once, so it is repeated after a lost answer; a condition may fail then
// because of the first attempt, and the error is a heatsink.UnknownOutcomeError. edit must not ask for the old item, which a
// repetition would not return.
func (t *Table) Put(ctx context.Context, item heatsink.Item, edit func(*dynamodb.PutItemInput)) error {
	in := &dynamodb.PutItemInput{}
	if edit != nil {
		edit(in)
	}
	in.TableName, in.Item = &t.options.Table, item
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	return t.write(ctx, "PutItem", t.name(item), true, func(ctx context.Context) error {
		out, err := t.client.PutItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	})
}

// Update changes the item with a key, and returns the attributes that edit asks for. repeatable means that the update is
// idempotent and that a retry returns the same attributes. If it is false, a lost response ends the update with a
// heatsink.UnknownOutcomeError.
func (t *Table) Update(ctx context.Context, key heatsink.Item, repeatable bool, edit func(*dynamodb.UpdateItemInput)) (heatsink.Item, error) {
	in := &dynamodb.UpdateItemInput{}
	edit(in)
	in.TableName, in.Key = &t.options.Table, key
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	var attributes heatsink.Item
	err := t.write(ctx, "UpdateItem", t.name(key), repeatable, func(ctx context.Context) error {
		out, err := t.client.UpdateItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
			attributes = out.Attributes
		}
		return err
	})
	return attributes, err
}

// Delete deletes the item with a key. It is retried as Put is, so edit must not ask for the old item either.
func (t *Table) Delete(ctx context.Context, key heatsink.Item, edit func(*dynamodb.DeleteItemInput)) error {
	in := &dynamodb.DeleteItemInput{}
	if edit != nil {
		edit(in)
	}
	in.TableName, in.Key = &t.options.Table, key
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	return t.write(ctx, "DeleteItem", t.name(key), true, func(ctx context.Context) error {
		out, err := t.client.DeleteItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	})
}

// name returns the partition key of an item, for errors.
func (t *Table) name(item heatsink.Item) string {
	key, _ := item[t.options.PartitionKey].(*types.AttributeValueMemberS)
	if key == nil {
		return ""
	}
	return key.Value
}

// read sends a request that changes nothing. Its error is a *heatsink.ShardError.
func (t *Table) read(ctx context.Context, operation, index, key string, send func(context.Context) error) error {
	attempts, err := t.reads.Do(ctx, dispatch.Request{Send: t.logged(operation, &key, send)})
	err = t.failure(operation, key, attempts, err)
	if failed, ok := errors.AsType[*heatsink.ShardError](err); ok {
		failed.Index = index
	}
	return err
}

// write sends a request that changes something. Its error is a *heatsink.ShardError.
func (t *Table) write(ctx context.Context, operation, key string, repeatable bool, send func(context.Context) error) error {
	lost := false
	attempts, err := t.writes.Write(ctx, repeatable, &lost, t.logged(operation, &key, send))
	if err != nil && lost {
		err = &heatsink.UnknownOutcomeError{Err: err}
	}
	return t.failure(operation, key, attempts, err)
}

// logged returns send with a log message for each retry, which has the key of the attempt before.
func (t *Table) logged(operation string, key *string, send func(context.Context) error) func(context.Context, int) error {
	var last error
	return func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			t.options.Logger.DebugContext(ctx, "request retried", "table", t.options.Table,
				"operation", operation, "shard", *key, "attempt", attempt, "reason", last)
		}
		last = send(ctx)
		return last
	}
}

func (t *Table) failure(operation, key string, attempts int, err error) error {
	if err == nil {
		return nil
	}
	return &heatsink.ShardError{Operation: operation, Table: t.options.Table, ShardKey: key, Attempts: attempts, Err: err}
}
