package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
)

const (
	// maxBatchWrite is the maximum number of items in a BatchWriteItem.
	maxBatchWrite = 25

	// maxBatches is the maximum number of requests that one call has in flight.
	maxBatches = 8
)

// errBadKey is the error of an item whose key DynamoDB would refuse, and with it every other item of the request.
var errBadKey = fmt.Errorf("%w: a key attribute is not a valid number", ErrItem)

// inParallel calls f for every number below n, maxBatches at a time, and waits for all calls.
func inParallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxBatches)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}

// batch is a BatchPut or a BatchDelete in progress.
type batch struct {
	schema  *place.Schema
	placer  *place.Placer
	ttl     expiry.TTL
	sender  *sender
	watcher *watcher
	deletes bool
	items   []*batchItem
}

// batchItem is an item of a batch.
type batchItem struct {
	*place.Placement
	position int   // in the batch
	same     []int // positions of items before it with the same stored key, which it replaces
	item     Item  // with the logical key and the time to live
	sent     Item  // as it was sent; the table's key if it is deleted
	err      error // why it is not written
}

// batchPut writes items, 25 a request. encode returns the item at a position. An item that cannot be written does not
// affect the others: heatsink does not send it, or finds it by halving the batch if only DynamoDB rejects it.
//
// DynamoDB has not written what it leaves unprocessed, so a Random layout tries other shards for these items. After a
// lost response, the items of that request stay in their shards, as in put.
//
// In a collection with versions each item needs a condition, which a BatchWriteItem cannot have. w puts these items one
// by one.
func batchPut(ctx context.Context, w *writer, items int, encode func(i int) (Item, error)) error {
	if items == 0 {
		return nil
	}
	switch {
	case w.movable == nil:
	case w.movable.list:
		return w.movable.appendItems(ctx, w, items, encode)
	default:
		return w.movable.batchPut(ctx, items, encode)
	}
	b := &batch{schema: w.schema, placer: w.placer, ttl: w.ttl, sender: w.sender, watcher: w.watcher}
	b.place(ctx, items, encode)
	sound := slices.DeleteFunc(slices.Clone(b.items), func(e *batchItem) bool { return e.err != nil })
	if w.versions.Keeps() {
		inParallel(len(sound), func(i int) { _, sound[i].err = w.put(ctx, sound[i].item, nil) })
	} else {
		b.write(ctx, sound)
	}
	errs := make([]error, items)
	for _, e := range b.items {
		errs[e.position] = e.err
		for _, position := range e.same {
			errs[position] = e.err
		}
	}
	return batchError("BatchPut", errs)
}

// write writes items, as many in a request as it takes.
func (b *batch) write(ctx context.Context, items []*batchItem) {
	requests := slices.Collect(slices.Chunk(items, maxBatchWrite))
	inParallel(len(requests), func(i int) { b.writeSome(ctx, requests[i], false) })
}

// request returns the part of a BatchWriteItem that is about an item.
func (b *batch) request(e *batchItem) types.WriteRequest {
	if b.deletes {
		return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: e.sent}}
	}
	e.sent = b.placer.Stored(e.Placement, e.item)
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: e.sent}}
}

// place chooses the place of each item. Of items that would replace each other only the last is kept: those with the same
// stored key, and in a Random layout those with the same logical key and bucket. An item that has no place gets an error.
func (b *batch) place(ctx context.Context, items int, encode func(i int) (Item, error)) {
	all, allocated := make([]*batchItem, items), make([]batchItem, items)
	names := make([]string, items)
	last := make(map[string]int, items)
	for i := range all {
		e := &allocated[i]
		e.position, all[i] = i, e
		var item Item
		if item, e.err = encode(i); e.err == nil {
			item = b.ttl.Give(item) // before the place, which may depend on it
			b.watcher.hint(ctx, item)
			e.Placement, e.err = b.placer.Place(ctx, item, false)
		}
		if e.err != nil {
			continue
		}
		name, ok := b.schema.KeyText(item)
		if !ok {
			e.err = errBadKey
			continue
		}
		switch {
		case b.schema.Index != "": // the table's own key says it all
		case e.Random || b.schema.Ledgers != nil: // the shard may change until the item is sent
			name += e.Bucket.String() // the same key at another time is another item
		default:
			name += e.ShardKey // the same key in another shard is another item, or another part of one
		}
		names[i] = name
		last[name] = i
		e.item = item
	}
	b.items = slices.DeleteFunc(all, func(e *batchItem) bool {
		if e.err != nil {
			return false
		}
		kept := last[names[e.position]]
		if kept != e.position {
			allocated[kept].same = append(allocated[kept].same, e.position)
		}
		return kept != e.position
	})
}

