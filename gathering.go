package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// The largest item and the largest page of DynamoDB, in bytes as DynamoDB counts them. A page ends with the item that
// makes it exceed a megabyte.
const (
	maxItemBytes = 400 << 10
	maxPageBytes = 1<<20 + maxItemBytes
)

// firstPages is the number of full pages that the first requests to all shards may bring. It is a bet that the pages are
// not full: most reads end with these pages, and one round of requests is faster than several.
const firstPages = dispatch.FirstConcurrency

// gathering is an ordered read in progress. The caller must close it.
type gathering struct {
	*gather.Gather[found]
	read    *reading
	buckets []time.Time // one for each stage
	twins   *twins
	skipped int // entries that were returned before
}

// Next returns the next entry of an item that was not returned before.
func (g *gathering) Next() (e entry, ok bool, err error) {
	for {
		if e, ok, err = g.Gather.Next(); err != nil || !ok || !g.twins.again(e) {
			return e, ok, err
		}
		g.skipped++
	}
}

// gather starts an ordered read, after the position from if it is given.
func (r *reading) gather(ctx context.Context, from *pagetoken.Position) (*gathering, error) {
	in := scope{r}
	older, err := in.olderShards()
	if err != nil {
		return nil, err
	}
	g := &gathering{read: r, buckets: in.buckets(), twins: newTwins(r.core)}
	if from != nil {
		g.buckets = slices.DeleteFunc(g.buckets, func(b time.Time) bool {
			return b.Before(from.Bucket) != r.query.Reverse && !b.Equal(from.Bucket)
		})
	}
	stages := gather.Stages[found]{Count: len(g.buckets)}
	if r.core.options.Layout.Bucket == layout.NoBucket {
		own, err := in.shards(ctx, time.Time{}, from)
		if err != nil {
			return nil, err
		}
		if from != nil {
			for _, s := range older {
				s.resume(s.ordinal, *from)
			}
			if err := resumeShards(own, older, *from); err != nil {
				return nil, err
			}
		}
		older = without(older, own)
		stages.Open = func(context.Context, int) ([]gather.Source[found], error) { return sources(own), nil }
		stages.More = in.more(g.buckets, [][]*shard{own}, from)
	} else {
		if from != nil && from.Older != nil {
			for _, s := range older {
				s.resume(s.ordinal, *from.Older)
			}
		}
		known := make([][]*shard, len(g.buckets))
		stages.Open = func(ctx context.Context, stage int) ([]gather.Source[found], error) {
			own, err := in.openBucket(ctx, g.buckets[stage], from)
			known[stage] = own
			return sources(own), err
		}
		stages.More = in.more(g.buckets, known, from)
	}
	stages.Along = sources(older)
	g.Gather, err = gather.New(ctx, r.config(ctx), stages)
	if err != nil {
		return nil, g.explain(err)
	}
	return g, nil
}

// config returns the configuration of the read.
func (r *reading) config(ctx context.Context) gather.Config {
	q, o := &r.query, &r.core.options
	c := gather.Config{
		Reverse: q.Reverse, Limit: q.Limit, Prefetch: q.Prefetch, Partial: q.Partial,
		Concurrency: o.MaxConcurrency, Lost: lost, Filter: q.Filter, History: &r.core.history,
		Memory: o.ReadMemory, MaxEntry: maxItemBytes, MaxPage: maxPageBytes, FirstPages: firstPages,
		Evicted: func(bytes int) {
			o.Logger.DebugContext(ctx, "items dropped to stay within ReadMemory, to be read again", "table", o.Table, "key", q.Key, "bytes", bytes)
		},
	}
	if q.Limit > 0 {
		c.MaxRequests = max(r.maxRequests(), 0)
	}
	if q.Hedge {
		c.Hedge = func() bool { return !r.throttled.Load() }
	}
	return c
}

// lost reports whether an error concerns only one shard. If DynamoDB rejects a request, it would reject it for any shard.
func lost(err error) bool {
	failed, ok := errors.AsType[*ShardError](err)
	return ok && dispatch.Judge(failed.Err) != dispatch.Rejected
}

