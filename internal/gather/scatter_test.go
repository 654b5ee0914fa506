package gather

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// Every entry of every shard is visited, in the order of its shard, so many shards at a time.
func TestScatter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &store{delay: func(string, int64) time.Duration { return time.Second }}
		sources := lists(s, false, 100, numbers(7), nil, numbers(500), numbers(1), numbers(30))
		all := NewScatter[item](Config{Concurrency: 2, Memory: 1000, MaxEntry: 100, MaxPage: 1000})
		seen := make([]int, len(sources))
		var under, most atomic.Int64
		err := all.Do(context.Background(), len(sources), func(ctx context.Context, i int) error {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			return all.Read(ctx, sources[i].Shard, func(e Entry[item]) error {
				if want := fmt.Sprintf("%06d|%d|%d", seen[i], i, seen[i]); e.Value.id != want {
					t.Errorf("got %s, want %s", e.Value.id, want)
				}
				seen[i]++
				return nil
			})
		})
		if fmt.Sprint(seen) != "[7 0 500 1 30]" || err != nil || most.Load() != 2 {
			t.Errorf("got %v, %v, %d at a time, want all of it, two at a time", seen, err, most.Load())
		}
		if m := all.memory; m.held != 0 || m.reserved != (reservation{}) {
			t.Errorf("%+v at the end", &m.memory)
		}
	})
}

// Whatever the order in time, the first shard's error counts, and one that is not its own counts more.
func TestScatterFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		errs    [4]error // of shards, each a second after the one behind it
		partial bool
		want    error
		ended   int // shards
	}{
		{"none", [4]error{}, false, nil, 4},
		{"lost", [4]error{nil, nil, errLost, nil}, false, &MissingError{Shards: []error{errLost}, Of: 4}, 1},
		{"lost, but partial", [4]error{errLost, nil, errLost, nil}, true, &MissingError{Shards: []error{errLost, errLost}, Of: 4}, 2},
		{"fatal", [4]error{nil, nil, errFatal, nil}, true, errFatal, 1},
		{"lost and fatal", [4]error{nil, errFatal, nil, errLost}, true, errFatal, 1},
	} {
		bubble.Test(t, func(t *testing.T) {
			var ended atomic.Int64
			all := NewScatter[item](Config{Lost: lost, Partial: test.partial})
			err := all.Do(context.Background(), 4, func(ctx context.Context, i int) error {
				select {
				case <-time.After(time.Duration(4-i) * time.Second):
				case <-ctx.Done():
					return ctx.Err()
				}
				if test.errs[i] == nil {
					ended.Add(1)
				}
				return test.errs[i]
			})
			if fmt.Sprintf("%#v", err) != fmt.Sprintf("%#v", test.want) || ended.Load() != int64(test.ended) {
				t.Errorf("%s: got %#v with %d shards done, want %#v with %d", test.name, err, ended.Load(), test.want, test.ended)
			}
		})
	}
}

// Of several errors at the same time, that of the first shard is returned.
func TestScatterReturnsTheFirstError(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := NewScatter[item](Config{Lost: lost, Partial: true, Concurrency: 100})
		err := all.Do(context.Background(), 40, func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			return fmt.Errorf("shard %02d: %w", i, errLost)
		})
		e, ok := errors.AsType[*MissingError](err)
		if !ok || len(e.Shards) != 40 {
			t.Fatalf("got %v, want 40 that are missing", err)
		}
		for i, err := range e.Shards {
			if want := fmt.Sprintf("shard %02d: lost", i); err.Error() != want {
				t.Errorf("error %d is %v, want %s", i, err, want)
			}
		}
	})
}

// The caller's context, its errors and its panics come through.
func TestScatterEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := NewScatter[item](Config{Lost: lost, Partial: true, Concurrency: 1})
		wait := func(ctx context.Context, i int) error {
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errFatal)
		defer cancel()
		if err := all.Do(ctx, 3, wait); !errors.Is(err, errFatal) {
			t.Errorf("got %v, want the context's cause", err)
		}
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("got %v, want the caller's panic", p)
			}
		}()
		all.Do(context.Background(), 3, func(context.Context, int) error { panic("mine") })
	})
}

// An error of visit ends the reading of a shard.
func TestScatterVisitFails(t *testing.T) {
	s := &store{}
	all := NewScatter[item](Config{})
	n := 0
	err := all.Read(t.Context(), lists(s, false, 1, numbers(9))[0].Shard, func(Entry[item]) error {
		if n++; n == 3 {
			return errFatal
		}
		return nil
	})
	if !errors.Is(err, errFatal) || n != 3 {
		t.Errorf("got %v after %d entries, want the third's", err, n)
	}
}

// A shard that waits for memory stops waiting when the context ends.
func TestScatterWaitsForMemory(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := NewScatter[item](Config{Memory: 1, FirstPages: 1, MaxPage: 1})
		all.memory.held = 1
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s, start := &store{}, time.Now()
		err := all.Read(ctx, lists(s, false, 1, numbers(9))[0].Shard, func(Entry[item]) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute || s.fetches.Load() != 0 {
			t.Errorf("got %v after %v with %d fetches, want the deadline and none", err, time.Since(start), s.fetches.Load())
		}
	})
}
