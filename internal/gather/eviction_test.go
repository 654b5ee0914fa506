package gather

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// newList returns a cursor with so many entries of 10 bytes in its buffer, all of its shard.
func newList(sorts ...string) *cursor[item] {
	sources := lists(&store{}, false, 10, sorts)
	cu := newCursors(sources, nil)[0]
	cu.take(Page[item]{Entries: append([]Entry[item]{}, sources[0].Shard.(*list).all...)})
	return cu
}

// What is evicted is read again from its first place; an entry that was returned is no way back.
func TestEvict(t *testing.T) {
	cu := newList("a", "b", "b", "c")
	if freed := cu.evict(2); freed != 20 || cu.buffered() != 2 || cu.done || cu.shard.(*list).at != 2 {
		t.Errorf("%d bytes freed, %d entries left, done %t, to go on at %d", freed, cu.buffered(), cu.done, cu.shard.(*list).at)
	}
	cu = newList("a", "b", "b", "c")
	cu.pop()
	if freed := cu.evict(0); freed != 30 || !cu.evicted || cu.first().Sort != "b" || cu.shard.(*list).at != 1 {
		t.Errorf("%d bytes freed, evicted %t, to go on at %d", freed, cu.evicted, cu.shard.(*list).at)
	}
	if freed := cu.evict(0); freed != 0 {
		t.Errorf("%d bytes freed twice", freed)
	}
	cu = newList("a", "b", "b", "c")
	cu.pop()
	cu.pop()
	if freed := cu.evict(0); freed != 0 || cu.evicted {
		t.Error("evicted up to an entry whose sort value was returned: it would be returned again")
	}
	if freed := cu.evict(1); freed != 10 || cu.shard.(*list).at != 3 {
		t.Errorf("%d bytes freed, to go on at %d", freed, cu.shard.(*list).at)
	}
	cu = newList("a", "b")
	cu.fetching = true
	if freed := cu.evict(0); freed != 0 {
		t.Errorf("%d bytes freed before a page that goes on behind them", freed)
	}
	sort := "a"
	sources := lists(&store{}, false, 10, []string{"a", "a"})
	sources[0].Last = &sort
	cu = newCursors(sources, nil)[0]
	cu.take(Page[item]{Entries: append([]Entry[item]{}, sources[0].Shard.(*list).all...)})
	if freed := cu.evict(0); freed != 0 {
		t.Error("evicted up to a sort value that an earlier read returned")
	}
}

// More shards than memory: what is held stays within it, and Evicted is told of what was dropped.
func TestEvictionKeepsToTheMemory(t *testing.T) { testEviction(t, 100) }

// The same if most shards join late, when the first ones hold as much as they may.
func TestEvictionMakesRoomForAddedShards(t *testing.T) { testEviction(t, 10) }

// testEviction reads 100 shards, of which so many are known when the read begins.
func testEviction(t *testing.T, known int) {
	bubble.Test(t, func(t *testing.T) {
		const shards, entries, size = 100, 5, 1 << 10
		s := &store{delay: func(string, int64) time.Duration { return time.Millisecond }}
		all := make([][]string, shards)
		for i := range all {
			all[i] = numbers(entries)
		}
		dropped := 0
		var fetched atomic.Int64
		s.fetched = func(_ context.Context, _ string, size int) { fetched.Add(int64(size)) }
		c := Config{Memory: 40 * size, MaxEntry: size, MaxPage: 2 * size, Evicted: func(bytes int) { dropped += bytes }}
		plan := once(lists(s, false, size, all...))
		if known < shards {
			plan = gaining(time.Second, known, lists(s, false, size, all...))
		}
		g, err := New(t.Context(), c, plan)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for n := range shards * entries {
			e, ok, err := g.Next()
			if err != nil || !ok || e.Sort != numbers(entries)[n/shards] || g.Place().Ordinal != n%shards {
				t.Fatalf("entry %d is %v of shard %d, %t, %v", n, e, g.Place().Ordinal, ok, err)
			}
			if held := g.requests.memory.held; held > c.Memory {
				t.Fatalf("%d bytes held after entry %d, want %d at most", held, n, c.Memory)
			}
		}
		if dropped == 0 {
			t.Error("nothing was dropped")
		}
		if want := shards*entries*size + dropped; fetched.Load() != int64(want) {
			t.Errorf("%d bytes fetched, want %d: those that were returned, and %d that were dropped", fetched.Load(), want, dropped)
		}
	})
}
