package heat_test

import (
	"fmt"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

func straySituations() []situation {
	plain := heat.Layout{Layout: layout.Layout{Shards: 4}}
	bareZero := heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}
	list := func(n int, number int) (all []heat.Stray) {
		for i := range n {
			all = append(all, heat.Stray{Key: fmt.Sprintf("ORDER#%d#SHARD_%d", i, number), Number: fmt.Sprint(number), Count: int64(20 - i)})
		}
		return all
	}
	of := func(d heat.Direction, s heat.Sharded) heat.Report {
		r := report(heat.Flow{})
		r.Resources[0].Flow(d).Sharded = []heat.Sharded{s}
		return r
	}
	beyond := func(n int) heat.Sharded {
		s := heat.Sharded{Layout: plain, Count: 1234, Strays: list(n, 4), StrayKeys: heat.Distinct{Keys: int64(n)}}
		for _, stray := range s.Strays {
			s.Stray += stray.Count
		}
		return s
	}
	changed := func(s heat.Sharded, edit func(*heat.Sharded)) heat.Sharded {
		edit(&s)
		return s
	}
	spelt := heat.Sharded{Layout: plain, Count: 1, Stray: 1, StrayKeys: heat.Distinct{Keys: 1}, Strays: []heat.Stray{{Key: "A#SHARD_03", Number: "03", Count: 1}}}
	both := changed(beyond(2), func(s *heat.Sharded) {
		s.Strays, s.Stray, s.StrayKeys.Keys = append(s.Strays, heat.Stray{Key: "A#SHARD_03", Number: "03", Count: 1}), s.Stray+1+50, 13
	})
	bares := func(n int) heat.Sharded {
		s := heat.Sharded{Layout: plain, Count: 9, Bare: 70, BareKeys: heat.Distinct{Keys: 12}}
		for i := range n {
			s.Bares = append(s.Bares, heat.Stray{Key: fmt.Sprint("ORDER#", i), Count: 10})
		}
		return s
	}
	zero := heat.Sharded{Layout: bareZero, Count: 10, Stray: 5, StrayKeys: heat.Distinct{Keys: 1}, Strays: []heat.Stray{{Key: "A#SHARD_0", Number: "0", Count: 5}}}
	other := heat.Sharded{Layout: bareZero, Count: 10, Stray: 5, StrayKeys: heat.Distinct{Keys: 1}, Strays: []heat.Stray{{Key: "A#SHARD_02", Number: "02", Count: 5}}}
	out := heat.Rules{Exclude: func(string) bool { return true }}
	stored := report(heat.Flow{})
	stored.Resources[0].Stored = &heat.Stored{Items: 50, Fraction: 0.5, Sharded: []heat.Sharded{beyond(1)}}
	return []situation{
		{"a shard beyond", of(heat.Write, beyond(1)), heat.Rules{}},
		{"a shard beyond that is read", of(heat.Read, beyond(1)), heat.Rules{}},
		{"a shard beyond that is stored", stored, heat.Rules{}},
		{"five of them", of(heat.Write, beyond(5)), heat.Rules{}},
		{"seven of them", of(heat.Write, beyond(7)), heat.Rules{}},
		{"more than are named", of(heat.Write, changed(beyond(7), func(s *heat.Sharded) { s.Stray, s.StrayKeys.Keys = s.Stray+3000, 60 })), heat.Rules{}},
		{"one of another spelling", of(heat.Write, spelt), heat.Rules{}},
		{"one of another spelling that is read", of(heat.Read, spelt), heat.Rules{}},
		{"one of another spelling, and more than are named", of(heat.Write, changed(spelt, func(s *heat.Sharded) { s.Stray, s.StrayKeys.Keys = 101, 60 })), heat.Rules{}},
		{"both kinds, and more than are named", of(heat.Write, both), heat.Rules{}},
		{"the first shard with a number", of(heat.Write, zero), heat.Rules{}},
		{"the first shard with a number that is read", of(heat.Read, zero), heat.Rules{}},
		{"another shard of a layout whose first has none", of(heat.Write, other), heat.Rules{}},
		{"all that are named are left out", of(heat.Write, beyond(2)), out},
		{"all that are named are left out, and there are more", of(heat.Write, changed(beyond(2), func(s *heat.Sharded) { s.Stray, s.StrayKeys.Keys = s.Stray+1, 3 })), out},
		{"the same of reads", of(heat.Read, changed(beyond(2), func(s *heat.Sharded) { s.Stray, s.StrayKeys.Keys = s.Stray+77, 1003 })), out},
		{"bare keys", of(heat.Write, bares(2)), heat.Rules{}},
		{"seven bare keys", of(heat.Write, bares(7)), heat.Rules{}},
		{"bare keys that are read", of(heat.Read, bares(2)), heat.Rules{}},
		{"bare keys, some of which are left out", of(heat.Write, bares(2)), heat.Rules{Exclude: func(key string) bool { return key == "ORDER#0" }}},
		{"bare keys that are left out", of(heat.Write, bares(2)), out},
		{"a bare key that is hot", in(hot("ORDER#0", 2000, 50), func(r *heat.ResourceReport) { r.Writes.Sharded = []heat.Sharded{bares(2)} }), heat.Rules{}},
	}
}

