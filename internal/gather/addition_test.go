package gather

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// gaining returns stages of which each begins with some sources and gains the others after a while.
func gaining(takes time.Duration, known int, stages ...[]Source[item]) Stages[item] {
	return Stages[item]{
		Count: len(stages),
		Open:  func(_ context.Context, i int) ([]Source[item], error) { return stages[i][:known], nil },
		More: func(ctx context.Context, i int) ([]Source[item], error) {
			select {
			case <-time.After(takes):
				return stages[i][known:], nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}
}

// seconds returns a store of which each request takes a second.
func seconds() *store {
	return &store{delay: func(string, int64) time.Duration { return time.Second }}
}

// The requests to the first sources do not wait for More, nor More for them. The sources that it adds take one more round.
func TestMoreRunsBesideFirstRequests(t *testing.T) {
	for _, test := range []struct {
		name  string
		known int
		takes time.Duration
		want  time.Duration
	}{
		{"nothing more", 4, time.Second, time.Second},
		{"nothing more, late", 4, time.Minute, time.Minute},
		{"more at once", 2, 0, time.Second},
		{"more with the first responses", 2, time.Second, 2 * time.Second},
		{"all of them more", 0, time.Second, 2 * time.Second},
	} {
		bubble.Test(t, func(t *testing.T) {
			s := seconds()
			sources := lists(s, false, 1, []string{"b"}, []string{"b", "d"}, []string{"a", "e"}, []string{"c"})
			start := time.Now()
			got, err := read(context.Background(), Config{}, gaining(test.takes, test.known, sources))
			if want := "a|2|0 b|0|0 b|1|0 c|3|0 d|1|1 e|2|1"; err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s: got %v, %v, want %s", test.name, got, err, want)
			}
			if took := time.Since(start); took != test.want || s.fetches.Load() != 4 {
				t.Errorf("%s: %v and %d requests, want %v and 4", test.name, took, s.fetches.Load(), test.want)
			}
		})
	}
}

// More may wait for the first requests: they are sent before it returns. It is called once.
func TestFirstRequestsAreSentBeforeMoreReturns(t *testing.T) {
	s := &store{}
	sent := make(chan string, 10)
	s.fetched = func(_ context.Context, shard string, _ int) { sent <- shard }
	calls := 0
	plan := once(lists(s, false, 1, numbers(3), numbers(3)))
	plan.More = func(ctx context.Context, stage int) ([]Source[item], error) {
		calls++
		for range 2 {
			select {
			case <-sent:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := read(ctx, Config{}, plan); err != nil || len(got) != 6 || calls != 1 {
		t.Errorf("got %d entries, %v, with %d calls of More, want 6 with one", len(got), err, calls)
	}
}

// A stage that waits for More holds up the sources along it, but no earlier stage.
func TestMoreHoldsUpItsStage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := seconds()
		stages := [][]Source[item]{lists(s, false, 1, []string{"b", "e"}), lists(s, false, 1, []string{"d"}, []string{"c"})}
		plan := Stages[item]{Count: 2, Along: lists(s, false, 1, []string{"a", "b", "f"})}
		plan.Along[0].Ordinal = 7
		plan.Open = func(_ context.Context, i int) ([]Source[item], error) { return stages[i][:1], nil }
		plan.More = func(_ context.Context, i int) ([]Source[item], error) {
			time.Sleep(time.Duration(10+i*50) * time.Second) // both stages are opened at once
			return stages[i][1:], nil
		}
		start := time.Now()
		g, err := New(context.Background(), Config{Prefetch: 1}, plan)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if !g.More() {
			t.Error("before the first entry, there may be no more")
		}
		var got []string
		for {
			e, ok, err := g.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			at := g.Place()
			got = append(got, fmt.Sprintf("%s %d/%d %.0fs", e.Sort, at.Stage, at.Shards, time.Since(start).Seconds()))
		}
		want := "a 0/1 10s, b 0/1 10s, b 0/1 10s, e 0/1 10s, c 1/2 61s, d 1/2 61s, f 1/2 61s"
		if strings.Join(got, ", ") != want || g.More() {
			t.Errorf("got %s, more: %t, want %s", strings.Join(got, ", "), g.More(), want)
		}
	})
}

// Sources that a later stage gains are read ahead, while the first stage waits for a shard or for more of them.
func TestAddedShardsAreReadAhead(t *testing.T) {
	for _, test := range []struct {
		name        string
		shard, more time.Duration // of the first stage
	}{
		{"a late shard", 10 * time.Second, 0},
		{"a late More", time.Second, 10 * time.Second},
	} {
		bubble.Test(t, func(t *testing.T) {
			s := &store{delay: func(shard string, nth int64) time.Duration {
				if shard == "shard 0" && nth == 0 {
					return test.shard
				}
				return time.Second
			}}
			stages := [][]Source[item]{lists(s, false, 1, numbers(1)), lists(s, false, 1, numbers(1), numbers(1))[1:]}
			plan := gaining(time.Second, 0, stages...)
			plan.Open = func(_ context.Context, i int) ([]Source[item], error) { return stages[i][:1-i], nil }
			more := plan.More
			plan.More = func(ctx context.Context, i int) ([]Source[item], error) {
				if i == 0 {
					time.Sleep(test.more)
					return nil, nil
				}
				return more(ctx, i)
			}
			start := time.Now()
			if got, err := read(context.Background(), Config{}, plan); err != nil || len(got) != 2 || time.Since(start) != 10*time.Second {
				t.Errorf("%s: got %v, %v after %v, want 2 entries after 10s", test.name, got, err, time.Since(start))
			}
		})
	}
}

// An error of More ends the read unchanged, when its stage is reached and not before.
func TestMoreFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		fails   int
		config  Config
		want    error
		entries int
		opened  int // at most
	}{
		{"the first stage", 0, Config{}, errLost, 0, 2},
		{"the first stage, but partial", 0, Config{Partial: true}, errLost, 0, 2},
		{"the second stage", 1, Config{}, errLost, 2, 2},
		{"the second stage, but partial", 1, Config{Partial: true}, errLost, 2, 2},
		{"a stage that is not reached", 1, Config{Limit: 2, Prefetch: 1}, nil, 2, 2},
		{"a stage that is not reached yet", 1, Config{Limit: 3, Prefetch: 1}, errLost, 2, 2},
	} {
		bubble.Test(t, func(t *testing.T) {
			s, opened := seconds(), 0
			test.config.Lost = lost
			plan := Stages[item]{Count: 9, Open: func(_ context.Context, i int) ([]Source[item], error) {
				opened = max(opened, i+1)
				return lists(s, false, 1, numbers(2)), nil
			}}
			plan.More = func(_ context.Context, i int) ([]Source[item], error) {
				if i == test.fails {
					return lists(s, false, 1, numbers(3)), errLost
				}
				return nil, nil
			}
			got, err := read(context.Background(), test.config, plan)
			if err != test.want || len(got) != test.entries || opened > test.opened {
				t.Errorf("%s: got %d entries of %d stages, %v, want %d of %d and %v", test.name, len(got), opened, err, test.entries, test.opened, test.want)
			}
		})
	}
}

