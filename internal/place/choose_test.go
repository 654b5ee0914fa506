package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// 000-04, 000-25, 004-05, 004-06: draws are below the width, repeatable with a source, and even.
func TestChoose(t *testing.T) {
	key := &Key{Text: "PAGE_VIEWS"}
	for _, width := range []int{1, 10, 100} {
		a, b := NewChooser(rand.NewPCG(7, 7)), NewChooser(rand.NewPCG(7, 7))
		counts := make([]int, width)
		for range 1000 * width {
			shard := a.choose(key, width, nil)
			if again := b.choose(key, width, nil); shard != again {
				t.Fatalf("width %d: the same source drew %d and %d", width, shard, again)
			}
			counts[shard]++
		}
		if e := layout.NewEvenness(counts); e.Skewed() {
			t.Errorf("width %d: %v", width, e)
		}
		if width == 10 && (slices.Min(counts) < 880 || slices.Max(counts) > 1120) {
			t.Errorf("10,000 draws over 10 shards are %v, want 1,000 ± 120 each", counts)
		}
	}
}

func TestChooseAvoidsWhatWasTried(t *testing.T) {
	c := NewChooser(nil)
	key := &Key{Text: "a"}
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
	bubble.Test(t, func(t *testing.T) {
		c := NewChooser(rand.NewPCG(1, 1))
		key, other := &Key{Text: "a"}, &Key{Text: "a", Bucket: time.Unix(86400, 0)}
		share := func(key *Key) float64 {
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
		time.Sleep(Memory + time.Second)
		if got := share(key); got < 0.23 || got > 0.27 {
			t.Errorf("half a minute later it has %.3f of the draws, want a quarter", got)
		}
		if c.until.Load() != 0 {
			t.Error("what is forgotten is still looked up")
		}
	})
}

func TestScoreDecays(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := NewChooser(nil)
		key := &Key{Text: "a"}
		for range 3 {
			c.throttled(key, 1)
			time.Sleep(HalfLife)
		}
		if got := math.Exp2(c.heat(key.hash(), 1) - halfLives(c.now())); got < 0.874 || got > 0.876 { // 1/2 + 1/4 + 1/8
			t.Errorf("got score %v, want 0.875", got)
		}
	})
}

func TestChooseConcurrently(t *testing.T) {
	for _, c := range []*Chooser{NewChooser(nil), NewChooser(rand.NewPCG(1, 1))} {
		var wg sync.WaitGroup
		for g := range 8 {
			key := &Key{Text: fmt.Sprint(g % 2)}
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

// Every throttle is forgotten in its time, also while others keep coming, and however long the process has run.
func TestThrottlesAreForgottenOneByOne(t *testing.T) {
	for _, later := range []time.Duration{Memory + time.Second, 30 * 24 * time.Hour, 60 * 24 * time.Hour} {
		bubble.Test(t, func(t *testing.T) {
			c := NewChooser(rand.NewPCG(1, 1))
			key, other := &Key{Text: "a"}, &Key{Text: "b"}
			c.throttled(key, 2)
			time.Sleep(later)
			c.throttled(other, 1)
			counts := map[*Key][]int{key: make([]int, 4), other: make([]int, 4)}
			for range 10_000 {
				for _, s := range []*Key{key, other} {
					counts[s][c.choose(s, 4, nil)]++
				}
			}
			if e := layout.NewEvenness(counts[key]); e.Skewed() {
				t.Errorf("%s later: %v, want all shards alike", later, e)
			}
			if n := counts[other][1]; n > 800 {
				t.Errorf("%s later: a shard of four that was throttled now has %d of 10,000 draws, want one in 16", later, n)
			}
		})
	}
}

// The shard key is the only thing that choosing and building allocate, also for a key with a width of its own.
func TestChooseAndBuildAllocatesOnce(t *testing.T) {
	for name, options := range map[string]options{
		"plain":   {Layout: layout.Layout{Shards: 16}},
		"bucket":  {Layout: layout.Layout{Shards: 16, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}},
		"widened": {Widths: layout.Width{Write: 4, Read: 16}},
	} {
		schema, chooser := schemaOf(options), NewChooser(nil)
		key := &Key{
			Text: "PAGE_VIEWS", Width: layout.Width{Write: 4, Read: 16},
			Bucket: options.Layout.Bucket.Start(time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)),
		}
		chooser.throttled(key, 1)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := schema.home(key, chooser.choose(key, key.Width.Write, nil)); err != nil {
				t.Fatal(err)
			}
		}); n > 1 {
			t.Errorf("%s: %v allocations, want 1", name, n)
		}
	}
}

// The target is 250 ns and one allocation.
func BenchmarkChooseAndBuild(b *testing.B) {
	for _, c := range []struct {
		name      string
		keys      []string
		layout    layout.Layout
		source    rand.Source
		throttled int
	}{
		{name: "clean"},
		{name: "throttled", throttled: 1},
		{name: "all throttled", throttled: 16},
		{name: "seeded", source: rand.NewPCG(1, 2)},
		{name: "hour", layout: layout.Layout{Bucket: layout.Hour}},
		{name: "day", layout: layout.Layout{Bucket: layout.Day}},
		{name: "week", layout: layout.Layout{Bucket: layout.Week}},
		{name: "month", layout: layout.Layout{Bucket: layout.Month}},
		{name: "year", layout: layout.Layout{Bucket: layout.Year}},
		{name: "number", keys: []string{"user-12345"}},
		{name: "number and day", keys: []string{"user-12345"}, layout: layout.Layout{Bucket: layout.Day}},
		{name: "many keys", keys: manyKeys(1 << 14)},
		{name: "128 bytes", keys: []string{strings.Repeat("k", 128)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.keys == nil {
				c.keys = []string{"PAGE_VIEWS"}
			}
			c.layout.Shards = 16
			schema, chooser := schemaOf(options{Layout: c.layout, EventTime: EventTime{Attribute: "at"}}), NewChooser(c.source)
			key := &Key{Width: layout.Width{Write: 16, Read: 16}, Bucket: c.layout.Bucket.Start(time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC))}
			for shard := range c.throttled {
				key.Text = c.keys[0]
				chooser.throttled(key, shard)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key.Text = c.keys[i&(len(c.keys)-1)]
				if _, err := schema.home(key, chooser.choose(key, key.Width.Write, nil)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// manyKeys returns n keys, a power of two of them for BenchmarkChooseAndBuild.
func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("user-%d#VIEWS", i)
	}
	return keys
}
