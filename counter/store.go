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
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// store sends requests to DynamoDB. What is stored is in item.go, what writes depend on in condition.go.
type store struct {
	client  Client
	options Options // with defaults
	layout  layout.Layout
	items   *direct.Table
	origin  *direct.Table        // nil if there is none
	once    *dispatch.Dispatcher // of requests that are not repeated
	weak    bool                 // reads are eventually consistent, at half the price
}

func newStore(client Client, o Options) (*store, error) {
	items, err := direct.Open(client, direct.Options{
		Table: o.Table, PartitionKey: o.PartitionKey, Retry: o.Retry, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	origin, err := openOrigin(client, &o)
	if err != nil {
		return nil, err
	}
	spread := layout.Layout{Shards: maxShards, Format: o.Format}
	once := dispatch.New(dispatch.Retry{Attempts: 1, Timeout: o.Retry.Timeout}, nil, nil)
	return &store{client: client, options: o, layout: spread, items: items, origin: origin, once: once}, nil
}

// check reports what is wrong with the key of a counter. The error wraps layout.ErrKey.
func (s *store) check(key string) error {
	if err := checkControl(key); err != nil {
		return err
	}
	_, err := s.layout.ShardKey(key, time.Time{}, maxShards-1)
	return err
}

// checkControl refuses the key of a control item, which an adaptive collection may keep in the same table.
func checkControl(key string) error {
	if layout.IsControl(key) {
		return fmt.Errorf("%w: %.80q begins with %s, which is for heatsink's control items: choose another key", layout.ErrKey, key, layout.ControlPrefix)
	}
	return nil
}

// do sends a request about a counter, and repeats it as far as that is harmless.
func (s *store) do(ctx context.Context, key string, r request) answer {
	switch r.operation {
	case readBase:
		return s.readBase(ctx, key)
	case listSlots:
		return s.listSlots(ctx, key, r.width)
	case readAtOnce:
		return s.readAtOnce(ctx, key, r)
	case readOrigin:
		return s.readOrigin(ctx, key)
	case openSlot, flushSlot, freezeSlot:
		return s.updateSlot(ctx, key, r)
	case deleteSlot:
		return s.deleteSlot(ctx, key, r.id)
	}
	return s.updateBase(ctx, key, r)
}

func (s *store) readBase(ctx context.Context, key string) answer {
	item, err := s.items.Get(ctx, s.baseKey(key), func(in *dynamodb.GetItemInput) {
		in.ConsistentRead = aws.Bool(!s.weak)
	})
	if err != nil {
		return failure(err)
	}
	if item == nil {
		return answer{}
	}
	b, err := decodeBase(item)
	if err != nil {
		return failure(err)
	}
	return answer{base: b}
}

// listSlots reads all shards in parallel.
func (s *store) listSlots(ctx context.Context, key string, width int) answer {
	shards := make([][]slot, width)
	errs := make([]error, width)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for shard := range width {
		all.Go(func() {
			if shards[shard], errs[shard] = s.listShard(ctx, key, shard); errs[shard] != nil {
				cancel() // the others are no use without this one
			}
		})
	}
	all.Wait()
	var a answer
	for shard := range width {
		a.slots = append(a.slots, shards[shard]...)
	}
	if err := first(errs); err != nil {
		return failure(err)
	}
	return a
}

// first returns the error that the others are the consequence of.
func first(errs []error) (cause error) {
	for _, err := range errs {
		if err != nil && (cause == nil || errors.Is(cause, context.Canceled)) {
			cause = err
		}
	}
	return cause
}

func (s *store) listShard(ctx context.Context, key string, shard int) ([]slot, error) {
	shardKey, err := s.layout.ShardKey(key, time.Time{}, shard)
	if err != nil {
		return nil, err
	}
	var slots []slot
	for item, err := range s.items.Query(ctx, shardKey, func(in *dynamodb.QueryInput) {
		in.KeyConditionExpression = aws.String("#shard = :shard AND begins_with(#slot, :prefix)")
		in.ExpressionAttributeNames = map[string]string{"#shard": s.options.PartitionKey, "#slot": s.options.SortKey}
		in.ExpressionAttributeValues = heatsink.Item{":shard": text(shardKey), ":prefix": text(slotPrefix)}
		in.ConsistentRead = aws.Bool(!s.weak)
	}) {
		if err != nil {
			return nil, err
		}
		slot, err := s.decodeSlot(item)
		if err != nil {
			return nil, err
		}
		if at, _ := slot.id.shard(); at != shard {
			return nil, fmt.Errorf("%w: slot %s is in the wrong shard, %q", ErrCorrupt, slot.id, shardKey)
		}
		slots = append(slots, slot)
	}
	return slots, nil
}

// readAtOnce reads the base and slots, and the origin if that is wanted, in a transaction. It is sent once: there are other ways to go on without it.
func (s *store) readAtOnce(ctx context.Context, key string, r request) answer {
	keys := []heatsink.Item{s.baseKey(key)}
	for _, id := range r.ids {
		slotKey, err := s.slotKey(key, id)
		if err != nil {
			return failure(err)
		}
		keys = append(keys, slotKey)
	}
	in := &dynamodb.TransactGetItemsInput{}
	for _, key := range keys {
		get := &types.Get{TableName: &s.options.Table, Key: key}
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: get})
	}
	g := s.options.Origin
	if r.origin {
		get := &types.Get{TableName: &g.Table, Key: g.item(key)}
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: get})
	}
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	var out *dynamodb.TransactGetItemsOutput
	_, err := s.once.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		out, err = s.client.TransactGetItems(ctx, in, dispatch.Once)
		return err
	}})
	if err == nil {
		found := 0
		for _, response := range out.Responses {
			if response.Item != nil {
				found++
			}
		}
		meter.ReadAll(ctx, found, out.ConsumedCapacity)
		if len(out.Responses) != len(in.TransactItems) {
			err = fmt.Errorf("got %d responses for %d items", len(out.Responses), len(in.TransactItems))
		}
	}
	if err != nil {
		return failure(fmt.Errorf("TransactGetItems %s counter %q: %w", s.options.Table, key, err))
	}
	var a answer
	if a.base, err = decodeBase(out.Responses[0].Item); err != nil {
		return failure(err)
	}
	if r.origin {
		if a.origin, err = g.decode(g.item(key), out.Responses[len(keys)].Item); err != nil {
			return failure(err)
		}
	}
	for _, response := range out.Responses[1:len(keys)] {
		if response.Item == nil {
			continue // gone
		}
		slot, err := s.decodeSlot(response.Item)
		if err != nil {
			return failure(err)
		}
		a.slots = append(a.slots, slot)
	}
	return a
}

func failure(err error) answer { return answer{outcome: failed, err: err} }