// More is no request, but the requests to its sources are counted before they are sent.
func TestMoreAndAllowance(t *testing.T) {
	for _, test := range []struct {
		name   string
		config Config
		takes  time.Duration
		known  int
		want   *AllowanceError
		sent   int64
	}{
		{"enough", Config{MaxRequests: 8}, 0, 2, nil, 8},
		{"enough for the last, though none is left while it waits", Config{MaxRequests: 8}, time.Minute, 4, nil, 8},
		{"too few for what is added", Config{MaxRequests: 3}, 0, 2, &AllowanceError{Sent: 2, More: 2}, 2},
		{"too few for what is added late", Config{MaxRequests: 3}, time.Minute, 2, &AllowanceError{Sent: 2, More: 2}, 2},
		{"none left for what is added", Config{MaxRequests: 2}, time.Minute, 2, &AllowanceError{Sent: 2, More: 2}, 2},
		{"too few for what is added to a later stage", Config{MaxRequests: 7}, 0, 2, &AllowanceError{Sent: 6, Returned: 4, More: 2, Stage: 1}, 6},
		{"too few, and read ahead", Config{MaxRequests: 7, Prefetch: 1}, 0, 2, &AllowanceError{Sent: 7, Returned: 4, More: 1, Stage: 1}, 7},
		{"not enough to read ahead", Config{MaxRequests: 5, Prefetch: 1}, time.Minute, 2, &AllowanceError{Sent: 4, Returned: 4, More: 2, Stage: 1}, 4},
	} {
		bubble.Test(t, func(t *testing.T) {
			s := seconds()
			test.config.Limit = 8
			four := lists(s, false, 1, numbers(1), numbers(1), numbers(1), numbers(1))
			got, err := read(context.Background(), test.config, gaining(test.takes, test.known, four, four))
			if s.fetches.Load() != test.sent {
				t.Errorf("%s: %d requests, want %d", test.name, s.fetches.Load(), test.sent)
			}
			if test.want == nil {
				if err != nil || len(got) != 8 {
					t.Errorf("%s: got %d entries, %v, want 8", test.name, len(got), err)
				}
				return
			}
			if e, ok := errors.AsType[*AllowanceError](err); !ok || *e != *test.want || len(got) != test.want.Returned {
				t.Errorf("%s: got %d entries, %v, want %v", test.name, len(got), err, test.want)
			}
		})
	}
}