// position returns the position of the last returned entry, without its key in the table: see positioned.
func (g *gathering) position(e entry) pagetoken.Position {
	at := g.Place()
	return pagetoken.Position{Bucket: g.buckets[at.Stage], Width: at.Shards, Ordinal: pagetoken.Ordinal(at.Ordinal), Sort: sortOf(e)}
}

// missed returns the error of a partial read, joined with the reason for an early end if there is one. It returns nil if
// no shard is missing.
func (g *gathering) missed(short error) error {
	missing := g.Missing()
	if missing == nil {
		return nil
	}
	if short != nil {
		return errors.Join(gatherError(missing), short)
	}
	return gatherError(missing)
}

// explain converts the error of an ordered read to the library's terms.
func (g *gathering) explain(err error) error {
	switch e := err.(type) {
	case *gather.AllowanceError:
		return g.exceeded(e)
	case *gather.WaitError:
		return fmt.Errorf("query %s: %w", g.read.core.options.Table, e)
	case *gather.MissingError:
		return gatherError(e)
	}
	return err
}

// exceeded returns the error of a read that needs more requests than MaxRequests allows.
func (g *gathering) exceeded(e *gather.AllowanceError) error {
	r, o := g.read, &g.read.core.options
	err := fmt.Errorf("%w: query %s key %q: %d requests returned %d items so far", ErrTooManyRequests, o.Table, r.query.Key, e.Sent, e.Returned)
	if e.Sent == 0 {
		err = fmt.Errorf("%w: %w: query %s key %q: none was sent", ErrQuery, ErrTooManyRequests, o.Table, r.query.Key)
	}
	where := ""
	if bucket := g.buckets[e.Stage]; !bucket.IsZero() {
		where = " in the bucket of " + bucket.Format(time.RFC3339)
	}
	return fmt.Errorf("%w, and the next %d%s would exceed MaxRequests, which is %d: %s", err, e.More, where, r.maxRequests(), r.remedy())
}

// gatherError converts a gather.MissingError to a GatherError.
func gatherError(missing *gather.MissingError) *GatherError {
	failure := &GatherError{Of: missing.Of, Complete: missing.Complete}
	for _, err := range missing.Shards {
		if s, ok := errors.AsType[*ShardError](err); ok { // all are: see lost
			failure.Shards = append(failure.Shards, s)
		}
	}
	return failure
}

// scatter reads all shards in no particular order. Each shard has a value of its own, which starts as zero and which add
// changes. scatter returns the values in the order of the shards, even with an error.
func scatter[A any](ctx context.Context, r *reading, zero func() A, add func(context.Context, *gather.Scatter[found], *shard, *A) error) ([]A, error) {
	if err := r.checkRequests(ctx); err != nil {
		return nil, err
	}
	shards, err := scope{r}.everyShard(ctx)
	if err != nil {
		return nil, err
	}
	all := gather.NewScatter[found](r.config(ctx))
	rest := scope{r}.restOfAll(ctx, shards)
	parts, err := scatterOver(ctx, all, shards, zero, add)
	more, failed := rest()
	missing, partly := err.(*gather.MissingError)
	if partly {
		missing.Of += len(more)
	}
	switch goesOn := err == nil || partly && r.query.Partial; {
	case goesOn && failed != nil && partly: // nobody knows how many more are missing
		return parts, errors.Join(gatherError(missing), failed)
	case goesOn && failed != nil:
		return parts, failed
	case goesOn && len(more) > 0:
		added, late := scatterOver(ctx, all, more, zero, add)
		both := slices.Concat(shards, more)
		parts = inOrder(r.query.Reverse, both, append(parts, added...))
		err = missingOf(len(both), inOrder(r.query.Reverse, both, both), err, late)
	}
	if missing, ok := err.(*gather.MissingError); ok {
		return parts, gatherError(missing)
	}
	return parts, err
}

