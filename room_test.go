package heatsink

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"
)

// What a request brings at most is bounded by DynamoDB, what it is likely to bring by what has been seen.
func TestParcels(t *testing.T) {
	const mb, overhead = 1 << 20, 512 // of items nobody has seen
	unseen := collection(t, &made{TB: t}, sharded(4)).core
	seen := collection(t, &made{TB: t}, sharded(4)).core
	seen.sizes.saw(pageOf(839, 839, 839, 839)) // 1,000 each, of which 160 are Go's
	seen.passing.saw("half", 100, 50)
	for _, test := range []struct {
		name  string
		core  *core
		query Query
		items int
		want  parcel
	}{
		{"one, unseen", unseen, Query{}, 1, parcel{400<<10 + overhead, 400<<10 + overhead}},
		{"three, unseen", unseen, Query{}, 3, parcel{1200<<10 + 3*overhead, 1200<<10 + 3*overhead}},
		{"four, unseen", unseen, Query{}, 4, parcel{mb + 400<<10 + 4*overhead, mb + 400<<10 + 4*overhead}},
		{"five of a limit, unseen", unseen, Query{Limit: 100}, 5, parcel{5 * 64 << 10, mb + 400<<10 + 5*overhead}},
		{"a hundred of a limit, unseen", unseen, Query{Limit: 100}, 100, parcel{mb + 400<<10 + 100*overhead, mb + 400<<10 + 100*overhead}},
		{"one, seen", seen, Query{}, 1, parcel{2500, 400<<10 + 160}},
		{"a hundred, seen", seen, Query{}, 100, parcel{151_000, mb + 400<<10 + 16_000}},
		{"a hundred, half of which pass", seen, Query{Filter: "half"}, 100, parcel{76_000, mb + 400<<10 + 16_000}},
		{"a million", seen, Query{}, 1 << 20, parcel{mb + 400<<10 + 32*mb, mb + 400<<10 + 32*mb}},
	} {
		r := &reading{core: test.core, query: test.query}
		if got := r.parcel(test.items); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestRoom(t *testing.T) {
	m := room{most: 10 * maxPageBytes, held: 4 * maxPageBytes}
	full := parcel{likely: 1000, worst: maxPageBytes}
	for range 6 {
		if !m.fits(full, 0) {
			t.Fatalf("%+v has no room", m)
		}
		m.expect(full)
	}
	if m.fits(full, 0) || !m.fits(full, 11) || m.fits(parcel{worst: 1}, 0) || !m.fits(parcel{}, 0) {
		t.Errorf("%+v: want no room but where more may come", m)
	}
	if m.fits(parcel{likely: 7 * maxPageBytes, worst: 7 * maxPageBytes}, 1000) {
		t.Errorf("%+v: has room for more than is likely to fit", m)
	}
	for range 6 {
		m.arrived(full)
	}
	if m.coming != (parcel{}) || !m.fits(full, 0) {
		t.Errorf("%+v after all have come", m)
	}
}

// TestSharedRoomModel lets shards ask for random parcels that turn out to be of random sizes: what is there never
// exceeds what is allowed, and none waits for ever.
func TestSharedRoomModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 100).Draw(rt, "most")
		type page struct{ worst, size, takes int }
		shards := make([][]page, rapid.IntRange(1, 10).Draw(rt, "shards"))
		for i := range shards {
			shards[i] = make([]page, rapid.IntRange(0, 8).Draw(rt, "pages"))
			for j := range shards[i] {
				worst := rapid.IntRange(1, 150).Draw(rt, "worst")
				shards[i][j] = page{worst, rapid.IntRange(0, worst).Draw(rt, "size"), rapid.IntRange(0, 3).Draw(rt, "takes")}
			}
		}
		synctest.Test(t, func(t *testing.T) {
			m := newSharedRoom(most)
			var mu sync.Mutex
			taken, users := 0, 0 // only who has something counts
			change := func(from, to int) {
				mu.Lock()
				defer mu.Unlock()
				taken, users = taken-from+to, users-min(from, 1)+min(to, 1)
				if taken > most && users > 1 {
					rt.Errorf("%d of %d by %d", taken, most, users)
				}
			}
			var running sync.WaitGroup
			for _, pages := range shards {
				running.Go(func() {
					for _, p := range pages {
						if err := m.expect(context.Background(), parcel{p.worst, p.worst}, 0); err != nil {
							rt.Error(err)
						}
						change(0, p.worst)
						time.Sleep(time.Duration(p.takes) * time.Second)
						change(p.worst, p.size)
						m.arrived(parcel{p.worst, p.worst}, p.size)
						time.Sleep(time.Duration(p.takes) * time.Second)
						change(p.size, 0)
						m.give(p.size)
					}
				})
			}
			running.Wait()
			if m.held != 0 || m.coming != (parcel{}) {
				rt.Errorf("%+v at the end", m.room)
			}
		})
	})
}

func TestSharedRoomContextEndsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newSharedRoom(10)
		if err := m.expect(context.Background(), parcel{100, 100}, 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := m.expect(ctx, parcel{1, 1}, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want the deadline after a minute", err, time.Since(start))
		}
		m.arrived(parcel{100, 100}, 0)
		if m.held != 0 || m.coming != (parcel{}) {
			t.Errorf("%+v at the end", m.room)
		}
	})
}

// Folds keep to it as well, whether items are large or a filter suddenly lets them pass.
func TestReadMemoryOfAFold(t *testing.T) {
	for name, item := range map[string]Item{"items of 400 KB": largeItem, "items of 20 KB": pageItem, "small items": smallItem} {
		for _, filter := range []string{"", "attribute_exists(x)"} {
			t.Run(name+" "+filter, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var h hoard
					keys := ranks(40)
					store := &made{
						TB: t, keys: func(string) []string { return keys }, item: func(string, string) Item { return item },
						passes: func(_, sk string) bool { return sk >= "000020" },
					}
					store.answered = func(_ *dynamodb.QueryInput, size int) { h.add(size) }
					client := &watched{Client: store, delay: after(5 * time.Millisecond)}
					q := Query{Key: "k", Filter: filter}
					n, err := Fold(context.Background(), collection(t, client, sharded(100)), q, func() int { return 0 },
						func(n int, item Item) int {
							h.add(-itemSize(item) - len("#SHARD_00"))
							time.Sleep(time.Millisecond)
							return n + 1
						}, func(a, b int) int { return a + b })
					want := 4000
					if filter != "" {
						want = 2000
					}
					if err != nil || n != want {
						t.Errorf("folded %d, %v, want %d", n, err, want)
					}
					queries, _, most := client.seen()
					t.Logf("%d queries, %d at a time, at most %.1f MB", queries, most, float64(h.most.Load())/(1<<20))
					if h.most.Load() > defaultReadMemory {
						t.Errorf("%.1f MB", float64(h.most.Load())/(1<<20))
					}
				})
			})
		}
	}
}
