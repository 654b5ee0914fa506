package heatsink

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/dispatch"
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

// batchPut writes items, 25 at a time. It sends nothing unless it knows where every item goes.
//
// What DynamoDB leaves unprocessed was not written, so the items of a random layout are tried in other shards. After a
// lost answer the items of that request stay where they are, as in put.
func (c *core) batchPut(ctx context.Context, items []Item) error {
	entries, err := c.entries(ctx, items)
	if err != nil {
		return err
	}
	batches := slices.Collect(slices.Chunk(entries, maxBatchPut))
	costs := make([]Cost, len(batches))
	inParallel(len(batches), func(i int) { c.putBatch(ctx, &costs[i], batches[i]) })

	var cost Cost
	for _, part := range costs {
		cost = cost.Plus(part)
	}
	metersOf(ctx).add(cost)

	var failed []BatchFailure
	for _, e := range entries {
		if e.err != nil {
			failed = append(failed, BatchFailure{Position: e.position, Err: e.err})
		}
	}
	if failed != nil {
		return &BatchError{Failed: failed, Of: len(items)}
	}
	return nil
}

// entries places all items. Of those with the same key only the last is left.
func (c *core) entries(ctx context.Context, items []Item) ([]*batchItem, error) {
	entries := make([]*batchItem, len(items))
	names := make([]string, len(items))
	last := make(map[string]int, len(items))
	for i, item := range items {
		p, err := c.place(ctx, item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		name, ok := c.keyName(item)
		if !ok {
			return nil, fmt.Errorf("item %d: %w: a key attribute is not a valid number", i, ErrItem)
		}
		if c.options.Index == "" {
			name += p.bucket.String() // the same key at another time is another item, unless it is a table's own
		}
		names[i] = name
		last[name] = i
		entries[i] = &batchItem{placement: p, position: i, item: c.withTTL(item)}
	}
	return slices.DeleteFunc(entries, func(e *batchItem) bool { return last[names[e.position]] != e.position }), nil
}

// keyName returns the table's key of an item as text, the same for the same key.
func (c *core) keyName(item Item) (name string, ok bool) {
	var text []byte
	for _, attribute := range c.keyNames() {
		if attribute == "" {
			continue
		}
		v, err := canonical(item[attribute])
		if err != nil || v.Kind > attr.B {
			return "", false
		}
		text = attr.AppendKey(text, v)
	}
	return string(text), true
}

// putBatch writes the items of one request. Those that it cannot write have an error then.
func (c *core) putBatch(ctx context.Context, cost *Cost, pending []*batchItem) {
	meters := metersOf(ctx)
	r := &request{operation: "BatchWriteItem", target: pending[0].target}
	err := c.write(ctx, cost, r, true, func(ctx context.Context, attempt int) error {
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
			ReturnConsumedCapacity: meters.wanted(),
		}, dispatch.Once)
		if err == nil {
			for _, consumed := range out.ConsumedCapacity {
				cost.WriteUnits += units(&consumed)
			}
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
	if failed, ok := err.(*ShardError); ok {
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
