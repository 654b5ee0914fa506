package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// Scatter reads shards independently, with shared memory. It is safe for concurrent use.
type Scatter[V any] struct {
	config Config
	sizing sizing
	memory *sharedMemory
}

// NewScatter returns a Scatter. It ignores Reverse, Limit, MaxRequests, Prefetch and Hedge of the config.
func NewScatter[V any](config Config) *Scatter[V] {
	config = config.withDefaults()
	return &Scatter[V]{config: config, sizing: newSizing(config), memory: newSharedMemory(config.Memory, config.MaxPage)}
}

// Read reads the rest of a shard and calls visit for each entry, in order. An error of visit ends it.
func (s *Scatter[V]) Read(ctx context.Context, shard Shard[V], visit func(Entry[V]) error) error {
	pages, further := s.config.FirstPages, 0
	for ; shard != nil; pages = LeastPages {
		entries := max(s.sizing.fitting(s.config.Concurrency), further)
		reserved := s.sizing.reservation(entries)
		if err := s.memory.reserve(ctx, reserved, pages); err != nil {
			return err
		}
		page, err := shard.Fetch(ctx, entries)
		s.config.History.sizes.saw(page.Weight)
		s.memory.hold(reserved, page.Size)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if err := visit(e); err != nil {
				return err
			}
		}
		s.memory.give(page.Size)
		shard = page.Next
		if further = 0; len(page.Entries) == 0 { // all of it was filtered out
			further = min(2*entries, maxEntries)
		}
	}
	return nil
}

// Do calls do for n shards, Config.Concurrency at a time, and waits for all calls. An error ends all of them, unless it
// concerns one shard only and Config.Partial is set. Do returns the first error, by shard, that concerns more than one
// shard, or else a MissingError. A panic in do propagates to the caller of Do.
func (s *Scatter[V]) Do(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	type failure struct {
		shard int
		err   error
		lost  bool
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu       sync.Mutex
		failed   []failure
		running  sync.WaitGroup
		panicked any // in do, for the caller
	)
	slots := make(chan struct{}, s.config.Concurrency)
	for i := range n {
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
					cancel(errStopped)
				}
			}()
			err := do(ctx, i)
			if err == nil || ctx.Err() != nil {
				return
			}
			f := failure{i, err, s.config.Lost(err)}
			mu.Lock()
			failed = append(failed, f)
			mu.Unlock()
			if !f.lost || !s.config.Partial {
				cancel(errStopped)
			}
		})
	}
	running.Wait()
	if panicked != nil {
		panic(panicked)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errStopped) {
		return cause
	}
	if len(failed) == 0 {
		return nil
	}
	slices.SortFunc(failed, func(a, b failure) int { return cmp.Compare(a.shard, b.shard) })
	missing := &MissingError{Of: n}
	for _, f := range failed {
		if !f.lost { // any shard would have this error
			return f.err
		}
		missing.Shards = append(missing.Shards, f.err)
	}
	return missing
}

// errStopped cancels the calls for other shards.
var errStopped = errors.New("another shard ended the read")
