package heatsink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// X16: a sample is all items of so many shards, in order, for so many requests; without being asked for, or if it asks for
// all shards and more, everything is read.
func TestSample(t *testing.T) {
	ctx, engine := t.Context(), onItems(t)
	options := Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}}
	views := openItems(t, engine, options)
	stored := map[int][]string{} // sort keys by shard
	var all []string
	for i := range 200 {
		sk := fmt.Sprintf("%03d", i)
		written, err := views.Put(ctx, ov("pk", "PAGE", "sk", sk))
		if err != nil {
			t.Fatal(err)
		}
		stored[written.Shard] = append(stored[written.Shard], sk)
		all = append(all, sk)
	}
	for _, sample := range []int{0, 1, 3, 9, 10, 11} {
		shards := sample
		if sample == 0 || sample > 10 {
			shards = 10
		}
		q := Query{Key: "PAGE", Sample: sample}
		plan, err := views.Plan(ctx, q)
		if want := (Plan{1, shards}); err != nil || plan != want {
			t.Errorf("a sample of %d: the plan is %+v, %v, want %+v", sample, plan, err, want)
		}
		for _, read := range []struct {
			name string
			read func(context.Context, *Collection[Item]) ([]string, error)
		}{
			{"Query", func(ctx context.Context, c *Collection[Item]) ([]string, error) { return sortKeys(c.Query(ctx, q)) }},
			{"Reverse", func(ctx context.Context, c *Collection[Item]) ([]string, error) {
				got, err := sortKeys(c.Query(ctx, Query{Key: "PAGE", Sample: sample, Reverse: true}))
				slices.Reverse(got)
				return got, err
			}},
			{"Fold", func(ctx context.Context, c *Collection[Item]) ([]string, error) {
				got, err := Fold(ctx, c, q, func() []string { return nil },
					func(sum []string, i Item) []string { return append(sum, attrText(i, "sk")) },
					func(a, b []string) []string { return append(a, b...) })
				slices.Sort(got)
				return got, err
			}},
		} {
			client := faulty.On(t, engine, nil)
			got, err := read.read(ctx, openItems(t, client, options))
			if err != nil {
				t.Fatal(err)
			}
			touched := map[int]bool{}
			for _, sk := range got {
				touched[shardWith(stored, sk)] = true
			}
			var want []string
			for shard := range touched {
				want = append(want, stored[shard]...)
			}
			slices.Sort(want)
			if len(touched) != shards || !slices.Equal(got, want) || shards == 10 && !slices.Equal(got, all) || client.Count("Query") != shards {
				t.Errorf("%s, a sample of %d: %d items of %d shards with %d requests, want all %d items of %d shards",
					read.name, sample, len(got), len(touched), client.Count("Query"), len(want), shards)
			}
		}
		client := faulty.On(t, engine, nil)
		n, err := openItems(t, client, options).Count(ctx, q)
		if err != nil || client.Count("Query") != shards || n < 10*shards || n > 30*shards || shards == 10 && n != 200 {
			t.Errorf("Count, a sample of %d: %d, %v with %d requests", sample, n, err, client.Count("Query"))
		}
	}
}

// shardWith returns the shard that has a sort key.
func shardWith(stored map[int][]string, sk string) int {
	for shard, keys := range stored {
		if slices.Contains(keys, sk) {
			return shard
		}
	}
	return -1
}

// sortKeys collects the sort keys of a sequence.
func sortKeys(items func(func(Item, error) bool)) (keys []string, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		keys = append(keys, attrText(item, "sk"))
	}
	return keys, nil
}

// Every shard has the same chance to be in a sample, and so have the pairs of them; under a seed samples repeat.
func TestSampleIsDrawnEvenly(t *testing.T) {
	const shards, sample, draws = 8, 3, 10_000
	drawn := func(seed uint64) (single [shards]int, pairs [shards][shards]int) {
		c, err := newCore(onItems(t), Options{
			Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: shards}, Rand: rand.NewPCG(seed, 1),
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.prepare(t.Context(), Query{Key: "a", Sample: sample})
		if err != nil {
			t.Fatal(err)
		}
		for range draws {
			sampled, err := scope{r}.shards(t.Context(), time.Time{}, nil)
			if err != nil || len(sampled) != sample {
				t.Fatalf("got %d shards, %v", len(sampled), err)
			}
			for i, a := range sampled {
				single[a.ordinal.Shard()]++
				for _, b := range sampled[i+1:] {
					if a.ordinal >= b.ordinal {
						t.Fatalf("shard %d comes before %d", a.ordinal, b.ordinal)
					}
					pairs[a.ordinal.Shard()][b.ordinal.Shard()]++
				}
			}
		}
		return single, pairs
	}
	single, pairs := drawn(7)
	// Five standard deviations of a binomial distribution: 3/8 of 10,000, and 3/28.
	for a, n := range single {
		if n < 3750-242 || n > 3750+242 {
			t.Errorf("shard %d was drawn %d times, want about 3,750", a, n)
		}
		for b := a + 1; b < shards; b++ {
			if n := pairs[a][b]; n < 1071-155 || n > 1071+155 {
				t.Errorf("shards %d and %d were drawn together %d times, want about 1,071", a, b, n)
			}
		}
	}
	if again, _ := drawn(7); again != single {
		t.Errorf("got %v, then %v under the same seed", single, again)
	}
}

// A sample is of every bucket, and is refused where it would not be what it says.
func TestSampleOfBuckets(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	daily := openItems(t, client, Options{Layout: layout.Layout{Shards: 5, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}})
	from := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	week := Query{Key: "a", From: from, To: from.AddDate(0, 0, 7), Sample: 2}
	plan, err := daily.Plan(ctx, week)
	if want := (Plan{7, 14}); err != nil || plan != want {
		t.Errorf("got %+v, %v, want %+v", plan, err, want)
	}
	for i := range 7 {
		if _, err := daily.Put(ctx, ov("pk", "a", "sk", fmt.Sprint(i), "at", from.AddDate(0, 0, i).Format(time.RFC3339))); err != nil {
			t.Fatal(err)
		}
	}
	var meter Meter
	if _, err := sortKeys(daily.Query(WithMeter(ctx, &meter), week)); err != nil || meter.Cost().Requests != 14 {
		t.Errorf("got %v and %+v, want 14 requests", err, meter.Cost())
	}

	views := openItems(t, client, Options{Layout: layout.Layout{Shards: 5}})
	grown := openItems(t, client, Options{Layout: layout.Layout{Shards: 5}, Older: []layout.Layout{{}}})
	for name, c := range map[string]struct {
		call func() error
		says string
	}{
		"negative": {func() error { _, err := views.Count(ctx, Query{Key: "a", Sample: -1}); return err }, "Sample is -1, want 0 or more"},
		"a page": {func() error {
			_, err := views.Page(ctx, Query{Key: "a", Limit: 5, Sample: 2}, "")
			return err
		}, "Sample is 2, but a page"},
		"a distribution": {func() error { _, err := views.Distribution(ctx, Query{Key: "a", Sample: 2}); return err }, "Sample is 2, but a distribution"},
		"older layouts":  {func() error { _, err := sortKeys(grown.Query(ctx, Query{Key: "a", Sample: 2})); return err }, "Sample is 2, but the collection has Older layouts"},
	} {
		if err := c.call(); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}
