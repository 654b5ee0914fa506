package heatsink

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// Collection stores items in a table or an index through a layout. It spreads the items of a key over shards and reads
// them back as one ordered list. T is a struct with dynamodbav tags, as package attributevalue defines them, or Item for
// raw items. Options.Encode and Options.Decode change how items are encoded. All methods are safe for concurrent use.
//
// An item holds its logical key. Put replaces the value of the partition key attribute with the shard key, and reads
// restore the logical key. A read therefore returns exactly what was put.
//
// DynamoDB's numbers have 38 digits, but a float64 has only 17. Use attributevalue.Number for key attributes that may
// have more digits, such as times from Python's decimal. Otherwise Get cannot find an item that Query returned.
//
// Requests use the client's own middleware, endpoint and region. heatsink retries them itself and turns the SDK's retries
// off.
type Collection[T any] struct {
	core *core
}

// Open returns the collection that options describe. It does no I/O, and the collection needs no closing. Errors wrap
// ErrOptions or layout.ErrInvalid.
func Open[T any](client Client, options Options) (*Collection[T], error) {
	if sdk, ok := client.(*dynamodb.Client); client == nil || ok && sdk == nil {
		return nil, fmt.Errorf("%w: the client is nil", ErrOptions)
	}
	c, err := newCore(client, options)
	if err != nil {
		return nil, err
	}
	return &Collection[T]{c}, nil
}

// As returns the same collection with items of another type, for tables that hold several types. Both collections share
// their options, a retry budget, a concurrency limit and what they have learned about the table.
func As[U, T any](c *Collection[T]) *Collection[U] { return &Collection[U]{c.core} }

// Put writes an item to its shard and returns where it was written.
//
// A Calculated layout determines the shard, so Put replaces an item with the same key. It does not replace a copy under
// an Older layout, under a narrower width, or under the bare key of a format with BareZero. Such a copy stays, but Get
// prefers the new one. A Random layout draws the shard, so Put appends: a second Put of the same key usually adds a
// second item. With an Index, the table holds each item once, and Put replaces it.
//
// edit may change the request before it is sent, except for the table and the key. It sees the logical key.
//
//	_, err := orders.Put(ctx, order, func(in *dynamodb.PutItemInput) {
//		in.ConditionExpression = aws.String("attribute_not_exists(id)")
//	})
//
// A condition checks only one place. Put refuses a condition with ErrScattered where the item may be in several places:
// with a Random layout, BareZero, Older layouts, Widths or Adaptive.
//
// If a shard is throttled, a Random layout tries another one. After a lost response the item may have been written, so
// Put retries on the same shard only. If the condition then fails, the error is an UnknownOutcomeError: the existing item
// may be this one or an equal one from another writer. With Options.Version, heatsink can tell them apart.
func (c *Collection[T]) Put(ctx context.Context, item T, edit ...func(*dynamodb.PutItemInput)) (Written[T], error) {
	return write(c.core, item, func(raw Item) (Written[Item], error) { return c.core.writer.put(ctx, raw, edit) })
}

// Update changes the item that has the key of like. like needs only the key and the attributes that determine the shard
// and the bucket. edit sets what to change:
//
//	_, err := users.Update(ctx, User{ID: "u1"}, func(in *dynamodb.UpdateItemInput) {
//		in.UpdateExpression = aws.String("SET lastSeen = :now")
//		in.ExpressionAttributeValues = Item{":now": …}
//	})
//
// With a Random layout, Update first looks for the item with a strongly consistent read of every shard. It returns
// ErrNotFound if no shard has the item, and never creates one. With a Calculated layout, Update looks for the item only
// if it may be in several shards. If no shard has it, Update creates it, except with Adaptive, where it returns ErrNotFound.
//
// With an Index, Update lists the item under the logical key of like. In a layout with buckets it also gives the item the
// event time of like, which determines the bucket. Update sets the index's partition key itself, so the expression must not
// name it. An item that Update creates gets the index's sort key of like; one that exists keeps its own. If like has no key,
// or an empty one, the listing does not change.
//
// Update refuses, with ErrItem, to change an attribute that determines the item's place, because the item would not move.
// These attributes are the index's key, the event time of a layout with buckets, and the attributes that a Calculated
// layout hashes. Setting the event time or a hashed attribute to the value that like has is allowed. To move an item, delete
// it and put it again.
//
// After a lost response, Update does not retry an update that is not idempotent, such as an ADD. The error is then an
// UnknownOutcomeError.
func (c *Collection[T]) Update(ctx context.Context, like T, edit ...func(*dynamodb.UpdateItemInput)) (Written[T], error) {
	return write(c.core, like, func(raw Item) (Written[Item], error) { return c.core.writer.update(ctx, raw, edit) })
}

