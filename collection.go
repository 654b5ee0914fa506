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

// Collection is a layout on a table or index: what is put in is spread over shards, and read back as one list in order.
// T is a struct with dynamodbav tags, as attributevalue has them, or Item for raw items; Options.Encode and Options.Decode
// say if the tags or times are others. Its methods may be called concurrently.
//
// DynamoDB's numbers have 38 digits and a float64 has 17: take attributevalue.Number for keys that may have more, as times
// written by Python's decimal do, or Get cannot find again what Query has listed.
//
// Items carry their logical key: Put replaces the partition key attribute by the stored one, and reads put the logical
// one back. So what is read is what was put, however many shards it went through.
//
// Operations send their requests with the client's own middleware, endpoint and region. They repeat them themselves,
// with the SDK's retries turned off.
type Collection[T any] struct {
	core *core
}

// Open returns the collection that options describe. It does no I/O and needs no closing.
func Open[T any](client Client, options Options) (*Collection[T], error) {
	if client == nil {
		return nil, fmt.Errorf("%w: there is no client", ErrOptions)
	}
	c, err := newCore(client, options)
	if err != nil {
		return nil, err
	}
	return &Collection[T]{c}, nil
}

// As returns the same collection with items of another type, for tables that hold several. They share the options, those
// of encoding among them, and what the collection has learnt about the table.
func As[U, T any](c *Collection[T]) *Collection[U] { return &Collection[U]{c.core} }

// Put writes an item to its shard. A Calculated layout says which, so that it replaces an item with the same key; not if
// that is under an Older layout, a narrower width, or the bare key of a format with BareZero, where it stays as a second
// copy that counts less. A Random layout draws the shard: Put appends then, and a second Put of the same key is most likely
// a second item. With an Index the table has each item once, and Put replaces it.
//
// edit may change the request before it is sent: conditions, return values, anything but table and key. It sees the
// logical key.
//
//	_, err := orders.Put(ctx, order, func(in *dynamodb.PutItemInput) {
//		in.ConditionExpression = aws.String("attribute_not_exists(id)")
//	})
//
// A condition checks one place. Where the item may be in several, with a Random layout, BareZero, Older layouts or Widths, it
// is refused with ErrScattered.
//
// Throttled, a random write tries another shard. If an answer is lost the item may have been written, so from then on it
// is only sent to that same shard. If its condition fails then, the error is an UnknownOutcomeError: the item that stands
// against it may be the own one, or an equal one of somebody else. With Options.Version heatsink can tell.
func (c *Collection[T]) Put(ctx context.Context, item T, edit ...func(*dynamodb.PutItemInput)) (Written[T], error) {
	return write(c.core, item, func(raw Item) (Written[Item], error) { return c.core.writer.put(ctx, raw, edit) })
}

// Update changes the item with the key that like has, which needs to hold no more than the key and what the shard and
// bucket are worked out from. edit says what to change:
//
//	_, err := users.Update(ctx, User{ID: "u1"}, func(in *dynamodb.UpdateItemInput) {
//		in.UpdateExpression = aws.String("SET lastSeen = :now")
//		in.ExpressionAttributeValues = Item{":now": …}
//	})
//
// With a Random layout the item is looked for first, with a strongly consistent read of every shard, and ErrNotFound if
// none has it: it is never created. With a Calculated one it is looked for if it may be in several shards, and else
// created. With an Index the item is listed from now on under the logical key that like has, and in the bucket of like's
// event time, which it gets; it stays where it is if like has no key, or an empty one.
//
// What the item's place is worked out from cannot be changed, as the item would stay where it is: the index's key, the
// event time of a layout with buckets, what a Calculated layout takes the shard from. Such an update is refused with
// ErrItem, unless it sets the attribute to the value that like has. Delete the item and put it again instead.
//
// An update that is not safe to do twice, such as an ADD, is not repeated after its answer was lost: the error is an
// UnknownOutcomeError then.
func (c *Collection[T]) Update(ctx context.Context, like T, edit ...func(*dynamodb.UpdateItemInput)) (Written[T], error) {
	return write(c.core, like, func(raw Item) (Written[Item], error) { return c.core.writer.update(ctx, raw, edit) })
}

