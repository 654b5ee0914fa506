package heatsink

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Query says what to read of a collection. Key is all that is needed.
type Query struct {
	// Key is the logical partition key.
	Key string

	// Sort narrows the sort key: Equal, Less, AtMost, Greater, AtLeast, Between or BeginsWith of a value.
	Sort Range

	// From and To narrow the event time to [From, To). A layout with buckets needs them, and reads all of every bucket
	// that they touch: to spare what is outside, narrow Sort as well. EventTime says what becomes of items without a time.
	From, To time.Time

	// Reverse reads from the end.
	Reverse bool

	// Limit is the most items to return, after the filter. Zero: all. Page needs it.
	Limit int

	// Sample reads only so many of the key's shards, in every bucket, and returns what these have: for a fraction of the
	// cost, a fraction of the items. Every read draws its shards anew, each with the same chance. Zero, or as many as there
	// are: all shards. An estimate of the whole is what was read, times Plan's Shards without Sample, divided by those with
	// it, as long as shards hold about the same: not after a key has grown, nor with BareZero over an unsharded past. Page and
	// Distribution refuse a sample with ErrQuery, and so does any read of a collection with Older layouts.
	Sample int

	// Filter and Projection are DynamoDB's expressions, with their Names and Values. A filter saves no capacity.
	Filter, Projection string
	Names              map[string]string
	Values             Item

	// Consistent makes reads strongly consistent, at twice the price. Indexes have no such reads.
	Consistent bool

	// IncludeExpired returns items whose time to live is over, too.
	IncludeExpired bool

	// Prefetch is how many buckets are read at the same time as the one that is being returned, needed or not. Default: the
	// next, once it is certain to be needed; more after buckets that held little.
	Prefetch int

	// Partial returns what the shards that can be read have, and a GatherError that says which are missing, instead of
	// failing. Requests that DynamoDB rejects, rather than throttles or does not answer, fail all the same, with a ShardError.
	Partial bool

	// MaxRequests is the most Query requests that this read may send. Default: 10,000. Negative: no limit. Requests that
	// are repeated because they were throttled or not answered do not count; hedges do.
	//
	// Without a Limit it is checked before the first request is sent: there must not be more shards, in all buckets, as each
	// takes one request at least. The error wraps ErrQuery and ErrTooManyRequests. How many pages a shard has does not count.
	// More than MaxShardKeys buckets, or shards to count or fold, are refused in any case.
	//
	// With a Limit it is checked while reading, and ErrTooManyRequests ends a read that needs more. A Page that has found
	// something by then is not an error: it is shorter than its Limit, and has a Next to go on with.
	MaxRequests int

	// Hedge sends a request again that takes longer than almost all others, and takes the first answer, in Query and
	// Page. It adds one request in twenty at most, or one.
	Hedge bool
}

// Plan is what a Query will read.
type Plan struct {
	Buckets int // how many buckets; 1 without
	Shards  int // how many shards, in all buckets; a read of everything takes at least one request for each
}

// whole refuses a sample for an operation that needs all shards.
func (q Query) whole(operation, why string) error {
	if q.Sample == 0 {
		return nil
	}
	return fmt.Errorf("%w: Sample is %d, but %s: %s", ErrQuery, q.Sample, operation, why)
}

// sampleOf returns how many of a bucket's shards the query reads.
func (q *Query) sampleOf(shards int) int {
	if q.Sample == 0 {
		return shards
	}
	return min(q.Sample, shards)
}

// extent says over how much time a read of such buckets goes, for errors.
func (q *Query) extent(b layout.Bucket) string {
	if b == layout.NoBucket {
		return "all"
	}
	return fmt.Sprintf("%d buckets from %s to %s", b.Count(q.From, q.To), q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339))
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

// queryRows is Collection.Query for raw items.
func queryRows(ctx context.Context, c *core, q Query) iter.Seq2[row, error] {
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