// Delete deletes the item that has the key of like. With a Random layout, it first looks for the item as Update does, and
// deletes one item if there are several. With Adaptive and a Calculated layout, it is ErrNotFound if no shard has the item.
// Otherwise deleting an item that does not exist succeeds, as in DynamoDB.
//
// With a Calculated layout, Delete also looks for an item that may be in several shards, and deletes every copy. The copy
// that Get returns is the last to go, under the conditions of edit. If these fail, the item still exists, and only copies
// that Get did not return are gone. Delete keeps a copy that an update created without the attributes of ShardBy, because
// it may belong to another item.
func (c *Collection[T]) Delete(ctx context.Context, like T, edit ...func(*dynamodb.DeleteItemInput)) (Written[T], error) {
	return write(c.core, like, func(raw Item) (Written[Item], error) { return c.core.writer.delete(ctx, raw, edit) })
}

// Get returns the item that has the key of like, or ErrNotFound.
//
// With a Calculated layout, Get sends one GetItem. If the item is not there and BareZero, Older layouts or Widths allow
// other places, it also sends a BatchGetItem. With a Random layout, Get sends a BatchGetItem for all shards, 100 at a
// time. If several shards have the item, Get returns that of the lowest shard. A BatchGetItem uses only ConsistentRead,
// the projection and its names from what edit sets.
//
// If an Index lists the item in a shard that this collection does not read, Get returns the item and an error that wraps
// ErrTooNarrow.
func (c *Collection[T]) Get(ctx context.Context, like T, edit ...func(*dynamodb.GetItemInput)) (T, error) {
	return one(c.core, like, func(raw Item) (Item, error) { return c.core.finder.get(ctx, raw, edit) })
}

// GetMerged reads the items that all shards have under the key of like, and merges their attributes into one item. If
// several shards have an attribute, that of the lowest shard counts. Use it for an item that was too large or too hot for
// one shard and was stored in parts. It returns ErrNotFound if no shard has a part.
func (c *Collection[T]) GetMerged(ctx context.Context, like T, edit ...func(*dynamodb.GetItemInput)) (T, error) {
	return one(c.core, like, func(raw Item) (Item, error) { return c.core.finder.getMerged(ctx, raw, edit) })
}

// BatchPut writes items as Put does, with BatchWriteItem, 25 items a request. It retries the items that DynamoDB leaves
// unprocessed. If several items have the same key, only the last one is stored, also in a Random layout, where Put would
// append each of them. Where ShardBy puts them in different shards, they are different items.
//
// Items that were not written are in a BatchError, for example because they lack a key, are too large or met a fault. All
// others were written. If DynamoDB rejects a request because of one item, BatchPut finds that item by halving the batch,
// which takes up to ten more requests.
func (c *Collection[T]) BatchPut(ctx context.Context, items []T) error {
	return batchPut(ctx, c.core.writer, len(items), func(i int) (Item, error) { return encode(c.core, items[i]) })
}

// BatchGet returns the items with the keys that likes have, in the order of likes, as Get does, with BatchGetItem, 100 keys at
// a time. Reads are eventually consistent. Where an item may be in several shards they are all keys of these requests, as
// for Get. Equal keys are read once. What DynamoDB leaves unprocessed is asked for again.
//
// The result is as long as likes, with a zero T for each item that is missing. These are in a *BatchError by position:
// with ErrNotFound, or with why they could not be read or decoded. Everything else is there. With an error that wraps
// ErrTooNarrow the item is there, too. A key that only DynamoDB finds fault with is looked for by halves, which takes up
// to fourteen requests more.
func (c *Collection[T]) BatchGet(ctx context.Context, likes []T) ([]T, error) {
	return batchGet(ctx, c.core, likes)
}