// Delete deletes the item with the key that like has. With a Random layout it is looked for first, as by Update, and one is
// deleted if there are several; else, as in DynamoDB, deleting what is not there succeeds.
//
// With a Calculated layout, an item that may be in several shards is looked for as well, and every copy is deleted. The copy
// that counts is deleted last, under the conditions of edit. So if they fail, the item is still there, and only copies are
// gone that it was hiding from Get. A copy that an update created without the attributes of ShardBy is left where it is,
// as it may be the part of another item.
func (c *Collection[T]) Delete(ctx context.Context, like T, edit ...func(*dynamodb.DeleteItemInput)) (Written[T], error) {
	return write(c.core, like, func(raw Item) (Written[Item], error) { return c.core.writer.delete(ctx, raw, edit) })
}

// Get returns the item with the key that like has, or ErrNotFound. With a Calculated layout that is one GetItem, and a
// BatchGetItem if the item is not there and BareZero, Older layouts or Widths say where else it may be; with a Random one, a
// BatchGetItem over all shards, 100 at a time, of which the lowest that has the item wins. Of what edit changes, a
// BatchGetItem heeds ConsistentRead, the projection and its names.
//
// If an Index lists the item in a shard that this collection does not read, Get returns the item together with an error
// that wraps ErrTooNarrow.
func (c *Collection[T]) Get(ctx context.Context, like T, edit ...func(*dynamodb.GetItemInput)) (T, error) {
	return one(c.core, like, func(raw Item) (Item, error) { return c.core.finder.get(ctx, raw, edit) })
}

// GetMerged reads what every shard has under the key that like has and returns it as one item: the attributes of all, and
// the lowest shard's where several have the same. It is for items that were too large or too hot for one place and whose
// parts were put in shards of their own. ErrNotFound if there is none.
func (c *Collection[T]) GetMerged(ctx context.Context, like T, edit ...func(*dynamodb.GetItemInput)) (T, error) {
	return one(c.core, like, func(raw Item) (Item, error) { return c.core.finder.getMerged(ctx, raw, edit) })
}

// BatchPut writes items as Put does, with BatchWriteItem, 25 at a time. What DynamoDB leaves unprocessed is sent again.
// Items that could not be written are in a BatchError, whether they lack a key, are too large or met a fault; everything
// else has been written. Of items with the same key the last one stands. An item that only DynamoDB finds fault with is
// looked for by halves, which takes up to ten requests more.
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

// TransactPut returns Put's request as a part of a transaction of the caller's own. The shard is chosen now: if the
// transaction is sent again, send the same part.
func (c *Collection[T]) TransactPut(ctx context.Context, item T, edit ...func(*types.Put)) (types.TransactWriteItem, error) {
	return encoded(c.core, item, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.put(ctx, raw, edit) })
}

// TransactUpdate is TransactPut for an Update. A transaction cannot look for an item: here and in the other two, the error
// is ErrScattered unless there is one place for it to be, as with a Calculated layout without BareZero, Older ones or Widths.
func (c *Collection[T]) TransactUpdate(ctx context.Context, like T, edit ...func(*types.Update)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.update(ctx, raw, edit) })
}

// TransactDelete is TransactPut for a Delete.
func (c *Collection[T]) TransactDelete(ctx context.Context, like T, edit ...func(*types.Delete)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.delete(ctx, raw, edit) })
}

// TransactCheck is TransactPut for a condition on an item that is not changed.
func (c *Collection[T]) TransactCheck(ctx context.Context, like T, edit ...func(*types.ConditionCheck)) (types.TransactWriteItem, error) {
	return encoded(c.core, like, func(raw Item) (types.TransactWriteItem, error) { return c.core.transactions.condition(ctx, raw, edit) })
}

