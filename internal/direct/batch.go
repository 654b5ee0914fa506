package direct

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
)

const (
	maxBatch   = 25 // items that a BatchWriteItem takes
	maxBatches = 8  // requests of one PutAll that are in flight
)

// PutAll writes items, 25 a request. It returns an error for each item that was not written, and nil for the others. The
// keys must be strings and must differ. An item that DynamoDB rejects does not affect the others.
func (t *Table) PutAll(ctx context.Context, items []heatsink.Item) []error {
	errs := make([]error, len(items))
	slots := make(chan struct{}, maxBatches)
	var all sync.WaitGroup
	for start := 0; start < len(items); start += maxBatch {
		end := min(start+maxBatch, len(items))
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			t.putBatch(ctx, items[start:end], errs[start:end])
		})
	}
	all.Wait()
	return errs
}

// putBatch writes the items of one request, and retries those that are left unprocessed. It sets errs for items that it
// cannot write.
func (t *Table) putBatch(ctx context.Context, items []heatsink.Item, errs []error) {
	pending := make([]int, len(items))
	for i := range pending {
		pending[i] = i
	}
	const operation = "BatchWriteItem"
	lost := false
	first := t.name(items[0])
	send := t.logged(operation, &first, func(ctx context.Context) error {
		puts := make([]types.WriteRequest, len(pending))
		for n, i := range pending {
			puts[n].PutRequest = &types.PutRequest{Item: items[i]}
		}
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{t.options.Table: puts}}
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		out, err := t.client.BatchWriteItem(ctx, in, dispatch.Once)
		if err != nil {
			return err
		}
		meter.WroteAll(ctx, out.ConsumedCapacity)
		left, certain := t.unprocessed(items, pending, out)
		lost = lost || !certain
		if len(left) == 0 {
			return nil
		}
		err = &dispatch.UnprocessedError{Left: len(left), Of: len(pending)}
		pending = left
		return err
	})
	attempts, err := t.writes.Write(ctx, true, &lost, send)
	switch {
	case err == nil:
		return
	case len(pending) > 1 && !lost && dispatch.Invalid(err):
		// DynamoDB rejects a batch for one bad item and does not say which.
		half := len(pending) / 2
		for _, part := range [][]int{pending[:half], pending[half:]} {
			t.putPart(ctx, items, errs, part)
		}
		return
	case lost:
		err = &heatsink.UnknownOutcomeError{Err: err}
	}
	for _, i := range pending {
		errs[i] = t.failure(operation, t.name(items[i]), attempts, err)
	}
}

// putPart is putBatch for some of the items.
func (t *Table) putPart(ctx context.Context, items []heatsink.Item, errs []error, part []int) {
	some, faults := make([]heatsink.Item, len(part)), make([]error, len(part))
	for n, i := range part {
		some[n] = items[i]
	}
	t.putBatch(ctx, some, faults)
	for n, i := range part {
		errs[i] = faults[n]
	}
}

// unprocessed returns the pending items that DynamoDB did not write according to its response. If the response names an
// item that was not sent, no item is certain, and all are returned.
func (t *Table) unprocessed(items []heatsink.Item, pending []int, out *dynamodb.BatchWriteItemOutput) (left []int, certain bool) {
	named := make(map[[2]string]bool)
	for _, puts := range out.UnprocessedItems { // of our table, under its name or its ARN
		for _, put := range puts {
			if put.PutRequest == nil {
				return pending, false
			}
			named[t.keyOf(put.PutRequest.Item)] = true
		}
	}
	for _, i := range pending {
		if named[t.keyOf(items[i])] {
			left = append(left, i)
		}
	}
	if len(left) != len(named) {
		return pending, false
	}
	return left, true
}

// keyOf returns the key of an item.
func (t *Table) keyOf(item heatsink.Item) [2]string {
	sort, _ := item[t.options.SortKey].(*types.AttributeValueMemberS)
	if sort == nil {
		return [2]string{t.name(item)}
	}
	return [2]string{t.name(item), sort.Value}
}
