package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/layout"
)

// scope is which shards a read has, in which buckets. Where a key has a ledger, some are known at once, and the rest when the
// ledger has been read.
type scope struct{ *reading }

// buckets returns the start of each bucket to read, in order. Without buckets it returns one zero time.
func (r scope) buckets() []time.Time {
	b := r.core.options.Layout.Bucket
	if b == layout.NoBucket {
		return []time.Time{{}}
	}
	starts := slices.Collect(b.Starts(r.query.From, r.query.To))
	if r.query.Reverse {
		slices.Reverse(starts)
	}
	return starts
}

// shards returns the shards of a bucket, or all shards without buckets. It draws a sample if the query asks for one. If the
// key's ledger has to be read, it returns the shards that are known: see rest.
//
// from is the position to go on after, nil for the first page.
func (r scope) shards(ctx context.Context, bucket time.Time, from *pagetoken.Position) ([]*shard, error) {
	width, err := r.core.schema.Width(ctx, r.query.Key, bucket)
	if err != nil {
		return nil, err
	}
	var cover *adapt.Cover
	if r.core.ledgers != nil {
		if cover, err = r.core.ledgers.Cover(r.query.Key, bucket, r.mode(bucket, from)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrQuery, err)
		}
		width.Read = cover.First()
		if r.knowsAllFirst() {
			if width.Read, err = cover.Await(ctx); err != nil {
				return nil, err
			}
		}
	}
	shards, err := r.shardsOf(0, r.core.schema.LayoutAt(width.Read), bucket)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		s.cover = cover
	}
	return r.sampled(shards), nil
}

// reading returns what a read of a bucket promises, in the words of package ledger.
func (r scope) mode(bucket time.Time, from *pagetoken.Position) ledger.Reading {
	m := ledger.Reading{Mode: ledger.Eventual}
	switch {
	case r.query.AtLeast > 0:
		m.Mode, m.AtLeast = ledger.Causal, r.query.AtLeast
	case r.query.Consistent:
		m.Mode = ledger.Strong
	}
	if from != nil && bucket.Equal(from.Bucket) {
		m.AtLeastWidth = from.Width
	}
	return m
}

// learnWidths reads the ledgers of all buckets that this process knows too little of.
func (r scope) learnWidths(ctx context.Context) error {
	if r.core.ledgers == nil {
		return nil
	}
	buckets := r.buckets()
	failed := make([]error, len(buckets))
	inParallel(len(buckets), func(i int) {
		shards, err := r.shards(ctx, buckets[i], nil)
		if err == nil {
			_, err = shards[0].cover.Await(ctx)
		}
		failed[i] = err
	})
	return cmp.Or(failed...)
}

// knowsAllFirst reports whether the ledger is read before the first shard, because which shards are read depends on it.
func (r scope) knowsAllFirst() bool { return r.query.Sample > 0 || len(r.core.options.Older) > 0 }

// rest returns the shards of a bucket that only its ledger tells of, once it has been read. known are its other shards.
func (r scope) rest(ctx context.Context, known []*shard) ([]*shard, error) {
	if len(known) == 0 || known[0].cover == nil || r.knowsAllFirst() {
		return nil, nil
	}
	cover := known[0].cover
	n, err := cover.Await(ctx)
	if err != nil || n <= len(known) {
		return nil, err
	}
	all, err := r.shardsOf(0, r.core.schema.LayoutAt(n), known[0].bucket)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		s.cover = cover
	}
	return all[len(known):], nil
}

// olderShards returns the shards of the older layouts.
func (r scope) olderShards() ([]*shard, error) {
	var all []*shard
	for i, older := range r.core.options.Older {
		shards, err := r.shardsOf(i+1, older, time.Time{})
		if err != nil {
			return nil, err
		}
		all = append(all, shards...)
	}
	return without(all, nil), nil
}

// shardsOf returns the shards of a layout: the collection's own if nth is 0, or the nth of Options.Older.
func (r scope) shardsOf(nth int, in layout.Layout, bucket time.Time) ([]*shard, error) {
	shards := make([]*shard, max(in.Shards, 1))
	all, timed := make([]shard, len(shards)), r.timedIn(bucket)
	for n := range shards {
		s := &all[n]
		*s = shard{read: r.reading, ordinal: pagetoken.NewOrdinal(nth, n), left: r.interval, bucket: bucket, timed: timed}
		if r.core.schema.ShardAttribute != "" && nth == 0 {
			s.key = r.query.Key
			s.partition, s.number = r.key, &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
		} else {
			var err error
			if s.key, err = in.ShardKey(r.query.Key, bucket, n); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrQuery, err)
			}
			s.partition = &types.AttributeValueMemberS{Value: s.key}
		}
		shards[n] = s
	}
	return shards, nil
}

// timedIn reports whether the items of a bucket, or those without one, must be compared with From and To. Where the query
// includes the whole bucket they need not be.
func (r scope) timedIn(bucket time.Time) bool {
	q, b := &r.query, r.core.options.Layout.Bucket
	if q.From.IsZero() {
		return false
	}
	return bucket.IsZero() || bucket.Before(q.From) || q.To.Before(b.Next(bucket))
}

// without returns the shards of older layouts that are neither repeated nor shards of the layout itself, such as the bare
// key. Each shard is then read once.
func without(older, own []*shard) []*shard {
	seen := make(map[string]bool, len(older)+len(own))
	for _, s := range own {
		seen[s.key] = true
	}
	return slices.DeleteFunc(older, func(s *shard) bool {
		twice := seen[s.key]
		seen[s.key] = true
		return twice
	})
}

