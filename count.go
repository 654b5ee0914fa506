package heatsink

import (
	"context"
	"math"

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
