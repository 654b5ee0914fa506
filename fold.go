package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/gather"
)

// Fold reads the items that q asks for and folds them into one value: each shard starts with zero and adds its items in
// order, and the shards' values are merged in order. Shards are read in parallel, so add is called from several
// goroutines, with values of their own. A fold is of all items: q.Limit is refused with ErrQuery, and an item that cannot be
// decoded ends the fold with a *DecodeError; here and in CountBy and Top. To fold whatever is there, use As with Item.
func Fold[T, A any](ctx context.Context, c *Collection[T], q Query, zero func() A, add func(A, T) A, merge func(A, A) A) (A, error) {
	total := zero()
	if q.Limit != 0 {
		return total, fmt.Errorf("%w: Limit is %d, but a fold is of all items", ErrQuery, q.Limit)
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

// Group is how many items have something in common.
type Group[K any] struct {
	Key   K
	Count int
}

// CountBy counts the items that q asks for by what key says of them, and returns the groups by falling count; groups of
// the same count by key.
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

// Top returns the n greatest of the items that q asks for, greatest first, as compare orders them; of equal ones, those
// of the first shards. Each shard keeps about 2n at a time. The n greatest by sort key are cheaper to
// have: Query with Reverse and Limit.
func Top[T any](ctx context.Context, c *Collection[T], q Query, n int, compare func(a, b T) int) ([]T, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: the top %d", ErrQuery, n)
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