// resumeShards makes the layout's own shards continue after a position. A shard that was added since may have belonged to
// an older layout, and then had an ordinal of that layout. If that ordinal is after a shard that still belongs to an
// older layout, the order has changed.
func resumeShards(own, older []*shard, p pagetoken.Position) error {
	was := make(map[string]pagetoken.Ordinal, len(older)) // by shard key, when the position was issued
	for _, s := range older {
		was[s.key] = s.ordinal
	}
	for _, s := range own {
		if s.ordinal.Shard() < p.Width {
			delete(was, s.key)
		}
	}
	first := pagetoken.LastOrdinal // of the older layouts' shards that still are
	if len(was) > 0 {
		for _, s := range without(slices.Clone(older), own) {
			first = min(first, s.ordinal)
		}
	}
	for _, s := range own {
		ordinal, moved := was[s.key]
		if !moved {
			ordinal = s.ordinal
		} else if ordinal > first {
			return fmt.Errorf("%w: shard %q belonged to an older layout when the token was issued: begin with the first page", ErrToken, s.key)
		}
		s.resume(ordinal, p)
	}
	return nil
}

// everyShard returns the shards of all buckets, followed by those of older layouts.
func (r scope) everyShard(ctx context.Context) ([]*shard, error) {
	older, err := r.olderShards()
	if err != nil {
		return nil, err
	}
	var all []*shard
	for _, bucket := range r.buckets() {
		shards, err := r.shards(ctx, bucket, nil)
		if err != nil {
			return nil, err
		}
		if all = append(all, shards...); len(all) > layout.MaxShardKeys {
			return nil, fmt.Errorf("%w: %w: there are more than %d shards in the buckets from %v to %v: shorten From to To, or read in steps",
				ErrQuery, ErrTooManyRequests, layout.MaxShardKeys, r.query.From, r.query.To)
		}
	}
	return append(all, without(older, all)...), nil
}

// shardCount returns the number of shards that the query reads. If there are more than enough, it may return a smaller
// number that still exceeds enough.
func (r scope) shardCount(ctx context.Context, enough int) (int, error) {
	q, o, schema := &r.query, &r.core.options, r.core.schema
	n := o.Layout.Bucket.Count(q.From, q.To)
	if schema.Adaptive() {
		if n > enough {
			return n, nil // without asking for the width of each
		}
		n = 0
		for start := range o.Layout.Bucket.Starts(q.From, q.To) {
			width, err := schema.Width(ctx, q.Key, start)
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
	if o.Layout.Bucket == layout.NoBucket { // some may be the layout's own
		shards, err := r.everyShard(ctx)
		return len(shards), err
	}
	older, err := r.olderShards()
	return n + len(older), err
}

// sampled returns the shards that the query reads, in order: all of them, or a sample of Query.Sample. Each shard has the
// same probability.
func (r scope) sampled(shards []*shard) []*shard {
	want := r.query.Sample
	if want == 0 || want >= len(shards) {
		return shards
	}
	drawn := make([]*shard, 0, want)
	for i, s := range shards {
		// Knuth's algorithm S: draw with probability (still wanted) / (still left).
		left := uint64(len(shards) - i)
		if r.core.chooser.Uint64N(left) < uint64(want-len(drawn)) {
			drawn = append(drawn, s)
		}
	}
	return drawn
}

// sources converts shards to the sources of package gather.
func sources(shards []*shard) []gather.Source[found] {
	list := make([]gather.Source[found], len(shards))
	for i, s := range shards {
		list[i] = gather.Source[found]{Name: s.key, Ordinal: int(s.ordinal)}
		if !s.done {
			list[i].Shard = s
		}
		if s.skips {
			list[i].Skips = 1
		}
		if s.behind != nil {
			list[i].Last = &s.behind.Text
		}
	}
	return list
}

// more returns what adds the shards to a stage that only a ledger tells of. It is nil without ledgers. known are the shards of
// each stage that was opened.
func (r scope) more(buckets []time.Time, known [][]*shard, from *pagetoken.Position) func(context.Context, int) ([]gather.Source[found], error) {
	if r.core.ledgers == nil {
		return nil
	}
	return func(ctx context.Context, stage int) ([]gather.Source[found], error) {
		rest, err := r.rest(ctx, known[stage])
		if err != nil {
			return nil, err
		}
		if from != nil && buckets[stage].Equal(from.Bucket) {
			if err := resumeShards(rest, nil, *from); err != nil {
				return nil, err
			}
		}
		return sources(rest), nil
	}
}

// openBucket returns the shards of a bucket. In the bucket of from they continue after it.
func (r scope) openBucket(ctx context.Context, bucket time.Time, from *pagetoken.Position) ([]*shard, error) {
	own, err := r.shards(ctx, bucket, from)
	if err != nil {
		return nil, err
	}
	if from != nil && bucket.Equal(from.Bucket) {
		if err := resumeShards(own, nil, *from); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// restOfAll begins to read the ledgers that have to be read, beside the shards that are known. The function that it returns waits
// for them, and returns the shards that they add.
func (r scope) restOfAll(ctx context.Context, shards []*shard) (wait func() ([]*shard, error)) {
	if r.core.ledgers == nil {
		return func() ([]*shard, error) { return nil, nil }
	}
	buckets := slices.Collect(chunksBy(shards, func(s *shard) *adapt.Cover { return s.cover }))
	more, failed := make([][]*shard, len(buckets)), make([]error, len(buckets))
	var read sync.WaitGroup
	read.Go(func() {
		inParallel(len(buckets), func(i int) { more[i], failed[i] = r.rest(ctx, buckets[i]) })
	})
	return func() ([]*shard, error) {
		read.Wait()
		return slices.Concat(more...), cmp.Or(failed...)
	}
}

// chunksBy yields the longest runs of elements with the same key.
func chunksBy[E any, K comparable](all []E, key func(E) K) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && key(all[n]) == key(all[0]) {
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}