// Query returns the items that q asks for, in order: by bucket, then by sort key as DynamoDB orders it, then by shard;
// with q.Reverse exactly the other way round. Nothing is sent before the loop starts, and ranging again reads again.
// Leaving the loop cancels what is under way and waits for it.
//
// An item that cannot be decoded comes as a zero T with a *DecodeError, in its place; whoever stays in the loop gets the
// next item. Any other error is the last pair.
func (c *Collection[T]) Query(ctx context.Context, q Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for raw, err := range queryRows(ctx, c.core, q) {
			if err != nil {
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

// Page returns q.Limit items that follow the page whose Next is token; an empty token asks for the first. Pages put
// together are what Query returns, whatever the page sizes, also if the layout has grown in between. From and To may move
// from page to page, as a range that ends now does. What is returned and in which order must stay: Key, Sort, Reverse,
// Filter, Projection, Names, Values and IncludeExpired.
//
// A token stays valid when a key gets more shards, by Layout.Shards or Widths; when an unsharded key gets its first, with
// Format.BareZero; and when Strategy or Hash change. It is refused with ErrToken if the table, the keys, the Bucket or Older
// change, or the spelling of shard keys. If fewer shards are read than when it was issued, the error also wraps
// ErrTooNarrow: the others' items would be missing.
//
// With q.Partial there may be both a page, without Next, and a GatherError. Items that cannot be decoded are left out: the
// error wraps a *DecodeError for each of them, beside the other items of the page and its Next, which goes on behind them.
func (c *Collection[T]) Page(ctx context.Context, q Query, token string) (Page[T], error) {
	if err := q.whole("a page", "a token cannot say which shards were drawn; use Query"); err != nil {
		return Page[T]{}, err
	}
	raw, err := readPage(ctx, c.core, q, token)
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

// Decode returns what a stored item is to the collection, and where it was: the other way round of Put, for items that
// were read in some other way, from a stream, a scan or an export. It knows the shards of wider layouts, too: for one that
// this collection does not read it returns the item and its place together with an error that wraps ErrTooNarrow.
// Widths are asked without a deadline.
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

// Locate returns the table's keys under which the item with the key that like has may be stored, without looking: one with
// a Calculated layout, else one for every shard; and the bare key of BareZero, and those of Older layouts and narrower
// Widths, if there are any.
func (c *Collection[T]) Locate(ctx context.Context, like T) ([]Item, error) {
	return encoded(c.core, like, func(raw Item) ([]Item, error) { return c.core.schema.EveryKey(ctx, raw) })
}

// Plan returns what q will read, without reading it. q.MaxRequests does not matter.
func (c *Collection[T]) Plan(ctx context.Context, q Query) (Plan, error) {
	return planRead(ctx, c.core, q)
}

// Count returns the number of items that q asks for. The shards count in parallel, and no item is transferred; DynamoDB
// charges as if it were. Items are read only to compare their times: without buckets, in Older layouts, and in buckets that
// From or To cut. With q.Limit it stops there, and reads the keys of about as many items as a Query with that Limit.
func (c *Collection[T]) Count(ctx context.Context, q Query) (int, error) {
	return countItems(ctx, c.core, q)
}

// Distribution counts the items of every shard that q reads, and judges how even they are.
func (c *Collection[T]) Distribution(ctx context.Context, q Query) (layout.Evenness, error) {
	if err := q.whole("a distribution", "it compares all shards; leave Sample out"); err != nil {
		return layout.Evenness{}, err
	}
	return countShards(ctx, c.core, q)
}

// Written is what a write did.
type Written[T any] struct {
	ShardKey string // the partition key that was written
	Shard    int

	// Attributes are the item or attributes that ReturnValues asked for, nil if none. They are raw, as they may be part
	// of an item; decode them with Decode.
	Attributes Item

	decoder func(*attributevalue.DecoderOptions) // of the collection
}

// Decode returns the Attributes as a T, as the collection decodes items: with Options.Decode.
func (w Written[T]) Decode() (T, error) { return decode[T](w.decoder, w.Attributes) }

// Page is a part of a Query's result.
type Page[T any] struct {
	Items []T

	// Next is the token of the next page, empty after the last. It may also lead to an empty last page.
	Next string
}
