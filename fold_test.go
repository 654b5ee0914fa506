package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

type score struct {
	Key    string `dynamodbav:"pk"`
	Sort   string `dynamodbav:"sk"`
	Player string `dynamodbav:"player"`
	Points int    `dynamodbav:"points"`
}

// scoreboard opens a collection of scores, dealt out to shards in turn.
func scoreboard(t testing.TB, shards int, players []string, points []int) *Collection[score] {
	keys := map[string][]string{}
	for i := range players {
		shardKey := fmt.Sprintf("k#SHARD_%d", i%shards)
		keys[shardKey] = append(keys[shardKey], fmt.Sprintf("%06d", i))
	}
	store := &made{TB: t, keys: func(shardKey string) []string { return keys[shardKey] }}
	store.item = func(_, sk string) Item {
		var i int
		fmt.Sscan(strings.TrimLeft(sk[:5], "0")+sk[5:], &i)
		return Item{"player": text(players[i]), "points": number(fmt.Sprint(points[i]))}
	}
	c, err := Open[score](store, sharded(shards))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFoldTables(t *testing.T) {
	players := []string{"ann", "bob", "ann", "cem", "bob", "ann", "dee"}
	points := []int{5, 0, 5, -3, 9, 2, 9}
	ctx := context.Background()
	for _, shards := range []int{1, 2, 3, 10} {
		c := scoreboard(t, shards, players, points)
		sum, err := Fold(ctx, c, Query{Key: "k"}, func() int { return 0 }, func(n int, s score) int { return n + s.Points }, func(a, b int) int { return a + b })
		if err != nil || sum != 27 {
			t.Errorf("%d shards: the sum is %d, %v", shards, sum, err)
		}
		groups, err := CountBy(ctx, c, Query{Key: "k"}, func(s score) string { return s.Player })
		if want := []Group[string]{{"ann", 3}, {"bob", 2}, {"cem", 1}, {"dee", 1}}; err != nil || !slices.Equal(groups, want) {
			t.Errorf("%d shards: got %v, %v, want %v", shards, groups, err, want)
		}
		groups, err = CountBy(ctx, c, Query{Key: "k", Sort: AtLeast("000004")}, func(s score) string { return s.Player })
		if want := []Group[string]{{"ann", 1}, {"bob", 1}, {"dee", 1}}; err != nil || !slices.Equal(groups, want) {
			t.Errorf("%d shards: got %v, %v, want %v", shards, groups, err, want)
		}
		byPoints := func(a, b score) int { return cmp.Compare(a.Points, b.Points) }
		for n, want := range map[int][]int{0: {}, 1: {9}, 3: {9, 9, 5}, 7: {9, 9, 5, 5, 2, 0, -3}, 100: {9, 9, 5, 5, 2, 0, -3}} {
			top, err := Top(ctx, c, Query{Key: "k"}, n, byPoints)
			got := []int{}
			for _, s := range top {
				if s.Key != "k" {
					t.Errorf("the key is %q", s.Key)
				}
				got = append(got, s.Points)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d shards: the top %d are %v, %v, want %v", shards, n, got, err, want)
			}
		}
	}
	c := scoreboard(t, 2, players, points)
	if _, err := Top(ctx, c, Query{Key: "k"}, -1, func(a, b score) int { return 0 }); !errors.Is(err, ErrQuery) {
		t.Errorf("the top -1: %v", err)
	}
	if _, err := CountBy(ctx, c, Query{Key: "k", Limit: 3}, func(s score) string { return s.Player }); !errors.Is(err, ErrQuery) {
		t.Errorf("with a limit: %v", err)
	}
	groups, err := CountBy(ctx, c, Query{Key: "nobody"}, func(s score) string { return s.Player })
	if err != nil || len(groups) != 0 {
		t.Errorf("of nothing: %v, %v", groups, err)
	}
}

func TestFoldModel(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "items")
		players, points := make([]string, n), make([]int, n)
		counts, sum := map[string]int{}, 0
		for i := range n {
			players[i] = rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "player")
			points[i] = rapid.IntRange(-5, 5).Draw(t, "points")
			counts[players[i]]++
			sum += points[i]
		}
		c := scoreboard(tb, rapid.IntRange(1, 9).Draw(t, "shards"), players, points)
		q := Query{Key: "k", Reverse: rapid.Bool().Draw(t, "reverse")}
		got, err := Fold(tb.Context(), c, q, func() int { return 0 }, func(n int, s score) int { return n + s.Points }, func(a, b int) int { return a + b })
		if err != nil || got != sum {
			t.Fatalf("the sum is %d, %v, want %d", got, err, sum)
		}
		groups, err := CountBy(tb.Context(), c, q, func(s score) string { return s.Player })
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, g := range groups {
			found[g.Key] = g.Count
		}
		sorted := slices.IsSortedFunc(groups, func(a, b Group[string]) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
		})
		if !maps.Equal(found, counts) || !sorted {
			t.Fatalf("got %v, want %v", groups, counts)
		}
		k := rapid.IntRange(0, n+2).Draw(t, "top")
		top, err := Top(tb.Context(), c, q, k, func(a, b score) int { return cmp.Compare(a.Points, b.Points) })
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(points, func(a, b int) int { return b - a })
		best := []int{}
		for _, s := range top {
			best = append(best, s.Points)
		}
		if !slices.Equal(best, points[:min(k, n)]) {
			t.Fatalf("the top %d are %v of %v", k, best, points)
		}
	})
}

