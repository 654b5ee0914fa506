package heatsink

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

// spellingCore returns what core.target needs of a core.
func spellingCore(layout Layout, widths Widths) *core {
	return &core{options: Options{Layout: layout, Widths: widths}.withDefaults(), chooser: newChooser(nil)}
}

// remember asks for a shard key until it is found, and reports whether it came to that.
func (c *core) remember(s *spot, shard int) bool {
	for range 100 * spellingOdds {
		if _, ok := c.chooser.spelt.find(s, shard); ok {
			return true
		}
		if _, err := c.target(s, shard); err != nil {
			return false
		}
	}
	return false
}

// The law: with the memory, every shard key and every error is what the layout says, whatever is remembered, when keys grow
// and shrink, when buckets move on, and when more shards than there are entries compete for them.
func TestSpellingsAreTheLayouts(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		layout := drawLayout(t)
		var widths Widths
		if rapid.Bool().Draw(t, "adaptive") {
			widths = &growing{}
		}
		c := spellingCore(layout, widths)
		key := rapid.SampledFrom([]string{
			"", "A", "AB", "A#2024-12-02", drawKey(t, layout),
			strings.Repeat("k", 250), strings.Repeat("k", 2045), strings.Repeat("k", 3000),
		})
		for range 50 {
			s := &spot{key: key.Draw(t, "key"), width: Width{Read: max(layout.Shards, 1)}}
			if widths != nil {
				s.width.Read = rapid.SampledFrom([]int{1, 2, 64, MaxShards}).Draw(t, "width")
			}
			if layout.Bucket != NoBucket {
				years, days := rapid.IntRange(0, 1).Draw(t, "years"), rapid.IntRange(0, 1).Draw(t, "days")
				s.bucket = layout.Bucket.Start(instant("2024-12-02T15:30:00Z").AddDate(years, 0, days))
			}
			shard := rapid.SampledFrom([]int{-1, 0, 1, 7, 63, 7 + spellingSlots, 7 + 2*spellingSlots, MaxShards - 1}).Draw(t, "shard")
			if rapid.Bool().Draw(t, "remember") && c.remember(s, shard) {
				found++
			}
			wide := layout
			if widths != nil {
				wide.Shards = s.width.Read
			}
			want, wantErr := wide.ShardKey(s.key, s.bucket, shard)
			got, err := c.target(s, shard)
			if got.shardKey != want || (err == nil) != (wantErr == nil) || err == nil && got.shard != shard {
				t.Fatalf("shard %d of %q in %s: got %+v, %v, want %q, %v", shard, s.key, wide, got, err, want, wantErr)
			}
			if err != nil && err.Error() != fmt.Sprintf("%v: %v", ErrItem, wantErr) {
				t.Fatalf("got %v, want %v", err, wantErr)
			}
		}
	})
	if found == 0 {
		t.Error("nothing was remembered: the law was not tested")
	}
}

// What shares an entry is told apart.
func TestSpellingsOfRivals(t *testing.T) {
	c := spellingCore(Layout{Shards: MaxShards, Bucket: Hour}, nil)
	a := &spot{key: "A", bucket: Hour.Start(instant("2024-12-02T15:30:00Z")), width: Width{MaxShards, MaxShards}}
	for name, other := range map[string]func(i int) (spot, int){
		"another key":    func(i int) (spot, int) { return spot{fmt.Sprint(i), a.bucket, a.width}, 7 },
		"a longer key":   func(i int) (spot, int) { return spot{fmt.Sprint(a.key, i), a.bucket, a.width}, 7 },
		"another bucket": func(i int) (spot, int) { return spot{a.key, a.bucket.Add(time.Duration(i+1) * time.Hour), a.width}, 7 },
		"another shard":  func(i int) (spot, int) { return spot{a.key, a.bucket, a.width}, 7 + (i+1)*spellingSlots },
	} {
		t.Run(name, func(t *testing.T) {
			i := 0
			b, shard := other(i)
			for c.chooser.spelt.entry(&b, shard) != c.chooser.spelt.entry(a, 7) {
				i++
				b, shard = other(i)
			}
			check := func(there *spot, shardThere int, wanted *spot, shard int) {
				if !c.remember(there, shardThere) {
					t.Fatal("a shard key is not remembered")
				}
				want, _ := c.options.Layout.ShardKey(wanted.key, wanted.bucket, shard)
				if got, err := c.target(wanted, shard); got != (target{want, shard}) || err != nil {
					t.Errorf("got %+v, %v, want %s", got, err, want)
				}
			}
			check(a, 7, &b, shard)
			check(&b, shard, a, 7)
		})
	}
}

