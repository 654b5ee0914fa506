package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// TestReadAgainModel reads with too little memory from shards that change meanwhile. What was there all the time is
// returned, once, in order; what came or went may or may not be.
func TestReadAgainModel(tb *testing.T) {
	var dropped int64
	rapid.Check(tb, func(t *rapid.T) {
		shards := rapid.IntRange(1, 12).Draw(t, "shards")
		options := sharded(shards)
		options.ReadMemory = rapid.SampledFrom([]int{1, 1000, 5000, 20_000}).Draw(t, "memory")
		options.MaxConcurrency = rapid.SampledFrom([]int{1, 3, 0}).Draw(t, "concurrency")
		var h hoard
		options.Logger = slog.New(&h)
		q := Query{
			Key: "k", Reverse: rapid.Bool().Draw(t, "reverse"), Hedge: rapid.Bool().Draw(t, "hedge"),
			Limit: rapid.SampledFrom([]int{0, 0, 1, 10, 1000}).Draw(t, "limit"),
			Sort:  rapid.SampledFrom([]Range{{}, AtLeast("000005"), Between("000003", "000100"), BeginsWith("00001")}).Draw(t, "range"),
		}
		changes := rapid.Bool().Draw(t, "changes")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys, stable := map[string][]string{}, map[string]bool{}
		for _, sk := range ranks(rapid.IntRange(0, 150).Draw(t, "items")) {
			for range 1 + r.IntN(2) {
				shardKey := fmt.Sprintf("k#SHARD_%d", r.IntN(shards))
				if list := keys[shardKey]; len(list) == 0 || list[len(list)-1] != sk {
					keys[shardKey] = append(list, sk)
					stable[shardKey+"|"+sk] = true
				}
			}
		}
		var got []string
		var err error
		bubble.Test(tb, func(tb *testing.T) {
			store := &shifting{rand: r, shards: keys, stable: stable, changes: changes}
			store.made = &made{TB: tb, keys: func(shardKey string) []string { return store.shards[shardKey] }}
			store.item = func(shardKey, sk string) Item {
				return Item{"id": text(shardKey + "|" + sk), "x": text(strings.Repeat("x", len(sk)*int(sk[5]-'0')*20))}
			}
			client := &watched{Client: store, delay: func(string, int) time.Duration {
				store.mu.Lock()
				defer store.mu.Unlock()
				return time.Duration(r.IntN(1000)) * time.Millisecond
			}}
			got, err = all(context.Background(), collection(tb, client, options), q, "id")
		})
		if err != nil {
			t.Fatal(err)
		}
		dropped += h.dropped.Load()
		checkReadAgain(t, q, got, stable)
	})
	if dropped == 0 {
		tb.Error("nothing was ever dropped")
	}
}

// shifting is a Client whose items come and go with every query.
type shifting struct {
	*made
	mu      sync.Mutex
	rand    *rand.Rand
	shards  map[string][]string
	stable  map[string]bool // by shard key|sort key: has been there from the beginning
	changes bool
}

func (s *shifting) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shardKey := str(in.ExpressionAttributeValues, ":hs_pk")
	if s.changes {
		s.change(shardKey)
	}
	return s.made.Query(ctx, in, options...)
}

// change deletes or inserts an item.
func (s *shifting) change(shardKey string) {
	sk := fmt.Sprintf("%06d", s.rand.IntN(160))
	list := slices.Clone(s.shards[shardKey])
	i, there := slices.BinarySearch(list, sk)
	if !there {
		s.shards[shardKey] = slices.Insert(list, i, sk)
		return
	}
	s.shards[shardKey] = slices.Delete(list, i, i+1)
	delete(s.stable, shardKey+"|"+sk)
}

