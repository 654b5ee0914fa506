package ratelimit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// A hot shard is left for another.
func TestAThrottledShardIsLeftForAnother(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), func(r faulty.Request) faulty.Fault {
			if strings.HasSuffix(r.Key("pk"), "#SHARD_0") {
				return faulty.Throttled
			}
			return faulty.None
		})
		limiter := open(t, client, ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 1000, Shards: 2})
		for range 100 {
			if d := allow(t, limiter, "k"); !d.Allowed {
				t.Fatalf("got %v", d)
			}
		}
		if n := client.Count("UpdateItem"); n < 110 || n > 200 {
			t.Errorf("%d updates for 100 checks, want one more where the first shard was the hot one", n)
		}
	})
}

// If every shard is throttled, the check gives up after one shard, another, and that one's retries: not all of them,
// which would make the overload worse.
func TestAThrottledTableIsNotAskedShardByShard(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), faulty.Always(faulty.Throttled))
		limiter := open(t, client, ratelimit.Options{Limit: 1000, Shards: 10})
		d, err := limiter.Allow(context.Background(), "k")
		wantError(t, err, ratelimit.ErrUnavailable)
		if throttle := (*types.ProvisionedThroughputExceededException)(nil); !errors.As(err, &throttle) {
			t.Errorf("got %v, want DynamoDB's error within", err)
		}
		if d.Allowed || !d.Failed {
			t.Errorf("got %+v, want it failed and closed", d)
		}
		if n := client.Count("UpdateItem"); n != 4 {
			t.Errorf("%d updates, want 4", n)
		}
		keys := client.Keys("UpdateItem", "pk")
		if shards := len(slices.Compact(slices.Sorted(slices.Values(keys)))); shards != 2 {
			t.Errorf("%d shards were asked, want 2: %q", shards, keys)
		}
	})
}

// After a lost answer the update is done again: counted twice perhaps, let through once.
func TestALostAnswerIsCountedAndAskedAgain(t *testing.T) {
	for name, options := range everyAlgorithm(5, 1) {
		for _, lost := range []faulty.Fault{faulty.LostRequest, faulty.LostAnswer} {
			bubble.Test(t, func(t *testing.T) {
				client := faulty.On(t, start(t), faulty.Script(lost))
				limiter := open(t, client, options)
				through := 0
				for range 20 {
					if allow(t, limiter, "k").Allowed {
						through++
					}
				}
				want := 5
				if lost == faulty.LostAnswer && options.Algorithm != ratelimit.SlidingWindow && options.Algorithm != ratelimit.SlidingLog {
					want = 4 // the first attempt was applied
				}
				if through != want {
					t.Errorf("%s, %s: %d let through, want %d", name, lost, through, want)
				}
			})
		}
	}
}

// Every lost answer costs what it counted and no more: the rest of the limit is let through.
func TestLostAnswersCostWhatTheyCounted(t *testing.T) {
	for name, options := range everyAlgorithm(60, 3) {
		bubble.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 6))
			client := faulty.On(t, start(t), faulty.Random(random, 60, faulty.LostRequest, faulty.LostAnswer, faulty.Throttled))
			options.Window = 100 * 24 * time.Hour // so that no token comes meanwhile
			limiter := open(t, client, options)
			through := 0
			for range 300 {
				if d, _ := limiter.Allow(context.Background(), "k"); d.Allowed {
					through++
				}
				time.Sleep(time.Second)
			}
			lost := 0
			for _, r := range client.Requests() {
				if r.Operation == "UpdateItem" && r.Fault == faulty.LostAnswer && r.Done {
					lost++
				}
			}
			if through+lost != 60 || lost == 0 {
				t.Errorf("%s: %d let through and %d lost, want 60 together", name, through, lost)
			}
		})
	}
}

// Open or closed, as the options say, and the decision and the error say so.
func TestFailsOpenOrClosed(t *testing.T) {
	for _, fault := range []faulty.Fault{faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.Denied, faulty.Unanswered} {
		for _, open1 := range []bool{false, true} {
			bubble.Test(t, func(t *testing.T) {
				began := time.Now()
				limiter := open(t, faulty.On(t, start(t), faulty.Always(fault)), ratelimit.Options{Limit: 1000, FailOpen: open1, Timeout: 3 * time.Second})
				d, err := limiter.Allow(context.Background(), "k")
				wantError(t, err, ratelimit.ErrUnavailable)
				if want := (ratelimit.Decision{Allowed: open1, Limit: 1000, Failed: true}); d != want {
					t.Errorf("%s: got %+v, want %+v", fault, d, want)
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("%s: took %v, longer than Timeout", fault, took)
				}
			})
		}
	}
}

