package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

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
			return nil, fmt.Errorf("%w: %w: more than %d shards in the buckets from %v to %v: read a shorter time, or in steps",
				ErrQuery, ErrTooManyRequests, MaxShardKeys, r.query.From, r.query.To)
		}
	}
	return append(all, without(older, all)...), nil
}

// fitting returns how many items n shards may be asked for at a time without filling the memory.
func (r *reading) fitting(n int) int {
	c := r.core
	return int(min(max(float64(c.options.ReadMemory)/(2*float64(n)*c.sizes.estimate().mean), 1), 1<<20))
}

// each reads a whole shard, in order, with memory that it shares with others.
func (r *reading) each(ctx context.Context, cu *cursor, memory *sharedRoom, visit func(row) error) error {
	pages, further := firstPages, 0
	for start, done := cu.start, cu.done; !done; pages = leastPages {
		items := max(r.fitting(r.core.options.MaxConcurrency), further)
		p := r.parcel(items)
		if err := memory.expect(ctx, p, pages); err != nil {
			return err
		}
		f, err := r.fetch(ctx, cu, start, items)
		memory.arrived(p, f.size)
		if err != nil {
			return err
		}
		for _, e := range f.entries {
			if err := visit(r.row(e)); err != nil {
				return err
			}
		}
		memory.give(f.size)
		start, done = f.start, f.done
		if further = 0; len(f.entries) == 0 { // all of it was filtered out
			further = min(2*items, 1<<20)
		}
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

		panicked any // in do, which may be the caller's; the caller shall have it
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
			defer func() {
				if p := recover(); p != nil {
					mu.Lock()
					defer mu.Unlock()
					panicked = p
					cancel(errPanicked)
				}
			}()
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
			if !r.query.Partial || dispatch.Judge(shard.Err) == dispatch.Rejected {
				cancel(shard)
			}
		})
	}
	running.Wait()
	if panicked != nil {
		panic(panicked)
	}
	cause := context.Cause(ctx)
	if _, shard := errors.AsType[*ShardError](cause); cause != nil && !shard {
		return cause
	}
	slices.SortFunc(failed, func(a, b *ShardError) int { return a.Shard - b.Shard })
	for _, shard := range failed {
		if dispatch.Judge(shard.Err) == dispatch.Rejected { // as it would be of any shard
			return shard
		}
	}
	if len(failed) > 0 {
		return &GatherError{Shards: failed, Of: len(cursors)}
	}
	return nil
}

var errPanicked = errors.New("panic in another shard")
