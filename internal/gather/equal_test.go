package gather

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A reader takes entries with equal sort values together, and drops some of these groups. It gets as many groups as its limit says. Each
// has all of its entries, whatever the sizes of pages and memory.
func TestEqualEntriesTogether(t *testing.T) {
	dropped, pairs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		shards := make([][]string, rapid.IntRange(1, 5).Draw(t, "shards"))
		in := map[string]int{} // how many shards have a sort value
		for i := range shards {
			for n := range 12 {
				if rapid.Bool().Draw(t, "has") {
					sort := fmt.Sprintf("%02d", n)
					shards[i] = append(shards[i], sort)
					in[sort]++
				}
			}
		}
		keep := map[string]bool{}
		for n := range 12 {
			keep[fmt.Sprintf("%02d", n)] = rapid.IntRange(0, 2).Draw(t, "keep") > 0
		}
		limit, reverse := rapid.IntRange(0, 13).Draw(t, "limit"), rapid.Bool().Draw(t, "reverse")
		var want []string
		for n := range 12 {
			sort := fmt.Sprintf("%02d", n)
			if reverse {
				sort = fmt.Sprintf("%02d", 11-n)
			}
			if keep[sort] && in[sort] > 0 && (limit == 0 || len(want) < limit) {
				want = append(want, fmt.Sprintf("%s*%d", sort, in[sort]))
			}
		}
		config := Config{Reverse: reverse, Limit: limit, Memory: rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "memory"), MaxPage: 400}
		g, err := New(context.Background(), config, once(lists(&store{}, reverse, 40, shards...)))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var got []string
		for {
			e, ok, err := g.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			n := 1
			for ; g.Equal(); n++ {
				g.Uncount()
				if rapid.IntRange(0, 9).Draw(t, "evict") == 0 {
					g.Evict(func() int { return 0 })
				}
				next, ok, err := g.Next()
				if err != nil || !ok || next.Sort != e.Sort {
					t.Fatalf("after %s: got %s, %v, %v, want an equal one", e.Sort, next.Sort, ok, err)
				}
			}
			if n > 1 {
				pairs++
			}
			if !keep[e.Sort] {
				g.Uncount()
				dropped++
				continue
			}
			got = append(got, fmt.Sprintf("%s*%d", e.Sort, n))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if g.Sent() < len(shards) && limit != 0 && len(want) > 0 {
			t.Errorf("%d requests for %d shards", g.Sent(), len(shards))
		}
	})
	if dropped == 0 || pairs == 0 {
		t.Errorf("%d groups were dropped, %d had several entries, want some of each", dropped, pairs)
	}
}

// Entries that the reader drops count for the size of pages as those that the filter drops.
func TestDroppedEntriesCount(t *testing.T) {
	history := new(History)
	rates := func() float64 { return history.passing.rate("f") }
	fetch := &dropping{entries: 8, dropped: 6}
	g, err := New(context.Background(), Config{Filter: "f", History: history}, Stages[item]{
		Count: 1, Open: func(context.Context, int) ([]Source[item], error) {
			return []Source[item]{{Name: "a", Shard: fetch}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, ok, err := g.Next(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := rates(); got != 0.25 {
		t.Errorf("got a rate of %v, want 0.25", got)
	}
}

// dropping is a shard with one page, of which some entries will be dropped.
type dropping struct{ entries, dropped int }

func (d *dropping) Fetch(context.Context, int) (Page[item], error) {
	page := Page[item]{Scanned: d.entries, Dropped: d.dropped}
	for i := range d.entries {
		page.Entries = append(page.Entries, Entry[item]{Sort: fmt.Sprint(i)})
	}
	return page, nil
}

func (d *dropping) From(Entry[item]) Shard[item] { return d }

func (d *dropping) Behind(Entry[item]) Shard[item] { return d }