// Many ask for the same few entries at once, while keys grow and days pass.
func TestSpellingsConcurrently(t *testing.T) {
	layout := Layout{Shards: 1, Bucket: Day}
	c := spellingCore(layout, &growing{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 20_000 {
				s := &spot{key: fmt.Sprint("key", r.IntN(3)), width: Width{Read: 1 << (i / 2000)}}
				s.bucket = Day.Start(instant("2024-12-02")).AddDate(0, 0, i/5000+r.IntN(2))
				shard := r.IntN(s.width.Read) * spellingSlots % s.width.Read // of which every other entry is the same
				want, _ := layout.WithShards(s.width.Read).ShardKey(s.key, s.bucket, shard)
				if got, err := c.target(s, shard); got != (target{want, shard}) || err != nil {
					t.Errorf("got %+v, %v, want %s", got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A hot key costs no allocation, in whatever bucket: not even while other keys come once and never again.
func TestHotKeysAreRemembered(t *testing.T) {
	for _, bucket := range allBuckets {
		c := spellingCore(Layout{Shards: 16, Bucket: bucket}, nil)
		s := &spot{key: "PAGE_VIEWS", bucket: bucket.Start(instant("2024-12-02T15:30:00Z")), width: Width{16, 16}}
		found := 0
		for i := range 20_000 {
			shard := c.chooser.choose(s, 16, nil)
			if _, ok := c.chooser.spelt.find(s, shard); ok && i >= 10_000 {
				found++
			}
			for _, key := range []string{"PAGE_VIEWS", fmt.Sprint("user-", i, "#VIEWS")} {
				if _, err := c.target(&spot{key, s.bucket, s.width}, shard); err != nil {
					t.Fatal(err)
				}
			}
		}
		if found < 9_000 {
			t.Errorf("%s: %d of 10,000 were found, want nine of ten", bucket, found)
		}
		for shard := range 16 {
			if !c.remember(s, shard) {
				t.Fatalf("%s: shard %d is not remembered", bucket, shard)
			}
		}
		allocs := testing.AllocsPerRun(1000, func() { _, _ = c.target(s, c.chooser.choose(s, 16, nil)) })
		if allocs != 0 {
			t.Errorf("%s: got %v allocations, want none", bucket, allocs)
		}
	}
}

// Remembering costs keys that come once next to nothing.
func TestColdKeysAreNotRemembered(t *testing.T) {
	c := spellingCore(Layout{Shards: 16}, nil)
	s := &spot{width: Width{16, 16}}
	keys := manyKeys(1001)
	if allocs := testing.AllocsPerRun(1000, func() {
		s.key, keys = keys[0], keys[1:]
		_, _ = c.target(s, 7)
	}); allocs > 1 {
		t.Errorf("got %v allocations, want 1", allocs)
	}
}

// Whatever is asked for, what is remembered has a bound; and the keys themselves, which may be pieces of a large text, are
// not held.
func TestSpellingsAreBounded(t *testing.T) {
	layout := Layout{Shards: MaxShards, Format: Format{BareZero: true}}
	c := spellingCore(layout, nil)
	s := &spot{width: Width{MaxShards, MaxShards}}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		s.key = strings.Repeat("k", 1+r.IntN(300))
		if _, err := c.target(s, r.IntN(MaxShards)); err != nil {
			t.Fatal(err)
		}
	}
	full, longest := 0, 0
	for i := range c.chooser.spelt {
		if e := c.chooser.spelt[i].Load(); e != nil {
			full++
			longest = max(longest, len(e.text))
		}
	}
	if full < spellingSlots/2 || longest < spellingBytes-20 || longest > spellingBytes {
		t.Errorf("%d of %d are used, the longest has %d bytes, want most and %d", full, spellingSlots, longest, spellingBytes)
	}
	room := spellingBytes + maxPrefixBytes + bucketBytes + numberBytes // what shardKey makes for it at most
	if most := spellingSlots * (8 + int(unsafe.Sizeof(spelling{})) + room); most > 1<<19 {
		t.Errorf("%d bytes may be remembered, want half a megabyte at most", most)
	}

	s.key = "PAGE_VIEWS"
	if !c.remember(s, 0) {
		t.Fatal("shard 0 is not remembered")
	}
	if text, _ := c.chooser.spelt.find(s, 0); text != s.key || unsafe.StringData(text) == unsafe.StringData(s.key) {
		t.Errorf("got %q, want a copy of the key", text)
	}
}
