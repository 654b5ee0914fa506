package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// Every algorithm, over one shard and several, at its limit, on every engine: the expressions mean the same everywhere.
func TestLimitOnEveryEngine(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		setup := ratelimit.Options{Table: table, Limit: 1}
		enginetest.DropTable(t, client, table)
		if err := ratelimit.Setup(t.Context(), client, setup); err != nil {
			t.Fatal(err)
		}
		for _, shards := range []int{1, 3} {
			for name, options := range everyAlgorithm(7, shards) {
				options.Window = 100 * 24 * time.Hour // as the test may run at the end of an hour
				limiter, other := open(t, client, options), open(t, client, options)
				key := fmt.Sprint(name, shards)
				for i := range 7 {
					if d := allow(t, limiter, key); !d.Allowed || d.Remaining != 6-i || d.Limit != 7 {
						t.Errorf("%s, %d shards: got %v, want %d left", name, shards, d, 6-i)
					}
				}
				if d := allow(t, other, key); d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 {
					t.Errorf("%s, %d shards: got %+v at the limit", name, shards, d)
				}
				if d, err := other.Peek(t.Context(), key); err != nil || d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 {
					t.Errorf("%s, %d shards: peek: got %+v, %v at the limit", name, shards, d, err)
				}
				if err := other.Reset(t.Context(), key); err != nil {
					t.Error(err)
				}
				if d := allowN(t, other, key, 2); !d.Allowed || d.Remaining != 5 {
					t.Errorf("%s, %d shards: got %+v after a reset", name, shards, d)
				}
			}
		}
	})
}

// However many goroutines of however many processes check at once, exactly the limit is let through.
func TestConcurrentChecksLetExactlyTheLimitThrough(t *testing.T) {
	for _, shards := range []int{1, 4} {
		for name, options := range everyAlgorithm(30, shards) {
			options.Window = 100 * 24 * time.Hour // so that no token comes meanwhile
			client := start(t)
			var through atomic.Int64
			var running sync.WaitGroup
			for range 3 {
				limiter := open(t, client, options)
				for range 20 {
					running.Go(func() {
						if allow(t, limiter, "k").Allowed {
							through.Add(1)
						}
					})
				}
			}
			running.Wait()
			if n := through.Load(); n != 30 {
				t.Errorf("%s, %d shards: %d let through, want 30", name, shards, n)
			}
		}
	}
}

// The limit is divided without a remainder being lost or added, also below the number of shards.
func TestShardsShareTheLimitExactly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		for _, limit := range []int{1, 2, 3, 7, 10, 11, 29} {
			for name, options := range everyAlgorithm(limit, 10) {
				limiter, key, through := open(t, client, options), fmt.Sprint(name, limit), 0
				for range limit + 20 {
					if allow(t, limiter, key).Allowed {
						through++
					}
				}
				if through != limit {
					t.Errorf("%s: %d let through, want %d", name, through, limit)
				}
			}
		}
	})
}

// A cost is all or nothing, in one shard; what is left of several may be less than it each.
func TestAllowNIsAllOrNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for name, options := range everyAlgorithm(10, 2) {
			limiter := open(t, start(t), options)
			for _, step := range []struct {
				n    int
				want bool
				left int
			}{{3, true, 7}, {3, true, 4}, {3, false, 4}, {2, true, 2}, {2, true, 0}, {1, false, 0}} {
				if d := allowN(t, limiter, "k", step.n); d.Allowed != step.want || d.Remaining != step.left {
					t.Errorf("%s: %d: got %+v, want %+v", name, step.n, d, step)
				}
			}
		}
	})
}

// Around the border of fixed windows, twice the limit may come within moments; of the others, not.
func TestTheBorderOfWindows(t *testing.T) {
	for name, options := range everyAlgorithm(10, 1) {
		bubble.Test(t, func(t *testing.T) {
			limiter := open(t, start(t), options)
			time.Sleep(time.Hour - time.Millisecond)
			through := 0
			for range 10 {
				allow(t, limiter, "k")
			}
			time.Sleep(time.Millisecond)
			for range 20 {
				if allow(t, limiter, "k").Allowed {
					through++
				}
			}
			want := 0
			if options.Algorithm == ratelimit.FixedWindow {
				want = 10
			}
			if through != want {
				t.Errorf("%s: %d let through after the border, want %d", name, through, want)
			}
		})
	}
}