// BatchDelete deletes the items with the keys that likes have, as Delete does. Where each can be in one place only, as with an
// Index or a Calculated layout without BareZero, Older layouts and Widths, it takes BatchWriteItem, 25 at a time. Else, and with
// Options.Version, it takes what Delete takes for each of them, a few at a time.
//
// Items that were not deleted, or may not have been, are in a *BatchError by position; all others were. As with Delete, what
// is not there is ErrNotFound where items are looked for in a Random layout, and no error anywhere else. Equal keys are
// deleted once, except from a Random layout, where each takes one copy.
func (c *Collection[T]) BatchDelete(ctx context.Context, likes []T) error {
	return batchDelete(ctx, c.core.writer, len(likes), func(i int) (Item, error) { return encode(c.core, likes[i]) })
}

// TransactPut returns the request of a Put as a part of the caller's own transaction. The shard is chosen now: to retry
// the transaction, send the same part again.
func (c *Collection[T]) TransactPut(ctx context.Context, item T, edit ...func(*types.Put)) (types.TransactWriteItem, error) {
	return encoded(c.core, item, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.put(ctx, raw, edit) })
}

// TransactUpdate is TransactPut for an Update. A transaction cannot look for an item. TransactUpdate, TransactDelete and
// TransactCheck therefore return ErrScattered if the item may be in several places. An item has one place with a
// Calculated layout without BareZero, Older layouts or Widths.
//
// Parts of a movable collection are for a Transaction, which finds the items while they move.
func (c *Collection[T]) TransactUpdate(ctx context.Context, like T, edit ...func(*types.Update)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.update(ctx, raw, edit) })
}

// TransactDelete is TransactPut for a Delete.
func (c *Collection[T]) TransactDelete(ctx context.Context, like T, edit ...func(*types.Delete)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.delete(ctx, raw, edit) })
}

// TransactCheck is TransactPut for a condition on an item that the transaction does not change.
func (c *Collection[T]) TransactCheck(ctx context.Context, like T, edit ...func(*types.ConditionCheck)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.condition(ctx, raw, edit) })
}