func unevenSituations() []situation {
	l := heat.Layout{Layout: layout.Layout{Shards: 4}}
	bareZero := heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}
	key := func(most, count int64, edit ...func(*heat.KeyShards)) heat.KeyShards {
		k := heat.KeyShards{Key: "A", Shards: 4, Seen: 3, Count: count, Fullest: "A#SHARD_2", Most: most, Items: 40, OtherItems: 10}
		for _, e := range edit {
			e(&k)
		}
		return k
	}
	of := func(l heat.Layout, keys ...heat.KeyShards) heat.Report {
		return report(heat.Flow{Units: 3000, Requests: 3000, Sharded: []heat.Sharded{{Layout: l, Count: 3000, Keys: keys}}})
	}
	stored := func(fraction float64, l heat.Layout, keys ...heat.KeyShards) heat.Report {
		return report(heat.Flow{}, func(r *heat.ResourceReport) {
			r.Stored = &heat.Stored{Items: 50, Fraction: fraction, Sharded: []heat.Sharded{{Layout: l, Count: 3000, Keys: keys}}}
		})
	}
	second := func(k *heat.KeyShards) { k.Key, k.Fullest = "B", "B#SHARD_1" }
	grown := func(k *heat.KeyShards) { k.Grown = 2 }
	withItems := func(items int64, others float64) func(*heat.KeyShards) {
		return func(k *heat.KeyShards) { k.Items, k.OtherItems = items, others }
	}
	heated := func(rate float64) heat.Report {
		return in(of(l, key(600, 1000)), func(r *heat.ResourceReport) {
			r.Writes.Keys = []heat.KeyHeat{{Key: "A#SHARD_2", Units: 60 * rate, Rate: rate, RateLow: rate, Consumed: rate, Share: 0.6, Requests: int64(60 * rate), Items: 40}}
		})
	}
	var writes []heat.KeyHeat
	var items []heat.KeyItems
	for i, n := range []int64{600, 100, 100, 100} {
		name := fmt.Sprintf("A#SHARD_%d", i)
		writes = append(writes, heat.KeyHeat{Key: name, Units: float64(n), Requests: n + 5, Throttled: 5, Items: n / 10})
		items = append(items, heat.KeyItems{Key: name, Items: n, Low: n, Share: float64(n) / 2000})
	}
	untold := report(heat.Flow{Units: 1000, Requests: 1020, Throttled: 20, Keys: writes})
	dots := heat.Sharded{Layout: heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.DotFromOne()}}, Count: 300, Stray: 20, Bare: 10}
	told := report(heat.Flow{Units: 1400, Requests: 1350, Throttled: 20, Keys: append(writes, heat.KeyHeat{Key: "B.1", Requests: 300}), Sharded: []heat.Sharded{dots}})
	untoldItems, toldItems := report(heat.Flow{}), report(heat.Flow{})
	untoldItems.Resources[0].Stored = &heat.Stored{Items: 1000, Fraction: 1, Keys: items, Distinct: heat.Distinct{Keys: 50}}
	toldItems.Resources[0].Stored = &heat.Stored{Items: 1330, Fraction: 1, Keys: append(items, heat.KeyItems{Key: "B.1", Items: 300, Low: 300}), Distinct: heat.Distinct{Keys: 50}, Sharded: []heat.Sharded{dots}}
	return []situation{
		{"a shard with 60 %", of(l, key(600, 1000)), heat.Rules{}},
		{"a shard with a quarter of the rest", of(l, key(438, 1000)), heat.Rules{}},
		{"a shard with less", of(l, key(437, 1000)), heat.Rules{}},
		{"twice a fair share of many", of(heat.Layout{Layout: layout.Layout{Shards: 100}}, key(200, 10_000, func(k *heat.KeyShards) { k.Shards = 100 })), heat.Rules{}},
		{"less than twice", of(heat.Layout{Layout: layout.Layout{Shards: 100}}, key(199, 10_000, func(k *heat.KeyShards) { k.Shards = 100 })), heat.Rules{}},
		{"a hundred requests", of(l, key(60, 100)), heat.Rules{}},
		{"too few requests", of(l, key(60, 99)), heat.Rules{}},
		{"by chance", of(l, key(50, 100)), heat.Rules{}},
		{"hardly by chance", of(l, key(52, 100)), heat.Rules{}},
		{"all in one shard", of(l, key(100, 100)), heat.Rules{}},
		{"one item", of(l, key(600, 1000, withItems(1, 0))), heat.Rules{}},
		{"as many items elsewhere", of(l, key(600, 1000, withItems(40, 20))), heat.Rules{}},
		{"fewer items elsewhere", of(l, key(600, 1000, withItems(40, 19.9))), heat.Rules{}},
		{"many items everywhere", of(l, key(600, 1000, withItems(300, 200))), heat.Rules{}},
		{"an unknown number of items", of(l, key(600, 1000, withItems(0, 0))), heat.Rules{}},
		{"one shard", of(l, key(1000, 1000, func(k *heat.KeyShards) { k.Shards = 1 })), heat.Rules{}},
		{"left out", of(l, key(600, 1000)), heat.Rules{Exclude: func(key string) bool { return key == "A#SHARD_2" }}},
		{"two keys", of(l, key(600, 1000), key(700, 1000, second)), heat.Rules{}},
		{"two keys, one of which is even", of(l, key(600, 1000), key(250, 1000, second)), heat.Rules{}},
		{"two keys, one of which has grown", of(l, key(600, 1000, grown), key(500, 1000, second)), heat.Rules{}},
		{"writers with fewer shards", of(l, key(600, 1000, grown)), heat.Rules{}},
		{"stored", stored(1, l, key(600, 1000)), heat.Rules{}},
		{"stored, in a sample", stored(0.99, l, key(600, 1000)), heat.Rules{}},
		{"stored, and grown", stored(1, l, key(600, 1000, grown)), heat.Rules{}},
		{"writers without the layout", of(bareZero, key(600, 1000, func(k *heat.KeyShards) { k.Fullest = "A" })), heat.Rules{}},
		{"another shard of that layout", of(bareZero, key(600, 1000)), heat.Rules{}},
		{"Contributor Insights", but(of(l, key(24_000, 40_000)), func(r *heat.Report) { r.Source = heat.Insights }), heat.Rules{}},
		{"Contributor Insights, of too few to tell", but(of(l, key(6000, 10_000)), func(r *heat.Report) { r.Source = heat.Insights }), heat.Rules{}},
		{"shards that nobody told of", untold, heat.Rules{}},
		{"shards that nobody told of, beside told ones", told, heat.Rules{}},
		{"stored shards that nobody told of", untoldItems, heat.Rules{}},
		{"stored shards that nobody told of, beside told ones", toldItems, heat.Rules{}},
		{"a shard that is hot", heated(1200), heat.Rules{}},
		{"a shard that is warm", heated(800), heat.Rules{}},
		{"a shard that is cool", heated(100), heat.Rules{}},
	}
}
