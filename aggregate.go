package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/layout"
)

// planRead is Collection.Plan.
func planRead(ctx context.Context, c *core, q Query) (Plan, error) {
	if c.movable != nil {
		return planTracked(ctx, c, q)
	}
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	in := scope{r}
	if err := in.learnWidths(ctx); err != nil {
		return Plan{}, err
	}
	n, err := in.shardCount(ctx, math.MaxInt)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Buckets: c.options.Layout.Bucket.Count(q.From, q.To), Shards: n}, nil
}

// countItems is Collection.Count.
func countItems(ctx context.Context, c *core, q Query) (int, error) {
	if c.movable != nil {
		return countTracked(ctx, c, q)
	}
	r, err := c.prepare(ctx, q.unprojected())
	if err != nil {
		return 0, err
	}
	if q.Limit > 0 {
		return countSome(ctx, r)
	}
	counts, err := counts(ctx, r)
	total := 0
	for _, n := range counts {
		total += n
	}
	return total, err
}

// countSome counts up to the query's limit. It reads the keys of as many items as a Query with that limit. Only an
// ordered read knows how many items to request from each shard, and when to stop.
func countSome(ctx context.Context, r *reading) (n int, err error) {
	r.projectKeys()
	g, err := r.gather(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	for {
		e, ok, err := g.Next()
		if err != nil {
			return n, g.explain(err)
		}
		if !ok {
			return n, g.missed(nil)
		}
		if _, err := decodeRow[Item](r.row(e)); err != nil {
			return n, err
		}
		n++
	}
}

// countShards is Collection.Distribution.
func countShards(ctx context.Context, c *core, q Query) (layout.Evenness, error) {
	if c.movable != nil {
		return distributionTracked(ctx, c, q)
	}
	r, err := c.prepare(ctx, q.unprojected())
	if err != nil {
		return layout.Evenness{}, err
	}
	counts, err := counts(ctx, r)
	if err != nil {
		return layout.Evenness{}, err
	}
	return layout.NewEvenness(counts), nil
}

// counts returns the number of items in every shard. With ledgers, a strong count reads the items' keys and stamps: only a
// stamp shows that a ledger was lost. That costs the same read units.
func counts(ctx context.Context, r *reading) ([]int, error) {
	stamps := r.core.ledgers != nil && r.query.Consistent
	if stamps {
		r.projectKeys()
	}
	return scatter(ctx, r, func() int { return 0 }, func(ctx context.Context, all *gather.Scatter[found], s *shard, n *int) (err error) {
		if !s.timed && !r.sortedByTTL() && !stamps {
			*n, err = s.count(ctx)
			return err
		}
		return all.Read(ctx, s, func(e entry) error { // only the items themselves have what is to be compared
			_, err := decodeRow[Item](r.row(e))
			*n++
			return err
		})
	})
}

// Fold reads the items that q selects and reduces them to one value. Each shard starts with zero and adds its items in
// order. Fold then merges the values of the shards in order. Shards are read in parallel, so add is called from several
// goroutines, each with a value of its own.
//
// In a collection with Movable, Fold reads items in the order of Query and adds them in one goroutine. So no item is added twice when
// items go on to another stage of their move.
//
// Fold, CountBy and Top always read all items: they refuse q.Limit with ErrQuery, and end with a *DecodeError if an item
// cannot be decoded. To include such items, use As with Item.
func Fold[T, A any](ctx context.Context, c *Collection[T], q Query, zero func() A, add func(A, T) A, merge func(A, A) A) (A, error) {
	total := zero()
	if q.Limit != 0 {
		return total, fmt.Errorf("%w: Limit is %d, but a fold reads all items: leave Limit out", ErrQuery, q.Limit)
	}
	if c.core.movable != nil {
		return foldTracked(ctx, c.core, q, zero, add, merge)
	}
	r, err := c.core.prepare(ctx, q)
	if err != nil {
		return total, err
	}
	parts, err := scatter(ctx, r, zero, func(ctx context.Context, all *gather.Scatter[found], s *shard, sum *A) error {
		return all.Read(ctx, s, func(e entry) error {
			item, err := decodeRow[T](r.row(e))
			if err == nil {
				*sum = add(*sum, item)
			}
			return err
		})
	})
	if err != nil && !q.Partial {
		return zero(), err
	}
	for _, part := range parts {
		total = merge(total, part)
	}
	return total, err
}

// Group is a key and the number of items that have it.
type Group[K any] struct {
	Key   K
	Count int
}

// CountBy counts the items that q selects by the key that key returns for them. It returns the groups by descending
// count, and groups of equal count by key.
func CountBy[T any, K cmp.Ordered](ctx context.Context, c *Collection[T], q Query, key func(T) K) ([]Group[K], error) {
	counts, err := Fold(ctx, c, q,
		func() map[K]int { return make(map[K]int) },
		func(counts map[K]int, item T) map[K]int {
			counts[key(item)]++
			return counts
		},
		func(sum, part map[K]int) map[K]int {
			for k, n := range part {
				sum[k] += n
			}
			return sum
		})
	groups := make([]Group[K], 0, len(counts))
	for k, n := range counts {
		groups = append(groups, Group[K]{k, n})
	}
	slices.SortFunc(groups, func(a, b Group[K]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return groups, err
}

// Top returns the n greatest items that q selects, greatest first in the order of compare. Of equal items, those of the
// first shards are preferred. Each shard holds about 2n items in memory. To get the n greatest by sort key, use Query
// with Reverse and Limit, which is cheaper.
func Top[T any](ctx context.Context, c *Collection[T], q Query, n int, compare func(a, b T) int) ([]T, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: top: n is %d, want 0 or more", ErrQuery, n)
	}
	falling := func(a, b T) int { return compare(b, a) }
	cut := func(items []T) []T {
		slices.SortStableFunc(items, falling)
		return items[:min(n, len(items))]
	}
	top, err := Fold(ctx, c, q,
		func() []T { return nil },
		func(top []T, item T) []T {
			if top = append(top, item); len(top) < 2*n+16 {
				return top
			}
			return cut(top)
		},
		func(sum, part []T) []T { return cut(append(sum, part...)) })
	return top, err
}