// missingOf joins what two parts of a read are missing, in the order of all shards. An error that is about more than one shard
// comes before.
func missingOf(of int, all []*shard, errs ...error) error {
	joined := &gather.MissingError{Of: of}
	for _, err := range errs {
		missing, ok := err.(*gather.MissingError)
		switch {
		case ok:
			joined.Shards = append(joined.Shards, missing.Shards...)
		case err != nil:
			return err
		}
	}
	if joined.Shards == nil {
		return nil
	}
	order := make(map[string]int, len(all))
	for i, s := range all {
		order[s.key] = i
	}
	slices.SortStableFunc(joined.Shards, func(a, b error) int {
		x, _ := errors.AsType[*ShardError](a) // all are: see lost
		y, _ := errors.AsType[*ShardError](b)
		return order[x.ShardKey] - order[y.ShardKey]
	})
	return joined
}

// inOrder returns the values of shards in the order of their buckets. Within a bucket they are in order.
func inOrder[A any](reverse bool, shards []*shard, parts []A) []A {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if reverse {
			a, b = b, a
		}
		return shards[a].bucket.Compare(shards[b].bucket)
	})
	sorted := make([]A, len(parts))
	for i, from := range order {
		sorted[i] = parts[from]
	}
	return sorted
}

// scatterOver is scatter for given shards.
func scatterOver[A any](ctx context.Context, all *gather.Scatter[found], shards []*shard, zero func() A,
	add func(context.Context, *gather.Scatter[found], *shard, *A) error,
) ([]A, error) {
	parts := make([]A, len(shards))
	for i := range parts { // including shards that are never read
		parts[i] = zero()
	}
	err := all.Do(ctx, len(shards), func(ctx context.Context, i int) error { return add(ctx, all, shards[i], &parts[i]) })
	return parts, err
}

// defaultMaxRequests is more than an interactive read needs: with 128 requests in flight, it takes some seconds.
const defaultMaxRequests = 10_000

// maxRequests returns the maximum number of requests of the read, or -1 for no limit.
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

// checkRequests refuses a read of everything that takes too many requests. Each shard takes at least one.
func (r *reading) checkRequests(ctx context.Context) error {
	most := r.maxRequests()
	if most < 0 {
		return nil
	}
	n, err := scope{r}.shardCount(ctx, most)
	if err != nil {
		return err
	}
	return r.checkShards(n)
}

// checkShards refuses a read of everything in so many shards if they take too many requests.
func (r *reading) checkShards(n int) error {
	most := r.maxRequests()
	if most < 0 || n <= most {
		return nil
	}
	q, o := &r.query, &r.core.options
	return fmt.Errorf("%w: %w: query %s key %q: %s has %d shards, which take at least one request each, but MaxRequests is %d: %s", ErrQuery, ErrTooManyRequests,
		o.Table, q.Key, q.extent(o.Layout.Bucket), n, most, r.remedy())
}

// remedy suggests what to do about a read that takes too many requests.
func (r *reading) remedy() string {
	if r.core.options.Layout.Bucket == layout.NoBucket {
		return "raise MaxRequests"
	}
	return "check the key, shorten From to To, or raise MaxRequests"
}

// twins notices items that an ordered read has returned already. An index may list an item twice for a moment: in the shard that
// an update or a move took it from, and in its new one. Both entries have the same sort key, so only the items of one sort key
// have to be remembered. The nil twins notices nothing.
type twins struct {
	keys *place.Keys
	sort sortkey.Value
	seen map[string]struct{} // the table's keys of the items with that sort key
}

// maxTwins limits how many keys are remembered, for indexes where all items have the same sort key, or none.
const maxTwins = 10_000

// newTwins returns the twins of a read: nil if an item cannot change its shard while it is read.
func newTwins(c *core) *twins {
	if c.schema.Index == "" || len(c.schema.Older) == 0 && !c.schema.Adaptive() {
		return nil
	}
	return &twins{keys: &c.schema.Keys, seen: make(map[string]struct{})}
}

// again reports whether an entry is of an item that was returned before, and remembers it.
func (t *twins) again(e entry) bool {
	if t == nil {
		return false
	}
	if at := sortOf(e); at != t.sort || len(t.seen) >= maxTwins {
		t.sort = at
		clear(t.seen)
	}
	key, ok := t.keys.KeyText(e.Value.item)
	if !ok {
		return false
	}
	if _, again := t.seen[key]; again {
		return true
	}
	t.seen[key] = struct{}{}
	return false
}