// Limiters that count different things do not meet in one table; those that differ in their limit only do.
func TestLimitersThatShareATable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		for name, options := range everyAlgorithm(5, 1) {
			first := open(t, client, options)
			for range 5 {
				allow(t, first, "k")
			}
			apart := map[string]ratelimit.Options{"name": options, "prefix": options, "window": options}
			for what, other := range apart {
				switch what {
				case "name":
					other.Name = "uploads"
				case "prefix":
					other.Prefix = "UPLOADS#"
				case "window":
					other.Window = time.Minute
				}
				if d := allow(t, open(t, client, other), "k"); !d.Allowed || d.Remaining != 4 {
					t.Errorf("%s with another %s: got %v", name, what, d)
				}
			}
			higher := options
			higher.Limit = 8
			if options.Algorithm == ratelimit.TokenBucket {
				higher.Limit, higher.Burst = 5, 8
			}
			limiter := open(t, client, higher)
			for i := range 3 {
				if d := allow(t, limiter, "k"); !d.Allowed || d.Remaining != 2-i {
					t.Errorf("%s with a higher limit: got %v, want %d left", name, d, 2-i)
				}
			}
			if d := allow(t, limiter, "k"); d.Allowed {
				t.Errorf("%s with a higher limit: got %v at it", name, d)
			}
			if d := allow(t, open(t, client, options), "k"); d.Allowed {
				t.Errorf("%s with the first limit again: got %v", name, d)
			}
		}
	})
}

// A reset is noticed by the process itself at once, by others when they no longer believe what they remember.
func TestResetIsNoticedWithinRemember(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for name, options := range everyAlgorithm(2, 2) {
			client := start(t)
			here, there := open(t, client, options), open(t, client, options)
			for range 3 {
				allow(t, there, "k")
			}
			if err := here.Reset(context.Background(), "k"); err != nil {
				t.Fatal(err)
			}
			if d := allow(t, here, "k"); !d.Allowed {
				t.Errorf("%s: here: got %v", name, d)
			}
			if d := allow(t, there, "k"); d.Allowed {
				t.Errorf("%s: there: got %v at once", name, d)
			}
			time.Sleep(10 * time.Second)
			if d := allow(t, there, "k"); !d.Allowed {
				t.Errorf("%s: there: got %v after 10 s", name, d)
			}
		}
	})
}

// Keys that cannot be stored and costs that can never be are refused, open or closed.
func TestImpossibleChecks(t *testing.T) {
	limiter := open(t, start(t), ratelimit.Options{Limit: 25, Shards: 10, FailOpen: true})
	log := open(t, start(t), ratelimit.Options{Algorithm: ratelimit.SlidingLog, Limit: 1000})
	for _, c := range []struct {
		name    string
		limiter *ratelimit.Limiter
		key     string
		n       int
		want    error
	}{
		{"empty", limiter, "", 1, ratelimit.ErrKey},
		{"a shard key", limiter, "k#SHARD_3", 1, ratelimit.ErrKey},
		{"not UTF-8", limiter, "\xff", 1, ratelimit.ErrKey},
		{"too long", limiter, strings.Repeat("k", 2048), 1, ratelimit.ErrKey},
		{"no cost", limiter, "k", 0, ratelimit.ErrCost},
		{"negative cost", limiter, "k", -1, ratelimit.ErrCost},
		{"more than a shard's share", limiter, "k", 4, ratelimit.ErrCost},
		{"more than a log takes at once", log, "k", 101, ratelimit.ErrCost},
	} {
		d, err := c.limiter.AllowN(t.Context(), c.key, c.n)
		if !errors.Is(err, c.want) || d.Allowed || d.Failed {
			t.Errorf("%s: got %v, %v, want %v", c.name, d, err, c.want)
		}
	}
	for _, key := range []string{"#", "##", "a#b", "日本", "k\x00", strings.Repeat("k", 2000)} {
		if d, err := limiter.AllowN(t.Context(), key, 3); err != nil || !d.Allowed {
			t.Errorf("key %.10q: got %v, %v", key, d, err)
		}
	}
	if d := allowN(t, log, "k", 100); !d.Allowed || d.Remaining != 900 {
		t.Errorf("got %v", d)
	}
	if _, err := limiter.Peek(t.Context(), ""); !errors.Is(err, ratelimit.ErrKey) {
		t.Errorf("peek: got %v", err)
	}
	if err := limiter.Reset(t.Context(), ""); !errors.Is(err, ratelimit.ErrKey) {
		t.Errorf("reset: got %v", err)
	}
}

// The memory is bounded: a flood of keys leaves no more of them than it may, and the limits hold all the same.
func TestAFloodOfKeys(t *testing.T) {
	client := start(t)
	limiter := open(t, client, ratelimit.Options{Limit: 1, Memory: 3})
	for round := range 2 {
		for i := range 20 {
			if d := allow(t, limiter, fmt.Sprint("key-", i)); d.Allowed != (round == 0) {
				t.Fatalf("round %d, key %d: got %v", round, i, d)
			}
		}
	}
}

func TestDecisionString(t *testing.T) {
	for want, d := range map[string]ratelimit.Decision{
		"allowed, 41 of 100 left":                {Allowed: true, Limit: 100, Remaining: 41},
		"refused, retry after 12s":               {Limit: 100, RetryAfter: 12 * time.Second},
		"refused":                                {Limit: 100},
		"allowed without a check: failed open":   {Allowed: true, Failed: true},
		"refused without a check: failed closed": {Failed: true},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := ratelimit.Algorithm(9).String(); got != "Algorithm(9)" {
		t.Errorf("got %q", got)
	}
}
