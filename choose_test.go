package heatsink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/local"
)

// 000-04, 000-25, 004-05, 004-06: draws are below the width, repeatable with a source, and even.
func TestChoose(t *testing.T) {
	key := &spot{key: "PAGE_VIEWS"}
	for _, width := range []int{1, 10, 100} {
		a, b := newChooser(rand.NewPCG(7, 7)), newChooser(rand.NewPCG(7, 7))
		counts := make([]int, width)
		for range 1000 * width {
			shard := a.choose(key, width, nil)
			if again := b.choose(key, width, nil); shard != again {
				t.Fatalf("width %d: the same source drew %d and %d", width, shard, again)
			}
			counts[shard]++
		}
		if e := NewEvenness(counts); e.Skewed() {
			t.Errorf("width %d: %v", width, e)
		}
		if width == 10 && (slices.Min(counts) < 880 || slices.Max(counts) > 1120) {
			t.Errorf("10,000 draws over 10 shards are %v, want 1,000 ± 120 each", counts)
		}
	}
}

func TestChooseAvoidsWhatWasTried(t *testing.T) {
	c := newChooser(nil)
	key := &spot{key: "a"}
	for _, hot := range []bool{false, true} {
		if hot {
			c.throttled(key, 0)
		}
		for range 200 {
			var tried []int
			for range 6 {
				shard := c.choose(key, 6, tried)
				if slices.Contains(tried, shard) {
					t.Fatalf("shard %d was tried before: %v", shard, tried)
				}
				tried = append(tried, shard)
			}
			if shard := c.choose(key, 6, tried); shard < 0 || shard > 5 {
				t.Fatalf("got shard %d of 6 after all were tried", shard)
			}
		}
	}
}

// A throttled shard is avoided for a few seconds: by its own key, in its own bucket.
func TestThrottledShardsAreAvoided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChooser(rand.NewPCG(1, 1))
		key, other := &spot{key: "a"}, &spot{key: "a", bucket: time.Unix(86400, 0)}
		share := func(key *spot) float64 {
			n := 0
			for range 10_000 {
				if c.choose(key, 4, nil) == 2 {
					n++
				}
			}
			return float64(n) / 10_000
		}
		for range 8 {
			c.throttled(key, 2)
		}
		if got := share(key); got > 0.08 {
			t.Errorf("a throttled shard of four has %.3f of the draws, want one in 16", got)
		}
		if got := share(other); got < 0.23 || got > 0.27 {
			t.Errorf("a shard of another bucket has %.3f of the draws, want a quarter", got)
		}
		time.Sleep(memory + time.Second)
		if got := share(key); got < 0.23 || got > 0.27 {
			t.Errorf("half a minute later it has %.3f of the draws, want a quarter", got)
		}
		if c.until.Load() != 0 {
			t.Error("what is forgotten is still looked up")
		}
	})
}

func TestScoreDecays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChooser(nil)
		key := &spot{key: "a"}
		for range 3 {
			c.throttled(key, 1)
			time.Sleep(halfLife)
		}
		if got := c.score(key.hash(), 1, c.now()); got < 0.874 || got > 0.876 { // 1/2 + 1/4 + 1/8
			t.Errorf("got score %v, want 0.875", got)
		}
	})
}

func TestChooseConcurrently(t *testing.T) {
	for _, c := range []*chooser{newChooser(nil), newChooser(rand.NewPCG(1, 1))} {
		var wg sync.WaitGroup
		for g := range 8 {
			key := &spot{key: fmt.Sprint(g % 2)}
			wg.Go(func() {
				for range 2000 {
					if shard := c.choose(key, 16, nil); shard%5 == 0 {
						c.throttled(key, shard)
					}
				}
			})
		}
		wg.Wait()
	}
}

// Shards are not partitions: ten shards on the four partitions of a new table share them unevenly. Avoiding shards that
// were throttled makes use of the emptier ones; choosing at random keeps running into the full ones. All four partitions
// of each of these keys are in use and the load is 5/6 of what they can take, so that none of it has to be refused.
func TestThrottleAwareChoiceBeatsUniform(t *testing.T) {
	offered, refused := 0, map[bool]int{}
	for _, aware := range []bool{false, true} {
		offered = 0
		for _, key := range []string{"PAGE_VIEWS", "STATUS#ACTIVE", "GAME#LEADERBOARD", "user-12345"} {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				db := startWith(t, local.Options{Physics: &local.Physics{PartitionWrites: 50, OnDemandPartitions: 4, NoSplits: true}})
				client := db.Client()
				makeTable(t, client, "items")
				views := openItems(t, client, Options{Layout: Layout{Shards: 10}, Rand: rand.NewPCG(3, 4), Retry: Retry{Attempts: 1}})
				for start := time.Now(); time.Since(start) < 5*time.Second; time.Sleep(6 * time.Millisecond) {
					if !aware {
						views.core.chooser.until.Store(0)
					}
					if _, err := views.Put(ctx, ov("pk", key, "sk", fmt.Sprint(offered))); err != nil {
						refused[aware]++
					}
					offered++
				}
			})
		}
	}
	t.Logf("of %d writes, %d were refused at random, %d avoiding throttled shards", offered, refused[false], refused[true])
	if refused[true] > refused[false]/2 {
		t.Errorf("of %d writes, %d were refused avoiding throttled shards, want less than half of the %d at random", offered, refused[true], refused[false])
	}
}

func TestChooseAndBuildAllocations(t *testing.T) {
	c := newChooser(nil)
	key := &spot{key: "PAGE_VIEWS", width: Width{Write: 16, Read: 16}}
	layout := Layout{Shards: 16}
	allocs := testing.AllocsPerRun(1000, func() {
		if _, err := layout.ShardKey(key.key, key.bucket, c.choose(key, key.width.Write, nil)); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 {
		t.Errorf("got %v allocations, want 1 at most", allocs)
	}
}

// The target is 100 ns and one allocation.
func BenchmarkChooseAndBuild(b *testing.B) {
	key := &spot{key: "PAGE_VIEWS", width: Width{Write: 16, Read: 16}}
	layout := Layout{Shards: 16}
	for _, state := range []string{"clean", "throttled", "seeded"} {
		b.Run(state, func(b *testing.B) {
			c := newChooser(nil)
			switch state {
			case "throttled":
				c.throttled(key, 3)
			case "seeded":
				c = newChooser(rand.NewPCG(1, 2))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := targetIn(&layout, key, c.choose(key, key.width.Write, nil)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