// A stage that gains sources early does not take the requests that an earlier stage needs.
func TestEarlierStageHasTheRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := seconds()
		four := lists(s, false, 1, numbers(1), numbers(1), numbers(1), numbers(1))
		plan := gaining(time.Second, 2, four, four, four)
		more := plan.More
		plan.More = func(ctx context.Context, stage int) ([]Source[item], error) {
			if stage == 1 {
				time.Sleep(time.Minute)
			}
			return more(ctx, stage)
		}
		got, err := read(context.Background(), Config{Limit: 12, MaxRequests: 10, Prefetch: 2}, plan)
		want := AllowanceError{Sent: 10, Returned: 8, More: 2, Stage: 2}
		if e, ok := errors.AsType[*AllowanceError](err); !ok || *e != want || len(got) != 8 {
			t.Errorf("got %d entries, %v, want 8 and %v", len(got), err, &want)
		}
	})
}

// A stage that could not be read yet is opened again, but More is called only for a stage that is read.
func TestMoreIsCalledOnce(t *testing.T) {
	s := &store{}
	opens, calls := 0, make(chan int, 10)
	plan := Stages[item]{Count: 2, Open: func(context.Context, int) ([]Source[item], error) {
		opens++
		return lists(s, false, 1, numbers(1), numbers(1)), nil
	}}
	plan.More = func(_ context.Context, stage int) ([]Source[item], error) {
		calls <- stage
		return nil, nil
	}
	_, err := read(t.Context(), Config{Limit: 9, MaxRequests: 3, Prefetch: 1}, plan)
	if _, ok := errors.AsType[*AllowanceError](err); !ok || opens != 3 || len(calls) != 1 || <-calls != 0 {
		t.Errorf("got %v with %d stages opened and %d calls of More more, want too many requests, 3 and none", err, opens, len(calls))
	}
}

// Shards that were added may be missing as others are, and count as shards of the read.
func TestAddedShardIsMissing(t *testing.T) {
	for _, test := range []struct {
		partial bool
		entries int
	}{{true, 8}, {false, 0}} {
		bubble.Test(t, func(t *testing.T) {
			s := seconds()
			s.fail = func(shard string, _ int64) error {
				if shard == "shard 2" {
					return errLost
				}
				return nil
			}
			c := Config{Lost: lost, Partial: test.partial}
			got, err := read(context.Background(), c, gaining(time.Second, 1, lists(s, false, 1, numbers(4), numbers(4), numbers(4))))
			want := &MissingError{Shards: []error{errLost}, Of: 3}
			if fmt.Sprintf("%#v", err) != fmt.Sprintf("%#v", want) || len(got) != test.entries {
				t.Errorf("partial %t: got %d entries, %#v, want %d and %#v", test.partial, len(got), err, test.entries, want)
			}
		})
	}
}

