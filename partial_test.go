package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

func TestShardThatFails(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &watched{
			Client: &made{TB: t, keys: func(string) []string { return ranks(50) }}, delay: after(time.Second),
			fail: func(shardKey string, _ int) error {
				if shardKey == "k#SHARD_7" {
					return errRefused
				}
				return nil
			},
		}
		items := collection(t, client, sharded(20))
		check := func(what string, err error) {
			t.Helper()
			s, ok := err.(*ShardError)
			if !ok {
				t.Fatalf("%s: got %v, want a ShardError and nothing around it", what, err)
			}
			if s.ShardKey != "k#SHARD_7" || s.Shard != 7 || s.Operation != "Query" || s.Table != "made" || s.Attempts != 1 {
				t.Errorf("%s: %+v", what, *s)
			}
			if refused, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok || refused != errRefused {
				t.Errorf("%s: %v does not lead to the SDK's error", what, err)
			}
			if !strings.Contains(err.Error(), `shard "k#SHARD_7"`) {
				t.Errorf("%s: %v does not name the shard", what, err)
			}
		}
		got, err := all(context.Background(), items, Query{Key: "k"}, "sk")
		check("query", err)
		if len(got) != 0 {
			t.Errorf("%d items before the error", len(got))
		}
		page, err := items.Page(context.Background(), Query{Key: "k", Limit: 10}, "")
		check("page", err)
		if len(page.Items) > 0 || page.Next != "" {
			t.Errorf("a page beside the error: %v", page)
		}
		_, err = items.Count(context.Background(), Query{Key: "k"})
		check("count", err)
		_, err = items.Distribution(context.Background(), Query{Key: "k"})
		check("distribution", err)
		_, err = items.Count(context.Background(), Query{Key: "k", Limit: 10})
		check("limited count", err)
		_, err = CountBy(context.Background(), items, Query{Key: "k"}, func(Item) int { return 0 })
		check("count by", err)
		_, err = items.Count(context.Background(), Query{Key: "k", Partial: true})
		check("partial count", err)
		// what was refused once is refused by all: there is no part to be content with
		_, err = all(context.Background(), items, Query{Key: "k", Partial: true}, "sk")
		check("partial", err)
		client.mu.Lock()
		defer client.mu.Unlock()
		if client.under != 0 {
			t.Errorf("%d queries are still under way", client.under)
		}
	})
}

// TestPartialModel breaks shards at random pages and compares what is returned with what there is: the first Complete
// items are the first there are, and no other shard's items are missing.
func TestPartialModel(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		shards := rapid.IntRange(1, 6).Draw(t, "shards")
		reverse := rapid.Bool().Draw(t, "reverse")
		keys, want, shardOf := map[string][]string{}, ranks(rapid.IntRange(0, 60).Draw(t, "items")), map[string]string{}
		for _, sk := range want {
			shardOf[sk] = fmt.Sprintf("k#SHARD_%d", rapid.IntRange(0, shards-1).Draw(t, "shard"))
			keys[shardOf[sk]] = append(keys[shardOf[sk]], sk)
		}
		if reverse {
			slices.Reverse(want)
		}
		broken := map[string]int{} // from which query on
		for shard := range shards {
			if rapid.IntRange(0, 2).Draw(t, "broken") == 0 {
				broken[fmt.Sprintf("k#SHARD_%d", shard)] = rapid.IntRange(0, 3).Draw(t, "from")
			}
		}
		client := &watched{
			Client: &made{TB: tb, keys: func(shardKey string) []string { return keys[shardKey] }},
			fail: func(shardKey string, nth int) error {
				if from, ok := broken[shardKey]; ok && nth >= from {
					return errBroken
				}
				return nil
			},
		}
		options := sharded(shards)
		options.ReadMemory = rapid.SampledFrom([]int{1, 10 << 10, 64 << 20}).Draw(t, "memory")
		q := Query{Key: "k", Reverse: reverse, Partial: true, Limit: rapid.SampledFrom([]int{0, 1, 7, 100}).Draw(t, "limit")}
		var got []string
		var err error
		if q.Limit > 0 && rapid.Bool().Draw(t, "page") {
			var page Page[Item]
			page, err = collection(tb, client, options).Page(tb.Context(), q, "")
			for _, item := range page.Items {
				got = append(got, str(item, "sk"))
			}
			if err != nil && page.Next != "" {
				t.Error("a token beside an error")
			}
		} else {
			got, err = all(tb.Context(), collection(tb, client, options), q, "sk")
		}
		complete, missing := len(got), map[string]bool{}
		if err != nil {
			gather, ok := errors.AsType[*GatherError](err)
			if !ok {
				t.Fatal(err)
			}
			complete = gather.Complete
			for _, s := range gather.Shards {
				if _, ok := broken[s.ShardKey]; !ok || missing[s.ShardKey] {
					t.Errorf("%s is missing, but is not broken, or twice", s.ShardKey)
				}
				missing[s.ShardKey] = true
			}
			if len(missing) == 0 || gather.Of != shards {
				t.Errorf("%d of %d missing, want of %d", len(missing), gather.Of, shards)
			}
		}
		if complete > len(got) || !slices.Equal(got[:complete], want[:complete]) {
			t.Fatalf("the first %d are not\n%v\n%v", complete, got, want)
		}
		// behind those, all that other shards have is there, in order
		var rest []string
		for _, sk := range want {
			if !missing[shardOf[sk]] || slices.Contains(got, sk) {
				rest = append(rest, sk)
			}
		}
		if q.Limit > 0 {
			rest = rest[:min(q.Limit, len(rest))]
		}
		if !slices.Equal(got, rest) {
			t.Fatalf("missing %v:\ngot  %v\nwant %v", missing, got, rest)
		}
	})
}