// writeSome writes the items of one request. Items that it cannot write get an error. lost says that a response about them
// was lost before, so that they stay in their shards.
func (b *batch) writeSome(ctx context.Context, pending []*batchItem, lost bool) {
	watches := b.watch(ctx, pending)
	defer watches.end()
	r := &request{operation: "BatchWriteItem", Home: pending[0].Home, lost: lost}
	err := b.sender.write(ctx, r, true, func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			if pending = b.again(r, attempt, pending); len(pending) == 0 {
				return nil
			}
		}
		writes := make([]types.WriteRequest, len(pending))
		for i, e := range pending {
			writes[i] = b.request(e)
		}
		r.Home = pending[0].Home
		out, err := b.sender.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems:           map[string][]types.WriteRequest{b.sender.table: writes},
			ReturnConsumedCapacity: meter.Of(ctx).Wanted(),
		}, dispatch.Once)
		if err == nil {
			meter.WroteAll(ctx, out.ConsumedCapacity)
			sent := len(pending)
			if pending = b.unprocessed(r, pending, out); len(pending) > 0 {
				err = &dispatch.UnprocessedError{Left: len(pending), Of: sent}
			}
		}
		hot := dispatch.HotKey(err)
		for _, e := range pending {
			watches.failed(e, err)
			if hot {
				b.placer.Throttled(e.Placement)
				b.watcher.throttled(ctx, &e.Key)
			}
		}
		return err
	})
	failed, ok := err.(*ShardError)
	switch {
	case !ok:
	case len(pending) > 1 && dispatch.Invalid(failed.Err):
		// DynamoDB rejects a batch for one bad item and does not say which.
		half := len(pending) / 2
		b.writeSome(ctx, pending[:half], r.lost)
		b.writeSome(ctx, pending[half:], r.lost)
	default:
		for _, e := range pending {
			own := *failed
			own.ShardKey, own.Shard = e.ShardKey, e.Shard
			e.err = &own
		}
	}
}

// again prepares items for another attempt, and returns them. One that must not be sent any more has an error then.
func (b *batch) again(r *request, attempt int, items []*batchItem) (pending []*batchItem) {
	for _, e := range items {
		if _, err := b.placer.Again(e.Placement, r.lost); err != nil {
			if r.lost {
				err = &UnknownOutcomeError{err}
			}
			e.err = b.sender.failure(&request{operation: r.operation, Home: e.Home}, attempt-1, err)
			continue
		}
		pending = append(pending, e)
	}
	return pending
}