// checkReadAgain checks ids, which are shard key|sort key: in order, none twice, and none of those missing that are
// there for good and in range.
func checkReadAgain(t *rapid.T, q Query, got []string, stable map[string]bool) {
	place := func(id string) (sk string, shard int) {
		shardKey, sk, _ := strings.Cut(id, "|")
		fmt.Sscanf(shardKey, "k#SHARD_%d", &shard)
		return sk, shard
	}
	compare := func(a, b string) int {
		sortA, shardA := place(a)
		sortB, shardB := place(b)
		c := cmp.Or(cmp.Compare(sortA, sortB), cmp.Compare(shardA, shardB))
		if q.Reverse {
			return -c
		}
		return c
	}
	for i := 1; i < len(got); i++ {
		if compare(got[i-1], got[i]) >= 0 {
			t.Fatalf("%s after %s", got[i], got[i-1])
		}
	}
	iv, err := q.Sort.interval(nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range stable {
		sk, _ := place(id)
		value, _ := sortkey.Of(sk)
		ended := q.Limit > 0 && len(got) == q.Limit && compare(id, got[len(got)-1]) > 0
		if iv.Compare(value) == 0 && !ended && !slices.Contains(got, id) {
			t.Fatalf("%s is missing from %v", id, got)
		}
	}
}

// TestCutAnywhere drops what was read of any shard at any time, from tables and from indexes, where many items of a shard
// have the same sort key, and through buckets that are read together with an unsharded past.
func TestCutAnywhere(tb *testing.T) {
	client := local.Start(tb).Client()
	for _, s := range []shape{shapes[0], shapes[3], shapes[4], shapes[6]} {
		base := s.create(tb, client)
		run, emptied := 0, 0
		rapid.Check(tb, func(t *rapid.T) {
			run++
			options, key := base, fmt.Sprintf("key-%d", run)
			options.Layout.Shards = rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "shards")
			options.EventTime = EventTime{Attribute: "at"}
			if s.calculated() {
				options.Layout.Strategy = layout.Calculated
			}
			days := 1
			if rapid.Bool().Draw(t, "buckets") {
				options.Layout.Bucket, days = layout.Day, 3
			}
			if rapid.Bool().Draw(t, "older") {
				options.Older = []layout.Layout{{}}
			}
			raw := map[string]Item{} // by their keys
			for i := range rapid.IntRange(0, 25).Draw(t, "items") {
				spread, at := options.Layout, firstDay.AddDate(0, 0, rapid.IntRange(0, days-1).Draw(t, "day"))
				if len(options.Older) > 0 && rapid.IntRange(0, 2).Draw(t, "in older") == 0 {
					spread = options.Older[0]
				}
				shardKey, err := spread.ShardKey(key, at, rapid.IntRange(0, max(spread.Shards, 1)-1).Draw(t, "shard"))
				if err != nil {
					t.Fatal(err)
				}
				place, id := shardKey, fmt.Sprintf("%s-%d", key, i)
				item := Item{"pk": text(shardKey), "id": text(id), "at": text(at.Format(time.RFC3339))}
				if s.sort != attr.Invalid {
					n := rapid.IntRange(3, 9).Draw(t, "sort")
					item["sk"] = s.value(n)
					place += fmt.Sprint(n)
				}
				if s.index {
					place = id
				}
				raw[place] = item
			}
			load(tb, client, options.Table, slices.Collect(maps.Values(raw)))
			q := Query{Key: key, From: firstDay, To: firstDay.AddDate(0, 0, days), Reverse: rapid.Bool().Draw(t, "reverse")}
			if rapid.Bool().Draw(t, "projection") {
				q.Projection = "id"
			}
			got, dropped := cutting(t, collection(tb, client, options), q)
			emptied += dropped
			want := []string{}
			for _, item := range raw {
				want = append(want, str(item, "id"))
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("got  %v\nwant %v", got, want)
			}
			options.ReadMemory = 1 // and page by page
			q.Limit = rapid.IntRange(1, 9).Draw(t, "page size")
			got, _ = pages(tb, collection(tb, client, options), q, "id")
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("pages: got  %v\nwant %v", got, want)
			}
		})
		if emptied == 0 {
			tb.Errorf("%s: no shard was ever without items", s.name)
		}
	}
}

// cutting returns the ids of what a query returns, while items that were read are dropped at random, and the read begins
// anew behind the last item now and then; and how many shards had all their items dropped.
func cutting(t *rapid.T, c *Collection[Item], q Query) (ids []string, emptied int) {
	r, err := c.core.prepare(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.gather(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { g.Close() }()
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cuts"), 1))
	keep := func() int { // of a third of the shards
		if n := random.IntN(12); n < 4 {
			return n
		}
		return math.MaxInt
	}
	for {
		if random.IntN(2) == 0 { // the first pages are there
			if _, err := g.Ready(); err != nil {
				t.Fatal(err)
			}
		}
		emptied += g.Evict(keep)
		e, ok, err := g.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ids, emptied
		}
		if len(c.core.options.Older) == 0 && random.IntN(5) == 0 {
			p, err := positioned{e, g.position(e)}.position(c.core)
			if err != nil {
				t.Fatal(err)
			}
			g.Close()
			if g, err = r.gather(context.Background(), &p); err != nil {
				t.Fatal(err)
			}
		}
		ids = append(ids, str(r.row(e).item, "id"))
	}
}

// The heap agrees: items that are really there, a thousand shards of them with 400 KB each.
func TestReadMemoryIsNotExceededByTheHeap(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var most, answers atomic.Uint64
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		keys := ranks(3)
		store := &made{TB: t, keys: func(string) []string { return keys }}
		store.item = func(string, string) Item { return Item{"x": text(strings.Repeat("x", 390<<10))} }
		store.answered = func(*dynamodb.QueryInput, int) {
			if answers.Add(1)%80 == 0 {
				if now := heap(); now > most.Load() {
					most.Store(now)
				}
			}
		}
		items := collection(t, &watched{Client: store, delay: after(5 * time.Millisecond)}, sharded(1000))
		before := heap()
		n := 0
		for _, err := range items.Query(context.Background(), Query{Key: "k"}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 1200 {
				break
			}
		}
		const mb = 1 << 20
		grown := float64(most.Load()-before) / mb
		t.Logf("%d items by %d queries, the heap grew by %.1f MB", n, answers.Load(), grown)
		if grown < 40 || grown > 64+6 { // what is under way keeps more than its items
			t.Errorf("%.1f MB more, want about 64", grown)
		}
	})
}