// The end of the context says what was waited for. More has ended when Close returns.
func TestContextEndsMore(t *testing.T) {
	for _, test := range []struct {
		name   string
		shards time.Duration // until each shard answers
		known  int
		want   WaitError
		text   string
	}{
		{"only More", time.Second, 2, WaitError{Of: 2, Unknown: true}, "the number of shards is not known yet, 2 answered: context deadline exceeded"},
		{"nothing but More", time.Second, 0, WaitError{Unknown: true}, "the number of shards is not known yet, 0 answered: context deadline exceeded"},
		{
			"More and shards", time.Hour, 2,
			WaitError{Waiting: 2, Of: 2, Unknown: true, First: "shard 0"},
			`2 of at least 2 shards did not answer, the first is "shard 0": context deadline exceeded`,
		},
	} {
		bubble.Test(t, func(t *testing.T) {
			s := &store{delay: func(string, int64) time.Duration { return test.shards }}
			plan := gaining(time.Hour, test.known, lists(s, false, 1, numbers(3), numbers(3), numbers(3)))
			more, ended := plan.More, false
			plan.More = func(ctx context.Context, stage int) ([]Source[item], error) {
				sources, err := more(ctx, stage)
				time.Sleep(time.Second) // in spite of the context
				ended = true
				return sources, err
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			start := time.Now()
			got, err := read(ctx, Config{}, plan)
			if len(got) != 0 || err == nil || err.Error() != test.text || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: got %d entries, %v, want %s", test.name, len(got), err, test.text)
			}
			test.want.Err = context.DeadlineExceeded
			if e, ok := errors.AsType[*WaitError](err); !ok || *e != test.want {
				t.Errorf("%s: got %#v, want %#v", test.name, e, test.want)
			}
			if took := time.Since(start); !ended || took != time.Minute+time.Second {
				t.Errorf("%s: after %v More has ended: %t, want a minute and a second", test.name, took, ended)
			}
		})
	}
}

// Close ends the calls of More, also for stages that were opened ahead. An error of More that the context caused is no
// error of its own.
func TestCloseEndsMore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := seconds()
		three := lists(s, false, 1, numbers(1), numbers(1), numbers(1))
		g, err := New(context.Background(), Config{Prefetch: 2}, gaining(time.Hour, 1, three, three, three))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		g.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("closed after %v, want at once", took)
		}
		g, err = New(context.Background(), Config{}, gaining(time.Hour, 1, three))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		g.requests.cancel()
		_, failed := errors.AsType[*WaitError](g.extend(&addition[item]{stage: g.stages.opened[0], err: errFatal}))
		if !failed {
			t.Error("an error after the end of the context does not tell that the context ended")
		}
	})
}

// With a limit, the next stage is not needed while More may still add entries to this one, and needed as soon as it adds
// too few.
func TestNextStageWaitsForMore(t *testing.T) {
	for _, test := range []struct {
		name   string
		shards [][]string // the first is known
		opened int
	}{
		{"enough more", [][]string{numbers(1), numbers(9)}, 1},
		{"too few more", [][]string{numbers(1), nil}, 2},
		{"no more", [][]string{numbers(1)}, 2},
	} {
		bubble.Test(t, func(t *testing.T) {
			s, opened := seconds(), 0
			shards := lists(s, false, 1, test.shards...)
			plan := gaining(time.Minute, 1, shards, shards)
			open := plan.Open
			plan.Open = func(ctx context.Context, i int) ([]Source[item], error) {
				opened = i + 1
				return open(ctx, i)
			}
			g, err := New(context.Background(), Config{Limit: 5}, plan)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if ready, err := g.Ready(); !ready || err != nil || opened != test.opened {
				t.Errorf("%s: ready %t, %v with %d stages opened, want %d", test.name, ready, err, opened, test.opened)
			}
		})
	}
}

// The requests to added shards are as large as all shards of the stage together need.
func TestAddedShardsAreSized(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := seconds()
		first := map[string]int{}
		s.fetched = func(_ context.Context, shard string, size int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if _, ok := first[shard]; !ok {
				first[shard] = size
			}
		}
		shards := make([][]string, 10)
		for i := range shards {
			shards[i] = numbers(200)
		}
		if got, err := read(context.Background(), Config{Limit: 100}, gaining(time.Minute, 2, lists(s, false, 1, shards...))); err != nil || len(got) != 100 {
			t.Fatalf("got %d entries, %v", len(got), err)
		}
		for shard, want := range map[string]int{"shard 0": pageSize(100, 2, missChance), "shard 1": pageSize(100, 2, missChance), "shard 2": pageSize(100, 10, missChance), "shard 9": pageSize(100, 10, missChance)} {
			if first[shard] != want {
				t.Errorf("%d entries of %s first, want %d", first[shard], shard, want)
			}
		}
	})
}