// Query returns the items that q selects. They are ordered by bucket, then by sort key in DynamoDB's order, then by
// shard; q.Reverse reverses that order exactly. Query sends nothing before the loop starts, and a second loop reads
// again. Leaving the loop cancels the requests in flight and waits for them.
//
// If an item cannot be decoded, the loop receives a zero T and a *DecodeError in its place, and may continue with the
// next item. Any other error is the last pair.
func (c *Collection[T]) Query(ctx context.Context, q Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, end := c.core.sender.startOperation(ctx, "Query", q.Key)
		var failed error
		defer func() { end(failed) }()
		for raw, err := range queryRows(ctx, c.core, q) {
			if err != nil {
				failed = err
				yield(none, err)
				return
			}
			item, err := decodeRow[T](raw)
			if err != nil {
				item = none
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// Page returns up to q.Limit items that follow the page whose Next is token. An empty token selects the first page. All
// pages together are what Query returns, whatever their sizes, even if the layout grows in between.
//
// From and To may move from page to page, as a range that ends now does. Key, Sort, Reverse, Filter, Projection, Names,
// Values and IncludeExpired must stay the same.
//
// A token stays valid when a key gets more shards, through Layout.Shards or Widths. It also stays valid when an unsharded
// key gets its first shards with Format.BareZero, and when Strategy or Hash change. Page refuses it with ErrToken if the
// table, the key attributes, Bucket, Older or the format of shard keys change. If fewer shards are read than when the
// token was issued, the error also wraps ErrTooNarrow, because items would be missing.
//
// With Movable, a token stays valid in every stage of a move and after it, for processes with either layout. Tokens of a collection that
// was not Movable yet are refused, unless the key had one shard without a suffix.
//
// With q.Partial, Page may return both a page without Next and a GatherError. Page leaves out items that cannot be
// decoded. Its error then wraps a *DecodeError for each of them. The page still has its other items, and its Next
// continues after them.
func (c *Collection[T]) Page(ctx context.Context, q Query, token string) (Page[T], error) {
	if err := q.whole("a page token cannot record which shards were drawn: use Query, or leave Sample out"); err != nil {
		return Page[T]{}, err
	}
	ctx, end := c.core.sender.startOperation(ctx, "Page", q.Key)
	raw, err := readPage(ctx, c.core, q, token)
	end(err)
	page := Page[T]{Next: raw.Next}
	var bad decodeErrors
	for _, w := range raw.Items {
		item, err := decodeRow[T](w)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		page.Items = append(page.Items, item)
	}
	if len(bad) > 0 && err != nil {
		return page, errors.Join(err, bad)
	}
	if len(bad) > 0 {
		return page, bad
	}
	return page, err
}

// Decode converts a stored item to a T with its logical key, and returns where it was stored. It is the inverse of Put,
// for items from a stream, a scan or an export. Decode also understands shards of wider layouts. If this collection does
// not read the shard, Decode returns the item, its place and an error that wraps ErrTooNarrow. It calls Widths without a
// deadline. A control item and a tombstone are ErrNotFound, and so is what a move has left behind in a movable collection.
func (c *Collection[T]) Decode(stored Item) (T, layout.Place, error) {
	raw, place, err := decodeStored(c.core, stored)
	if raw == nil {
		var none T
		return none, place, err
	}
	item, wrong := decode[T](c.core.options.Decode, raw)
	if failed, ok := wrong.(*DecodeError); ok {
		failed.Key = attribute.Pick(raw, c.core.schema.AllKeys())
	}
	if wrong != nil {
		return item, place, wrong
	}
	return item, place, err
}

// Locate returns the keys of the table under which the item with the key of like may be stored. It sends no request. A
// Calculated layout has one such key, and any other layout has one for every shard. BareZero, Older layouts and narrower
// Widths add theirs. With Adaptive, there are more if other processes have made the key wider. With Movable, there are two while
// the item moves, and Locate reads the collection's record if it was not read for a while. It returns ErrOptions if one of them is in
// another table than Options.Table, because items move between tables.
func (c *Collection[T]) Locate(ctx context.Context, like T) ([]Item, error) {
	return encoded(c.core, like, func(raw Item) ([]Item, error) {
		if c.core.movable != nil {
			return c.core.movable.locate(ctx, raw)
		}
		return c.core.schema.EveryKey(ctx, raw)
	})
}

// Plan returns how many buckets and shards q will read, without reading them. It ignores q.MaxRequests. With Adaptive, it reads
// the ledgers that the process does not know.
func (c *Collection[T]) Plan(ctx context.Context, q Query) (Plan, error) {
	return planRead(ctx, c.core, q)
}

// Count returns the number of items that q selects. The shards are counted in parallel. DynamoDB transfers no items, but
// charges for reading them.
//
// Count reads items only where it must compare their event times with From and To. That is without buckets, in Older
// layouts, and in buckets that From or To cut. With q.Limit, Count stops at the limit and reads the keys of about as many
// items as a Query with that Limit. With Movable, Count reads the keys of all items, which costs the same units.
func (c *Collection[T]) Count(ctx context.Context, q Query) (int, error) {
	ctx, end := c.core.sender.startOperation(ctx, "Count", q.Key)
	n, err := countItems(ctx, c.core, q)
	end(err)
	return n, err
}

// Distribution counts the items of every shard that q reads, and measures how evenly they are spread. While the items of a collection
// with Movable move, these are the shards that they move from and to.
func (c *Collection[T]) Distribution(ctx context.Context, q Query) (layout.Evenness, error) {
	if err := q.whole("a distribution compares all shards: leave Sample out"); err != nil {
		return layout.Evenness{}, err
	}
	return countShards(ctx, c.core, q)
}

// Written is the result of a write.
type Written[T any] struct {
	ShardKey string // the stored partition key
	Shard    int

	// Generation is that of the key's ledger, in a collection with Adaptive: a read with Query.AtLeast this or more returns
	// what was put. It is 0 for a key that has never grown.
	Generation int64

	// Attributes are the item or the attributes that ReturnValues asked for, or nil. They are raw because they may be
	// only part of an item; Decode converts them.
	Attributes Item

	decoder func(*attributevalue.DecoderOptions) // of the collection
}

// Decode returns the Attributes as a T, as the collection decodes items: with Options.Decode.
func (w Written[T]) Decode() (T, error) { return decode[T](w.decoder, w.Attributes) }

// Page is a part of the result of a Query.
type Page[T any] struct {
	Items []T

	// Next is the token of the next page, and is empty after the last page. The next page may be empty.
	Next string
}
