package ratelimit_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// 000-11, X21: one below the limit is let through and the limit is refused, whatever the hour: at its start, within it
// and at its end, for two days. The virtual time begins at midnight UTC.
func TestLimitsAtEveryHourOfTheDay(t *testing.T) {
	for name, options := range everyAlgorithm(3, 2) {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				limiter := open(t, start(t), options)
				midnight := time.Now().UTC()
				if midnight.Hour() != 0 || midnight.Minute() != 0 {
					t.Fatalf("the test begins at %v, want midnight", midnight)
				}
				for hour := range 48 {
					for _, offset := range []time.Duration{0, 30 * time.Minute, time.Hour - 1} {
						time.Sleep(time.Until(midnight.Add(time.Duration(hour)*time.Hour + offset)))
						key := fmt.Sprintf("key-%d-%v", hour, offset)
						for i := range 3 {
							if d := allow(t, limiter, key); !d.Allowed || d.Remaining != 2-i {
								t.Fatalf("at %v, %d let through so far: got %v", time.Now().UTC(), i, d)
							}
						}
						if d := allow(t, limiter, key); d.Allowed {
							t.Fatalf("at %v: got %v at the limit", time.Now().UTC(), d)
						}
					}
				}
			})
		})
	}
}

// 000-11, X21: one key, checked every few minutes for two days, across all borders of hours and days: what was let
// through in the last 60 minutes decides, and nothing else. Eight checks later it is 60 minutes to the millisecond on the
// first day, and 8 ms less on the second.
func TestSlidingLogIsExactForTwoDays(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const limit = 7
		limiter := open(t, start(t), ratelimit.Options{Algorithm: ratelimit.SlidingLog, Limit: limit, Shards: 3})
		var through []time.Time
		refused := 0
		step := 7*time.Minute + 30*time.Second
		for began := time.Now(); time.Since(began) < 48*time.Hour; time.Sleep(step) {
			now := time.Now()
			if now.Sub(began) == 24*time.Hour {
				step -= time.Millisecond
			}
			recent := 0
			for _, at := range through {
				if now.Sub(at) < time.Hour {
					recent++
				}
			}
			d := allow(t, limiter, "k")
			if d.Allowed != (recent < limit) {
				t.Fatalf("at %v with %d in the last hour: got %v", now.UTC(), recent, d)
			}
			if d.Allowed {
				through = append(through, now)
			} else {
				refused++
			}
		}
		if refused < 20 {
			t.Errorf("%d refused: the limit was hardly ever reached", refused)
		}
	})
}

// 000-10: what is stored of a check is under RATE_LIMIT#key, over ten shards, and expires 24 hours later, in seconds.
func TestItemsAreShardedAndExpireAfterADay(t *testing.T) {
	for name, options := range everyAlgorithm(1000, 10) {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t)
				limiter := open(t, client, options)
				time.Sleep(15*time.Hour + 30*time.Minute)
				want := time.Now().Add(24 * time.Hour).Unix()
				for range 200 {
					allow(t, limiter, "api-key")
				}
				stored := items(t, client)
				if len(stored) != 10 {
					t.Errorf("%d items, want one for each of ten shards", len(stored))
				}
				shards := map[string]bool{}
				for _, item := range stored {
					pk := item["pk"].(*types.AttributeValueMemberS).Value
					number, ok := strings.CutPrefix(pk, "RATE_LIMIT#api-key#SHARD_")
					if n, err := strconv.Atoi(number); !ok || err != nil || n < 0 || n > 9 {
						t.Errorf("an item is under %q", pk)
					}
					shards[number] = true
					if ttl := item["ttl"].(*types.AttributeValueMemberN).Value; ttl != strconv.FormatInt(want, 10) {
						t.Errorf("ttl is %s, want %d", ttl, want)
					}
				}
				if len(shards) != 10 {
					t.Errorf("shards %v, want ten", shards)
				}
				time.Sleep(26 * time.Hour)
				if left := items(t, client); len(left) != 0 {
					t.Errorf("%d items after a day, want none", len(left))
				}
				if d := allow(t, limiter, "api-key"); !d.Allowed {
					t.Errorf("got %v after a day", d)
				}
			})
		})
	}
}

// Keep is at least two windows: DynamoDB must not delete what still counts.
func TestItemsOutliveTheirWindow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for name, options := range everyAlgorithm(3, 1) {
			options.Window, options.Keep = 100*24*time.Hour, time.Minute
			client := start(t)
			limiter := open(t, client, options)
			for range 3 {
				allow(t, limiter, "k")
			}
			counted := len(items(t, client))
			time.Sleep(30 * 24 * time.Hour)
			if left := len(items(t, client)); left != counted {
				t.Errorf("%s: %d items a month later, want %d", name, left, counted)
			}
			// A token takes 33 days to come. A fixed window may be over.
			if d, err := limiter.Peek(context.Background(), "k"); err != nil || d.Allowed && options.Algorithm != ratelimit.FixedWindow {
				t.Errorf("%s: got %v, %v a month later, want it refused", name, d, err)
			}
		}
	})
}