// total is folded into by pointer, so that a shard that was never begun would be nil.
type total struct{ items int }

func TestFoldFails(t *testing.T) {
	ctx := context.Background()
	fold := func(c *Collection[score], q Query) (*total, error) {
		return Fold(ctx, c, q, func() *total { return &total{} },
			func(sum *total, _ score) *total { sum.items++; return sum },
			func(a, b *total) *total { a.items += b.items; return a })
	}
	store := &made{TB: t, keys: func(string) []string { return ranks(5) }}
	client := &watched{Client: store, fail: func(shardKey string, _ int) error {
		if strings.HasSuffix(shardKey, "_3") || strings.HasSuffix(shardKey, "_6") {
			return errBroken
		}
		return nil
	}}
	c, err := Open[score](client, sharded(8))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := fold(c, Query{Key: "k"})
	if gather, ok := errors.AsType[*GatherError](err); !ok || len(gather.Shards) < 1 || sum.items != 0 {
		t.Errorf("got %v, %v, want nothing but a GatherError", sum, err)
	}
	sum, err = fold(c, Query{Key: "k", Partial: true})
	gather, ok := errors.AsType[*GatherError](err)
	if !ok || len(gather.Shards) != 2 || gather.Of != 8 || gather.Shards[0].Shard != 3 || gather.Shards[1].Shard != 6 {
		t.Errorf("got %v, want that shards 3 and 6 are missing", err)
	}
	if _, ok := errors.AsType[*types.InternalServerError](err); !ok {
		t.Errorf("%v does not lead to the SDK's error", err)
	}
	if sum.items != 30 {
		t.Errorf("%d items, want the 30 of the others", sum.items)
	}
	if n, err := c.Count(ctx, Query{Key: "k", Partial: true}); n != 30 || !errors.As(err, &gather) {
		t.Errorf("counted %d, %v, want the 30 of the others", n, err)
	}
	// an item that is not a score ends it all, also if shards may be missing
	store.item = func(_, sk string) Item { return Item{"points": text("many")} }
	client.fail = nil
	options := sharded(50)
	options.MaxConcurrency = 1
	if c, err = Open[score](client, options); err != nil {
		t.Fatal(err)
	}
	for _, partial := range []bool{false, true} {
		if _, err := fold(c, Query{Key: "k", Partial: partial}); err == nil || errors.As(err, &gather) {
			t.Errorf("partial %t: got %v, want that an item cannot be read", partial, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := CountBy(ended, c, Query{Key: "k", Partial: true}, func(s score) string { return s.Player }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
