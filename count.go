package heatsink

import (
	"context"
	"errors"
	"math"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// plan is Collection.Plan.
func (c *core) plan(ctx context.Context, q Query) (Plan, error) {
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	n, err := r.shardCount(ctx, math.MaxInt)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Buckets: c.options.Layout.Bucket.Count(q.From, q.To), Shards: n, Requests: n}, nil
}

// count is Collection.Count.
func (c *core) count(ctx context.Context, q Query) (int, error) {
	r, err := c.prepare(ctx, q.unprojected())
	if err != nil {
		return 0, err
	}
	if q.Limit > 0 {
		return r.countSome(ctx)
	}
	counts, err := r.counts(ctx)
	total := 0
	for _, n := range counts {
		total += n
	}
	return total, err
}

// countSome counts up to the query's limit. It reads the keys of as many items as a Query with that limit does, because only
// a read in order knows how much to ask each shard for, and when to stop.
func (r *reading) countSome(ctx context.Context) (n int, err error) {
	r.projectKeys()
	g, err := r.gather(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer g.close()
	for {
		e, _, err := g.next()
		if errors.Is(err, errEnd) {
			return n, g.missed(nil)
		}
		if err != nil {
			return n, err
		}
		if _, err := decodeRow[Item](r.row(e)); err != nil {
			return n, err
		}
		n++
	}
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
	if err := r.checkRequests(ctx); err != nil {
		return nil, err
	}
	cursors, err := r.everyShard(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(cursors))
	memory := newSharedRoom(r.core.options.ReadMemory)
	err = r.scatter(ctx, cursors, func(ctx context.Context, i int, cu *cursor) error {
		if cu.timed || r.sortedByTTL() { // only the items tell
			return r.each(ctx, cu, memory, func(w row) error {
				_, err := decodeRow[Item](w)
				counts[i]++
				return err
			})
		}
		for start := cu.start; ; {
			in := r.input(cu, start, 0)
			in.Select = types.SelectCount
			out, err := r.send(ctx, cu, in)
			if err != nil {
				return err
			}
			if err := r.checkShape(cu, out); err != nil {
				return err
			}
			counts[i] += int(out.Count)
			if err := r.checkProgress(cu, start, out.LastEvaluatedKey); err != nil {
				return err
			}
			if start = out.LastEvaluatedKey; len(start) == 0 {
				return nil
			}
		}
	})
	return counts, err
}