// unprocessed returns the items that DynamoDB did not write according to its response. If the response names an item that
// was not sent, no item is certain. All of them are then sent again, to the same shards.
func (b *batch) unprocessed(r *request, sent []*batchItem, out *dynamodb.BatchWriteItemOutput) []*batchItem {
	left := map[string]bool{}
	for _, writes := range out.UnprocessedItems { // of our table, under its name or its ARN
		for _, write := range writes {
			var key Item
			if write.PutRequest != nil && !b.deletes {
				key = write.PutRequest.Item
			} else if write.DeleteRequest != nil && b.deletes {
				key = write.DeleteRequest.Key
			}
			name, ok := b.schema.KeyText(key)
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
		if name, _ := b.schema.KeyText(e.sent); left[name] {
			pending = append(pending, e)
		}
	}
	if len(pending) != len(left) {
		r.lost = true
		return sent
	}
	return pending
}

// lookup is an item of a BatchGet: a get whose homes are read together with those of others.
type lookup struct {
	*getting
	wanted []*sought // the homes that were read so far, in their order
	item   Item      // nil if there is none
	err    error     // why there is none, or ErrTooNarrow
}

// batchGet is Collection.BatchGet. Equal keys are read once.
func batchGet[T any](ctx context.Context, c *core, likes []T) ([]T, error) {
	all := make([]*lookup, len(likes))
	for i, like := range likes {
		raw, err := encode(c, like)
		all[i] = c.finder.newLookup(ctx, raw, err)
	}
	if c.movable != nil {
		c.movable.lookUp(ctx, c.finder, all)
	} else {
		c.finder.lookUp(ctx, all)
	}
	items, errs := make([]T, len(likes)), make([]error, len(likes))
	for i, l := range all {
		errs[i] = l.err
		if l.item == nil {
			continue
		}
		item, err := decodeLike[T](c, l.like, l.item, l.err)
		if _, bad := errors.AsType[*DecodeError](err); !bad {
			items[i] = item
		}
		errs[i] = err
	}
	return items, batchError("BatchGet", errs)
}

// newLookup prepares to look an item up, unless there is an error already.
func (f *finder) newLookup(ctx context.Context, like Item, err error) *lookup {
	l := &lookup{err: err}
	if l.err == nil {
		l.getting, l.err = f.newGet(ctx, like, nil)
	}
	if l.err == nil && f.movable == nil {
		l.err = l.locate(ctx)
	}
	return l
}

// lookUp reads items as get does, many at a time: first the homes where they are likely to be, and then, of those that were
// not there, the others.
func (f *finder) lookUp(ctx context.Context, all []*lookup) {
	sound := slices.DeleteFunc(slices.Clone(all), func(l *lookup) bool { return l.err != nil })
	f.lookIn(ctx, sound, func(l *lookup) []place.Home { return l.homes[:l.likely()] })
	for _, l := range sound {
		more, err := l.rest.wait()
		if err != nil && l.err == ErrNotFound {
			l.err = err
		}
		l.homes = append(l.homes, more...)
	}
	absent := slices.DeleteFunc(sound, func(l *lookup) bool {
		return l.err != ErrNotFound || len(l.wanted) == len(l.homes)
	})
	f.lookIn(ctx, absent, func(l *lookup) []place.Home { return l.homes[len(l.wanted):] })
}

// lookIn reads some homes of each item, and chooses the copy that counts of all that were read.
func (f *finder) lookIn(ctx context.Context, all []*lookup, homes func(*lookup) []place.Home) {
	named := make(map[string]*sought, len(all))
	var wanted []*sought
	for _, l := range all {
		l.err = nil
		for _, home := range homes(l) {
			key := l.keyAt(home)
			name, ok := f.schema.KeyText(key)
			if !ok {
				l.err = errBadKey
				break
			}
			s := named[name]
			if s == nil {
				s = &sought{key: key, home: home, name: name}
				named[name] = s
				wanted = append(wanted, s)
			}
			s.uses++
			l.wanted = append(l.wanted, s)
		}
	}
	if len(wanted) == 0 {
		return
	}
	in := all[0].in // all are the same, but for the key
	requests := slices.Collect(slices.Chunk(wanted, maxBatchGet))
	inParallel(len(requests), func(i int) { f.fetchAll(ctx, requests[i], in) })
	for _, l := range all {
		if l.err == nil {
			l.take(ctx)
		}
	}
}

// take chooses the item of what was read. Its error is that of the first home that was not.
func (l *lookup) take(ctx context.Context) {
	copies := make([]Item, len(l.wanted))
	for i, s := range l.wanted {
		if s.err != nil {
			l.err = s.err
			return
		}
		copies[i] = s.item
		if s.uses > 1 {
			copies[i] = maps.Clone(s.item) // which nil is of nil
		}
	}
	l.item, l.err = l.choose(ctx, copies)
}

// fetchAll reads the keys of one request. Those that it cannot read have an error then. DynamoDB rejects a request for one bad
// key and does not say which: it is found out by halves.
func (f *finder) fetchAll(ctx context.Context, wanted []*sought, in *dynamodb.GetItemInput, bind ...func(*dynamodb.Options)) {
	unread, err := f.fetch(ctx, wanted, f.schema.KeyText, in, bind...)
	failed, ok := err.(*ShardError)
	switch {
	case !ok:
	case len(unread) > 1 && dispatch.Invalid(failed.Err):
		half := len(unread) / 2
		f.fetchAll(ctx, unread[:half], in, bind...)
		f.fetchAll(ctx, unread[half:], in, bind...)
	default:
		for _, s := range unread {
			own := *failed
			own.ShardKey, own.Shard = s.home.ShardKey, s.home.Shard
			s.err = &own
		}
	}
}
