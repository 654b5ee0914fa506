package heatsink

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Query selects items of a collection. Only Key is required.
type Query struct {
	// Key is the logical partition key.
	Key string

	// Sort restricts the sort key. Make one with Equal, Less, AtMost, Greater, AtLeast, Between or BeginsWith.
	Sort Range

	// From and To restrict the event time to [From, To). A layout with buckets requires them. It reads all of every
	// bucket that they touch, so restrict Sort as well to read less. EventTime describes how items without a time are
	// treated.
	From, To time.Time

	// Reverse reads in descending order.
	Reverse bool

	// Limit is the maximum number of items to return, after the filter. Zero means all. Page requires a Limit.
	Limit int

	// Sample is the number of shards to read of the key, in every bucket. It returns a fraction of the items for a
	// fraction of the cost. Every read draws its shards anew, each with the same probability. Zero, or at least the
	// number of shards, reads all of them.
	//
	// To estimate the whole, multiply the result by Plan's Shards without Sample, and divide it by Plan's Shards with it.
	// The estimate holds only if shards hold about the same number of items. They do not after a key has grown, nor with
	// BareZero over formerly unsharded items. Page and Distribution refuse a sample with ErrQuery. So does any read of a
	// collection with Older layouts or Movable.
	Sample int

	// Filter and Projection are DynamoDB expressions, with their Names and Values. A filter saves no capacity.
	Filter, Projection string
	Names              map[string]string
	Values             Item

	// Consistent makes reads strongly consistent, at twice the price. An index does not support it. With Adaptive, the read
	// also reads the key's ledger, for 1 RCU, and returns every item that was acknowledged before it began.
	Consistent bool

	// AtLeast is the Generation of a write that this read must see, or the largest of several, in a collection with Adaptive.
	// The read is strongly consistent then, for twice the price, and reads the key's ledger only if this process does not know
	// that generation. Use it to read your own writes. It must come from a write to the same key. Zero: see Consistent.
	AtLeast int64

	// IncludeExpired also returns items whose time to live is over.
	IncludeExpired bool

	// Prefetch is the number of buckets to read ahead of the current one, whether they are needed or not. By default the
	// next bucket is read once it is certain to be needed, and more are read after buckets with few items.
	Prefetch int

	// Partial returns the items of the shards that can be read, and a GatherError that names the missing shards. If
	// DynamoDB rejects a request, rather than throttling or not answering it, the read still fails with a ShardError.
	Partial bool

	// MaxRequests is the maximum number of Query requests that this read may send. Default: 10,000. A negative value
	// means no limit. Retries of throttled or unanswered requests do not count; hedged requests do.
	//
	// Without a Limit, the number of shards in all buckets is checked before the first request, because each shard takes
	// at least one. The error wraps ErrQuery and ErrTooManyRequests. Further pages of a shard do not count. More than
	// layout.MaxShardKeys buckets are refused in any case, and so are more shards to count or fold.
	//
	// With a Limit, requests are counted during the read, and a read that needs more ends with ErrTooManyRequests. A Page
	// that already has items is not an error: it is shorter than its Limit, and its Next continues the read.
	MaxRequests int

	// Hedge sends a slow request a second time and uses the first response. It applies to Query and Page. A request is
	// slow when it takes an eighth longer than the 95th percentile of recent requests. Hedging adds at most 5 % more
	// requests; at least one is allowed.
	Hedge bool
}

// Plan is the extent of a Query.
type Plan struct {
	Buckets int // number of buckets; 1 without buckets
	Shards  int // number of shards in all buckets; reading everything takes at least one request for each
}

// whole refuses a sample for an operation that needs all shards, which why explains.
func (q Query) whole(why string) error {
	if q.Sample == 0 {
		return nil
	}
	return fmt.Errorf("%w: Sample is %d, but %s", ErrQuery, q.Sample, why)
}

// sampleOf returns how many of a bucket's shards the query reads.
func (q *Query) sampleOf(shards int) int {
	if q.Sample == 0 {
		return shards
	}
	return min(q.Sample, shards)
}

// extent describes the time range of the read, for errors.
func (q *Query) extent(b layout.Bucket) string {
	if b == layout.NoBucket {
		return "the key"
	}
	return fmt.Sprintf("the range of %d buckets from %s to %s", b.Count(q.From, q.To), q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339))
}

// unprojected returns the query for whole items. It drops names that only the projection used, because DynamoDB refuses
// unused names.
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

// queryRows is Collection.Query for raw items.
func queryRows(ctx context.Context, c *core, q Query) iter.Seq2[row, error] {
	if c.movable != nil {
		return queryTracked(ctx, c, q)
	}
	return func(yield func(row, error) bool) {
		r, err := c.prepare(ctx, q)
		if err != nil {
			yield(row{}, err)
			return
		}
		if q.Limit == 0 {
			if err := r.checkRequests(ctx); err != nil {
				yield(row{}, err)
				return
			}
		}
		g, err := r.gather(ctx, nil)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer g.Close()
		for {
			e, ok, err := g.Next()
			if err != nil {
				yield(row{}, g.explain(err))
				return
			}
			if !ok {
				break
			}
			if !yield(r.row(e), nil) {
				return
			}
		}
		if err := g.missed(nil); err != nil {
			yield(row{}, err)
		}
	}
}
