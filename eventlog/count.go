package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// Count returns the number of events of q. It counts the shards in parallel. No event is transferred, but DynamoDB
// charges as if it were. q must not have a Limit.
func (l *Log[T]) Count(ctx context.Context, q Query) (int, error) {
	n := 0
	err := l.core.reduce(ctx, q, func(ctx context.Context, from *items, q heatsink.Query) (err error) {
		n, err = from.Count(ctx, q)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// CountBy counts the events of q in groups by key, and returns the groups by descending count, and groups of equal
// count by key. It reads the shards in parallel, so key is called from several goroutines. q must not have a Limit.
func CountBy[T any, K cmp.Ordered](ctx context.Context, l *Log[T], q Query, key func(Event[T]) K) ([]heatsink.Group[K], error) {
	type part struct {
		counts map[K]int
		err    error
	}
	var total part
	err := l.core.reduce(ctx, q, func(ctx context.Context, from *items, hq heatsink.Query) (err error) {
		total, err = heatsink.Fold(ctx, from, hq,
			func() part { return part{counts: make(map[K]int)} },
			func(p part, item heatsink.Item) part {
				event, err := decodeItem[T](l.core, q.Log, item)
				if p.err = cmp.Or(p.err, err); p.err == nil {
					p.counts[key(event)]++
				}
				return p
			},
			func(sum, p part) part {
				for k, n := range p.counts {
					sum.counts[k] += n
				}
				sum.err = cmp.Or(sum.err, p.err)
				return sum
			})
		return err
	})
	if err = cmp.Or(err, total.err); err != nil {
		return nil, err
	}
	groups := make([]heatsink.Group[K], 0, len(total.counts))
	for k, n := range total.counts {
		groups = append(groups, heatsink.Group[K]{Key: k, Count: n})
	}
	slices.SortFunc(groups, func(a, b heatsink.Group[K]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return groups, nil
}

// decodeItem is decode for who has not looked at the sort key.
func decodeItem[T any](c *core, log string, item heatsink.Item) (Event[T], error) {
	key, err := text(item, c.options.SortKey)
	if err != nil {
		return Event[T]{}, fmt.Errorf("read log %q: %w", log, err)
	}
	return decode[T](c, log, key, item)
}

// reduce has something done to all that a query asks for: by the log's own keys, or else by the index, from the
// beginning.
func (c *core) reduce(ctx context.Context, q Query, do func(context.Context, *items, heatsink.Query) error) error {
	if q.Limit != 0 {
		return fmt.Errorf("%w: log %q: Limit is %d, but a count includes all events: leave Limit out", ErrQuery, q.Log, q.Limit)
	}
	s, err := c.stretch(q, time.Now())
	if err != nil {
		return err
	}
	hq, ok := c.query(s, 0)
	if !ok {
		return nil
	}
	err = c.eitherWay(ctx, s,
		func(ctx context.Context) error { return do(ctx, c.own(s), hq) },
		func(ctx context.Context) error {
			lo, hi, ok := c.listed(s)
			if !ok {
				return nil
			}
			return do(ctx, c.index, heatsink.Query{Key: c.options.Index.Key(s.Log), Sort: heatsink.Between(lo, hi)})
		})
	if err != nil {
		return fmt.Errorf("count log %q: %w", q.Log, err)
	}
	return nil
}

// Plan returns the cost of q without reading: the requests of a read without a Limit, if the events of each shard fit
// one page.
func (l *Log[T]) Plan(ctx context.Context, q Query) (heatsink.Plan, error) {
	c := l.core
	s, err := c.stretch(q, time.Now())
	if err != nil {
		return heatsink.Plan{}, err
	}
	hq, ok := c.query(s, 0)
	if !ok {
		return heatsink.Plan{}, nil
	}
	if s.Index {
		return heatsink.Plan{Buckets: 1, Shards: 1}, nil
	}
	return c.own(s).Plan(ctx, hq)
}

// defaultMaxRequests is heatsink's own.
const defaultMaxRequests = 10_000

// Distribution counts the events of every shard that q reads, over all buckets, and measures how even the shards are.
// Older layouts are not included.
func (l *Log[T]) Distribution(ctx context.Context, q Query) (layout.Evenness, error) {
	c := l.core
	s, err := c.stretch(q, time.Now())
	if err != nil {
		return layout.Evenness{}, err
	}
	hq, ok := c.query(s, 0)
	if !ok {
		return layout.NewEvenness(nil), nil
	}
	plan, err := c.shards.Plan(ctx, hq)
	if err != nil {
		return layout.Evenness{}, fmt.Errorf("distribution of log %q: %w", q.Log, err)
	}
	if most := cmp.Or(q.MaxRequests, defaultMaxRequests); most > 0 && plan.Shards > most {
		return layout.Evenness{}, fmt.Errorf("%w: %w: distribution of log %q: %d shards take a request each, but MaxRequests is %d: "+
			"ask for a shorter time, or raise MaxRequests", ErrQuery, heatsink.ErrTooManyRequests, q.Log, plan.Shards, most)
	}
	var counts []int
	for start := range c.options.Bucket.Starts(hq.From, hq.To) {
		bucket := hq
		if c.options.Bucket != layout.NoBucket {
			bucket.From, bucket.To = start, c.options.Bucket.Next(start)
		}
		even, err := c.shards.Distribution(ctx, bucket)
		if err != nil {
			return layout.Evenness{}, fmt.Errorf("distribution of log %q: %w", q.Log, err)
		}
		for shard, n := range even.Counts {
			if shard == len(counts) {
				counts = append(counts, 0)
			}
			counts[shard] += n
		}
	}
	return layout.NewEvenness(counts), nil
}