// A table that is not there, or that may not be written to, is an error that names it.
func TestAMissingTableIsNamed(t *testing.T) {
	client := start(t)
	limiter, err := ratelimit.Open(client, ratelimit.Options{Table: "nowhere", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	d, err := limiter.Allow(t.Context(), "k")
	wantError(t, err, ratelimit.ErrUnavailable)
	if none := (*types.ResourceNotFoundException)(nil); !errors.As(err, &none) || !strings.Contains(err.Error(), "nowhere") || !d.Failed {
		t.Errorf("got %v, %v", d, err)
	}
	if _, err := limiter.Peek(t.Context(), "k"); !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("peek: got %v", err)
	}
	if err := limiter.Reset(t.Context(), "k"); err == nil {
		t.Error("reset: no error")
	}
}

// What a caller breaks off fails as well, with the caller's reason.
func TestACancelledCheck(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limiter := open(t, start(t), ratelimit.Options{Limit: 5, FailOpen: true})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 10 { // it says nothing about DynamoDB
			d, err := limiter.Allow(ctx, "k")
			wantError(t, err, context.Canceled)
			wantError(t, err, ratelimit.ErrUnavailable)
			if !d.Failed || !d.Allowed {
				t.Errorf("got %v", d)
			}
		}
		if d := allow(t, limiter, "k"); !d.Allowed || d.Remaining != 4 {
			t.Errorf("got %v", d)
		}
	})
}

// While DynamoDB does not answer, checks do not wait for it, but for one now and then that finds out when it does.
func TestChecksDoNotWaitInAnOutage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), faulty.Always(faulty.Unanswered))
		limiter := open(t, client, ratelimit.Options{Limit: 1000, FailOpen: true, Timeout: time.Second})
		began := time.Now()
		for range 5 {
			_, _ = limiter.Allow(context.Background(), "k")
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Fatalf("five checks took %v, want a second each", took)
		}
		sent := client.Count("UpdateItem")
		began = time.Now()
		for range 1000 {
			d, err := limiter.Allow(context.Background(), "k")
			if !d.Failed || !d.Allowed || !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Fatalf("got %v, %v", d, err)
			}
		}
		if took := time.Since(began); took != 0 || client.Count("UpdateItem") != sent {
			t.Errorf("a thousand more took %v and %d updates, want none", took, client.Count("UpdateItem")-sent)
		}
		client.Decide(nil)
		time.Sleep(100 * time.Millisecond)
		for i := range 10 {
			if d := allow(t, limiter, "k"); !d.Allowed || d.Failed || d.Remaining != 999-i {
				t.Fatalf("when it answers again: got %v", d)
			}
		}
	})
}

// A limiter that fails open still refuses what it knows to be over the limit.
func TestAnOutageDoesNotForgiveRefusals(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		limiter := open(t, client, ratelimit.Options{Limit: 1, FailOpen: true})
		allow(t, limiter, "k")
		client.Decide(faulty.Always(faulty.Throttled))
		if d := allow(t, limiter, "k"); d.Allowed || d.Failed {
			t.Errorf("got %v", d)
		}
	})
}

// An item that somebody else has written is not taken for a count.
func TestAForeignItemIsAnError(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for name, options := range everyAlgorithm(5, 1) {
			client := start(t)
			limiter := open(t, client, options)
			allow(t, limiter, "k")
			item := items(t, client)[0]
			for name := range item {
				if name != "pk" && name != "sk" {
					item[name] = &types.AttributeValueMemberS{Value: "mine"}
				}
			}
			if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
				t.Fatal(err)
			}
			d, err := limiter.Allow(context.Background(), "k")
			wantError(t, err, ratelimit.ErrUnavailable)
			if !d.Failed || d.Allowed {
				t.Errorf("%s: got %v", name, d)
			}
			if _, err := limiter.Peek(context.Background(), "k"); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Errorf("%s: peek: got %v", name, err)
			}
		}
	})
}
