package heatsink

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var errNoLimit = fmt.Errorf("%w: a page needs a Limit", ErrQuery)

// plan is Collection.Plan.
func (c *core) plan(ctx context.Context, q Query) (Plan, error) {
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	cursors, err := r.everyShard(ctx)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Buckets: len(r.buckets()), Shards: len(cursors), Requests: len(cursors)}, nil
}

// count is Collection.Count.
func (c *core) count(ctx context.Context, q Query) (int, error) {
	r, err := c.prepare(ctx, q.unprojected())
	if err != nil {
		return 0, err
	}
	counts, err := r.counts(ctx)
	total := 0
	for _, n := range counts {
		total += n
	}
	if q.Limit > 0 {
		total = min(total, q.Limit)
	}
	return total, err
}

// distribution is Collection.Distribution.
func (c *core) distribution(ctx context.Context, q Query) (Evenness, error) {
	r, err := c.prepare(ctx, q.unprojected())
	if err != nil {
		return Evenness{}, err
	}
	counts, err := r.counts(ctx)
	if err != nil {
		return Evenness{}, err
	}
	return NewEvenness(counts), nil
}

// unprojected returns the query for whole items, without the names that only the projection used: DynamoDB insists.
func (q Query) unprojected() Query {
	if q.Projection == "" {
		return q
	}
	q.Projection = ""
	names := q.Names
	q.Names = nil
	for _, used := range placeholders.FindAllString(q.Filter, -1) {
		if name, ok := names[used]; ok {
			if q.Names == nil {
				q.Names = make(map[string]string)
			}
			q.Names[used] = name
		}
	}
	return q
}

// placeholders finds the names in an expression.
var placeholders = regexp.MustCompile(`#[A-Za-z0-9_]+`)

// counts returns the number of items in every shard.
func (r *reading) counts(ctx context.Context) ([]int, error) {
	cursors, err := r.everyShard(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(cursors))
	err = r.scatter(ctx, cursors, func(ctx context.Context, i int, cu *cursor) error {
		if r.timed() || r.sortedByTTL() { // only the items tell
			return r.each(ctx, cu, func(Item) error { counts[i]++; return nil })
		}
		for start := cu.start; ; {
			in := r.input(cu, start, 0)
			in.Select = types.SelectCount
			out, err := r.send(ctx, cu, in)
			if err != nil {
				return err
			}
			counts[i] += int(out.Count)
			if start = out.LastEvaluatedKey; len(start) == 0 {
				return nil
			}
		}
	})
	return counts, err
}

// everyShard returns the cursors of all buckets, then those of older layouts.
func (r *reading) everyShard(ctx context.Context) ([]*cursor, error) {
	older, err := r.olderCursors()
	if err != nil {
		return nil, err
	}
	var all []*cursor
	for _, bucket := range r.buckets() {
		cursors, err := r.cursors(ctx, bucket)
		if err != nil {
			return nil, err
		}
		if all = append(all, cursors...); len(all) > MaxShardKeys {
			return nil, fmt.Errorf("%w: more than %d shards in the buckets from %v to %v", ErrQuery, MaxShardKeys, r.query.From, r.query.To)
		}
	}
	return append(all, without(older, all)...), nil
}

// fitting returns how many items n shards may be asked for at a time without filling the memory.
func (r *reading) fitting(n int) int {
	c := r.core
	return int(min(max(float64(c.options.ReadMemory)/(2*float64(n)*c.sizes.mean()), 1), 1<<20))
}

// each reads a whole shard, in order.
func (r *reading) each(ctx context.Context, cu *cursor, visit func(Item) error) error {
	for start, done := cu.start, cu.done; !done; {
		f, err := r.fetch(ctx, cu, start, r.fitting(r.core.options.MaxConcurrency))
		if err != nil {
			return err
		}
		for _, e := range f.entries {
			if err := visit(r.finish(e.item)); err != nil {
				return err
			}
		}
		start, done = f.start, f.done
	}
	return nil
}

// scatter does something to all shards at once and waits for it. An error ends everything, unless the query is content
// with part of the shards.
func (r *reading) scatter(ctx context.Context, cursors []*cursor, do func(ctx context.Context, i int, cu *cursor) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		failed  []*ShardError
		running sync.WaitGroup
	)
	slots := make(chan struct{}, r.core.options.MaxConcurrency)
	for i, cu := range cursors {
		running.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			err := do(ctx, i, cu)
			if err == nil || ctx.Err() != nil {
				return
			}
			shard, ok := errors.AsType[*ShardError](err)
			if !ok {
				cancel(err)
				return
			}
			mu.Lock()
			failed = append(failed, shard)
			mu.Unlock()
			if !r.query.Partial || judge(shard.Err) == rejected {
				cancel(shard)
			}
		})
	}
	running.Wait()
	if len(failed) > 0 {
		slices.SortFunc(failed, func(a, b *ShardError) int { return a.Shard - b.Shard })
		return &GatherError{Shards: failed, Of: len(cursors)}
	}
	return context.Cause(ctx)
}

// checkPosition refuses a position that cannot be one of this query's.
func (r *reading) checkPosition(p position) error {
	o := r.core.options
	bucketed := o.Layout.Bucket != NoBucket
	if bucketed == p.bucket.IsZero() || (p.sort.kind == 0) != (o.SortKey == "") || len(p.table) != len(o.TableKey) || p.older != nil && !bucketed {
		return fmt.Errorf("%w: it does not fit the collection", ErrToken)
	}
	if p.older != nil && ((p.older.sort.kind == 0) != (o.SortKey == "") || len(p.older.table) != len(o.TableKey)) {
		return fmt.Errorf("%w: it does not fit the collection", ErrToken)
	}
	return nil
}
