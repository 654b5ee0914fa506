package heatsink

import (
	"context"
	"fmt"
	"time"
)

// defaultMaxRequests is more than reads take that somebody waits for: at 128 requests at a time, some seconds' worth.
const defaultMaxRequests = 10_000

// maxRequests returns how many requests the read may send, -1 for any number.
func (r *reading) maxRequests() int {
	switch n := r.query.MaxRequests; {
	case n < 0:
		return -1
	case n == 0:
		return defaultMaxRequests
	default:
		return n
	}
}

// checkRequests refuses to read everything if that takes more requests than are allowed: one for each shard at least.
func (r *reading) checkRequests(ctx context.Context) error {
	most := r.maxRequests()
	if most < 0 {
		return nil
	}
	n, err := r.shardCount(ctx, most)
	if err != nil || n <= most {
		return err
	}
	q, o := &r.query, &r.core.options
	return fmt.Errorf("%w: %w: query %s key %q: %d shards in %s take a request each, but MaxRequests is %d: %s", ErrQuery, ErrTooManyRequests,
		o.Table, q.Key, n, r.extent(), most, r.remedy())
}

// shardCount returns how many shards the read has, or as many as there are for certain if that is more than enough.
func (r *reading) shardCount(ctx context.Context, enough int) (int, error) {
	q, o, c := &r.query, &r.core.options, r.core
	n := o.Layout.Bucket.Count(q.From, q.To)
	if c.adaptive() {
		if n > enough {
			return n, nil // without asking for the width of each
		}
		n = 0
		for start := range o.Layout.Bucket.Starts(q.From, q.To) {
			width, err := c.width(ctx, q.Key, start)
			if err != nil {
				return 0, err
			}
			n += q.sampleOf(width.Read)
		}
	} else {
		n = o.Layout.WithShards(q.sampleOf(max(o.Layout.Shards, 1))).Requests(q.From, q.To)
	}
	if n > enough || len(o.Older) == 0 {
		return n, nil
	}
	if o.Layout.Bucket == NoBucket { // some may be the layout's own
		cursors, err := r.everyShard(ctx)
		return len(cursors), err
	}
	older, err := r.olderCursors()
	return n + len(older), err
}

// extent says over how much time a read goes, for errors.
func (r *reading) extent() string {
	q := &r.query
	if r.core.options.Layout.Bucket == NoBucket {
		return "all"
	}
	n := r.core.options.Layout.Bucket.Count(q.From, q.To)
	return fmt.Sprintf("%d buckets from %s to %s", n, q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339))
}

// remedy says what to do about a read that takes too many requests.
func (r *reading) remedy() string {
	if r.core.options.Layout.Bucket == NoBucket {
		return "raise MaxRequests"
	}
	return "check the key, read a shorter time, or raise MaxRequests"
}

// exceeded returns the error of a read that needs at least so many more requests than it may send.
func (g *gather) exceeded(more int) error {
	r, o := g.read, &g.read.core.options
	err := fmt.Errorf("%w: query %s key %q: %d sent, with %d items to show for it", ErrTooManyRequests, o.Table, r.query.Key, g.sent, g.emitted)
	if g.sent == 0 {
		err = fmt.Errorf("%w: %w: query %s key %q: none sent", ErrQuery, ErrTooManyRequests, o.Table, r.query.Key)
	}
	where := ""
	if !g.reached.IsZero() {
		where = " in the bucket of " + g.reached.Format(time.RFC3339)
	}
	return fmt.Errorf("%w: the next %d%s would be more than MaxRequests, %d: %s", err, more, where, r.maxRequests(), r.remedy())
}
