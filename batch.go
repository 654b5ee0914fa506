package heatsink

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
)

const (
	// maxBatchPut is how many items a BatchWriteItem takes.
	maxBatchPut = 25

	// maxBatches is how many requests of one call are under way at a time.
	maxBatches = 8
)

// inParallel calls f for every number below n, a few at a time, and waits for all of them.
func inParallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, maxBatches)
	for i := range n {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			f(i)
		})
	}
	wg.Wait()
}

// batchItem is an item of a batch.
type batchItem struct {
	*placement
	position int   // in the batch
	item     Item  // as the caller has it, with its time to live
	sent     Item  // as it was sent
	err      error // why it is not written
}

// batchPut writes items, 25 at a time. encode returns an item by its position. An item that cannot be written fails alone:
// it is not sent if heatsink sees that, and is found out by halves if DynamoDB does.
//
// What DynamoDB leaves unprocessed was not written, so the items of a random layout are tried in other shards. After a
// lost answer the items of that request stay where they are, as in put.
func (c *core) batchPut(ctx context.Context, items int, encode func(i int) (Item, error)) error {
	if items == 0 {
		return nil
	}
	entries := c.entries(ctx, items, encode)
	sound := slices.DeleteFunc(slices.Clone(entries), func(e *batchItem) bool { return e.err != nil })
	size := maxBatchPut
	if c.options.Version != "" {
		size = 1
	}
	batches := slices.Collect(slices.Chunk(sound, size))
	inParallel(len(batches), func(i int) {
		if c.options.Version != "" {
			c.putAlone(ctx, batches[i][0])
			return
		}
		c.putBatch(ctx, batches[i])
	})

	var failed []BatchFailure
	for _, e := range entries {
		if e.err != nil {
			failed = append(failed, BatchFailure{Position: e.position, Err: e.err})
		}
	}
	if failed != nil {
		return &BatchError{Failed: failed, Of: items}
	}
	return nil
}

// putAlone writes an item of a batch as Put does, for collections whose items have a condition of their own.
func (c *core) putAlone(ctx context.Context, e *batchItem) { _, e.err = c.put(ctx, e.item, nil) }

// entries places all items. Of those with the same key only the last is left. An item that has no place has an error.
func (c *core) entries(ctx context.Context, items int, encode func(i int) (Item, error)) []*batchItem {
	entries := make([]*batchItem, items)
	names := make([]string, items)
	last := make(map[string]int, items)
	for i := range entries {
		e := &batchItem{position: i}
		entries[i] = e
		var item Item
		if item, e.err = encode(i); e.err == nil {
			e.placement, e.err = c.place(ctx, item)
		}
		if e.err != nil {
			continue
		}
		name, ok := c.keyName(item)
		if !ok {
			e.err = fmt.Errorf("%w: a key attribute is not a valid number", ErrItem)
			continue
		}
		if c.options.Index == "" {
			name += e.bucket.String() // the same key at another time is another item, unless it is a table's own
		}
		names[i] = name
		last[name] = i
		e.item = c.withTTL(item)
	}
	return slices.DeleteFunc(entries, func(e *batchItem) bool { return e.err == nil && last[names[e.position]] != e.position })
}

// keyName returns the table's key of an item as text, the same for the same key.
func (c *core) keyName(item Item) (name string, ok bool) {
	var text []byte
	for _, name := range c.keyNames() {
		if name == "" {
			continue
		}
		v, err := attribute.Canonical(item[name])
		if err != nil || v.Kind > attr.B {
			return "", false
		}
		text = attr.AppendKey(text, v)
	}
	return string(text), true
}

// putBatch writes the items of one request. Those that it cannot write have an error then.
func (c *core) putBatch(ctx context.Context, pending []*batchItem) {
	r := &request{operation: "BatchWriteItem", target: pending[0].target}
	err := c.write(ctx, r, true, func(ctx context.Context, attempt int) error {
		puts := make([]types.WriteRequest, len(pending))
		for i, e := range pending {
			if attempt > 1 && !r.lost && e.random {
				c.elsewhere(e.placement)
			}
			e.sent = c.stored(e.placement, e.item)
			puts[i].PutRequest = &types.PutRequest{Item: e.sent}
		}
		r.target = pending[0].target
		out, err := c.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems:           map[string][]types.WriteRequest{c.options.Table: puts},
			ReturnConsumedCapacity: meter.Of(ctx).Wanted(),
		}, dispatch.Once)
		if err == nil {
			meter.WroteAll(ctx, out.ConsumedCapacity)
			sent := len(pending)
			if pending = c.unprocessed(r, pending, out); len(pending) > 0 {
				err = &dispatch.UnprocessedError{Left: len(pending), Of: sent}
			}
		}
		if dispatch.HotKey(err) {
			for _, e := range pending {
				if e.random {
					c.chooser.throttled(&e.spot, e.shard)
				}
			}
		}
		return err
	})
	failed, ok := err.(*ShardError)
	switch {
	case !ok:
	case len(pending) > 1 && !r.lost && dispatch.Invalid(failed.Err):
		// DynamoDB rejects a batch for one bad item and does not say which.
		half := len(pending) / 2
		c.putBatch(ctx, pending[:half])
		c.putBatch(ctx, pending[half:])
	default:
		for _, e := range pending {
			own := *failed
			own.ShardKey, own.Shard = e.shardKey, e.shard
			e.err = &own
		}
	}
}

// unprocessed returns the entries that an answer says were not written. If it names an item that was not sent, nothing
// is certain about any: all are to be sent again, to the same shards.
func (c *core) unprocessed(r *request, sent []*batchItem, out *dynamodb.BatchWriteItemOutput) []*batchItem {
	left := map[string]bool{}
	for _, puts := range out.UnprocessedItems { // of our table, under its name or its ARN
		for _, put := range puts {
			var name string
			ok := put.PutRequest != nil
			if ok {
				name, ok = c.keyName(put.PutRequest.Item)
			}
			if !ok {
				r.lost = true
				return sent
			}
			left[name] = true
		}
	}
	if len(left) == 0 {
		return nil
	}
	var pending []*batchItem
	for _, e := range sent {
		if name, _ := c.keyName(e.sent); left[name] {
			pending = append(pending, e)
		}
	}
	if len(pending) != len(left) {
		r.lost = true
		return sent
	}
	return pending
}
