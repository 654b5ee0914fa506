package heat_test

import (
	"fmt"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// only leaves shares out of the findings.
var only = heat.Rules{Excess: 1}

func keySituations() []situation {
	refused := func(perSecond float64, throttled int64, reason string) func(*heat.KeyHeat) {
		return func(k *heat.KeyHeat) { k.Refused, k.Throttled, k.Reason = perSecond, throttled, reason }
	}
	both := hot("user-12345", 2000, 50)
	both.Resources[0].Reads = hotFlow("user-12345", 5000, 50)
	large := hot("user-12345", 2000, 50, func(k *heat.KeyHeat) { k.Requests = 12_000 })
	unserved := hot("user-12345", 2000, 50, func(k *heat.KeyHeat) { k.Units, k.Requests, k.Throttled = 0, 900, 900 })
	ended := func(busiest float64, edit ...func(*heat.KeyHeat)) heat.Report {
		return but(hot("user-12345", 100, 50, append(edit, func(k *heat.KeyHeat) { k.Busiest = busiest })...), func(r *heat.Report) { r.Ended = true })
	}
	shards := func(r *heat.ResourceReport) {
		r.Writes.Keys = append(r.Writes.Keys,
			heat.KeyHeat{Key: "A#SHARD_0", Units: 60, Rate: 1, RateLow: 1, Requests: 60}, heat.KeyHeat{Key: "A#SHARD_1", Units: 60, Rate: 1, RateLow: 1, Requests: 60})
	}
	return []situation{
		{"a key at 70 % of the limit", hot("user-12345", 700, 50), only},
		{"a key just below 70 %", hot("user-12345", 699.9, 50), only},
		{"a key at 95 %", hot("user-12345", 950, 50), only},
		{"a key just below 95 %", hot("user-12345", 949.9, 50), only},
		{"a key at the limit", hot("user-12345", 1000, 50), only},
		{"reads at 70 %", hotRead("user-12345", 2100, 50), only},
		{"reads just below 70 %", hotRead("user-12345", 2099, 50), only},
		{"reads at 95 %", hotRead("user-12345", 2850, 50), only},
		{"reads of one item at the limit", hotRead("user-12345", 3000, 1), only},
		{"reads of one item near the limit", hotRead("user-12345", 2999, 1), only},
		{"reads and writes", both, only},
		{"other rules", hot("user-12345", 400, 50), heat.Rules{Excess: 1, Warm: 0.2, Hot: 0.4}},
		{"a key that is left out", hot("user-12345", 2000, 50), heat.Rules{Excess: 1, Exclude: func(key string) bool { return key == "user-12345" }}},

		{"refused often enough, alone on its partition", hot("user-12345", 700, 50, refused(0.1, 11, keyRange)), only},
		{"refused too seldom", hot("user-12345", 700, 50, refused(0.09, 11, keyRange)), only},
		{"refused ten times", hot("user-12345", 700, 50, refused(0.1, 10, keyRange)), only},
		{"refused, and nobody counts how often", hot("user-12345", 700, 50, refused(0.1, 0, keyRange)), only},
		{"refused for the table's limit", hot("user-12345", 700, 50, refused(5, 300, provisioned)), only},
		{"refused in a second", hot("user-12345", 100, 50, refused(5, 300, keyRange), func(k *heat.KeyHeat) { k.Second = 700 }), only},
		{"refused without a reason", hot("user-12345", 960, 50, refused(5, 300, "")), only},

		{"large requests", large, only},
		{"requests that are large, and many", hot("user-12345", 2000, 50, func(k *heat.KeyHeat) { k.Requests = 42_000 }), only},
		{"never served", unserved, only},
		{"never served, and refused more often than it can want", hot("user-12345", 2000, 50, func(k *heat.KeyHeat) {
			k.Units, k.Requests, k.Throttled, k.Refused, k.Reason = 0, 900, 900, 2500, keyRange
		}), only},
		{"never served, of a table that was", in(hot("user-12345", 2000, 50, func(k *heat.KeyHeat) { k.Units, k.Requests, k.Throttled = 0, 900, 900 }), func(r *heat.ResourceReport) {
			r.Writes.Units, r.Writes.Requests = 1000, 500
		}), only},
		{"never served, of a table that never was", in(hot("user-12345", 2000, 50, func(k *heat.KeyHeat) { k.Units, k.Requests, k.Throttled = 0, 900, 900 }), func(r *heat.ResourceReport) {
			r.Writes.Units, r.Writes.Requests, r.Writes.Throttled = 0, 900, 900
		}), only},
		{"Contributor Insights", but(hot("user-12345", 2000, 50), func(r *heat.Report) { r.Source = heat.Insights }), only},
		{"Contributor Insights, of large requests that are refused", but(hot("user-12345", 720, 50, refused(5, 300, keyRange), func(k *heat.KeyHeat) { k.Requests = 400 }), func(r *heat.Report) {
			r.Source = heat.Insights
		}), only},

		{"a rush a moment ago", hot("user-12345", 500, 50, func(k *heat.KeyHeat) { k.Busy = 960 }), only},
		{"a rush that is hardly more", hot("user-12345", 900, 50, func(k *heat.KeyHeat) { k.Busy = 990 }), only},
		{"a rush long ago", hot("user-12345", 100, 50, func(k *heat.KeyHeat) { k.Busiest = 960 }), only},
		{"a rush long ago, in a source that has ended", ended(960), only},
		{"a source that has ended, at its usual rate", ended(960, func(k *heat.KeyHeat) { k.Busy = 900 }), only},
		{"a source that has ended, refused", ended(960, refused(0, 1, keyRange)), only},
		{"a source that has ended, refused for the table's limit", ended(960, refused(0, 1, provisioned)), only},
		{"a busy second", hot("user-12345", 100, 50, func(k *heat.KeyHeat) { k.Second = 700 }), only},
		{"a second as busy as others", hot("user-12345", 700, 50, func(k *heat.KeyHeat) { k.Second = 700 }), only},
		{"a range of rates", hot("user-12345", 700, 1, func(k *heat.KeyHeat) { k.Rate, k.Consumed, k.Share = 812, 650, 0.123 }), only},

		{"a status", hot("STATUS#ACTIVE", 2000, 50), only},
		{"a counter", hot("COUNTER#GLOBAL", 2000, 1), only},
		{"an item of many", hot("POST#viral", 2000, 1), only},
		{"an item of many near the limit", hot("POST#viral", 800, 1), only},
		{"a day", hot("DATE#2024-12-02", 2000, 50), only},
		{"a day and a shard", hot("DATE#2024-12-02#SHARD_3", 800, 50), only},
		{"a day and a number", hot("2024-12-02#3", 2000, 50), only},
		{"a day and a number behind a dot", hot("2024-12-02.3", 2000, 50), only},
		{"ten tenants", in(hot("TENANT#big-one", 2000, 50), withPattern("TENANT#{id}", 10)), only},
		{"nine tenants", in(hot("TENANT#big-one", 2000, 50), withPattern("TENANT#{id}", 9)), only},
		{"a bare key beside its shards", in(hot("A", 2000, 50), shards), only},
		{"a bare key beside one shard", in(hot("A", 2000, 50), func(r *heat.ResourceReport) {
			shards(r)
			r.Writes.Keys = r.Writes.Keys[:2]
		}), only},
		{"a bare key, and shards by a layout", in(hot("A", 2000, 50), func(r *heat.ResourceReport) {
			r.Reads.Sharded = []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4}}, Keys: []heat.KeyShards{{Key: "A", Shards: 4}}}}
		}), only},
		{"a bare key, and stored shards", in(hot("A", 2000, 50), func(r *heat.ResourceReport) {
			r.Stored = &heat.Stored{Sharded: []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4}}, Bares: []heat.Stray{{Key: "A"}}}}}
		}), only},
		{"a bare key, and the shape of its shards", in(hot("A", 2000, 50), func(r *heat.ResourceReport) {
			r.Writes.Sharded = []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4}}}}
			r.Patterns = []heat.Pattern{{Shape: "A#SHARD_{n}"}, {Shape: "A"}}
		}), only},
		{"two shards of a key", in(hot("A#SHARD_0", 800, 50), func(r *heat.ResourceReport) {
			r.Writes.Keys = append(r.Writes.Keys, hotFlow("A#SHARD_1", 960, 50).Keys[0], hotFlow("B#SHARD_1", 800, 50).Keys[0])
		}), only},
		{"two shards of a key, with most of the traffic", in(hot("A#SHARD_0", 800, 50), func(r *heat.ResourceReport) {
			r.Writes.Keys = append(r.Writes.Keys, hotFlow("A#SHARD_1", 960, 50).Keys[0], hotFlow("B#SHARD_1", 800, 50).Keys[0])
		}), heat.Rules{}},
	}
}

// crowd is keys that are refused, each at so many write units a second and on a partition.
func crowd(d heat.Direction, keys ...heat.KeyHeat) heat.Report {
	reason, f := keyRange, heat.Flow{Units: 60_000, Requests: 60_000, Throttled: 900, Distinct: heat.Distinct{Keys: 1000}}
	if d == heat.Read {
		reason = readKeyRange
	}
	for _, k := range keys {
		k.Rate, k.Consumed, k.Units, k.Requests, k.Items = k.RateLow, k.RateLow, 60*k.RateLow, int64(60*k.RateLow), 50
		if k.Throttled > 0 {
			k.Refused, k.Reason = 5, reason
		}
		f.Keys = append(f.Keys, k)
	}
	if d == heat.Read {
		r := report(heat.Flow{})
		r.Resources[0].Reads = f
		return r
	}
	return report(f)
}

func partitionSituations() []situation {
	keys := func(n int, partition string) (all []heat.KeyHeat) {
		for i := range n {
			all = append(all, heat.KeyHeat{Key: fmt.Sprint("ORDER#", i), RateLow: float64(200 + i), Throttled: 300, Partition: partition})
		}
		return all
	}
	beside := heat.KeyHeat{Key: "ORDER#beside", RateLow: 150, Throttled: 300}
	return []situation{
		{"a fifth of the limit", crowd(heat.Write, keys(1, "")...), only},
		{"less than a fifth", crowd(heat.Write, heat.KeyHeat{Key: "ORDER#1", RateLow: 199, Throttled: 300}), only},
		{"two keys", crowd(heat.Write, keys(2, "")...), only},
		{"five keys", crowd(heat.Write, keys(5, "")...), only},
		{"six keys", crowd(heat.Write, keys(6, "")...), only},
		{"a key and one beside it", crowd(heat.Write, append(keys(1, ""), beside)...), only},
		{"a key of a known partition", crowd(heat.Write, append(keys(1, "7"), beside)...), only},
		{"a known partition with a key that is not refused", crowd(heat.Write, append(keys(2, "7"), heat.KeyHeat{Key: "ORDER#calm", RateLow: 300, Partition: "7"})...), only},
		{"two partitions", crowd(heat.Write, append(keys(1, "7"), heat.KeyHeat{Key: "ORDER#x", RateLow: 300, Throttled: 300, Partition: "8"})...), only},
		{"reads", crowd(heat.Read, keys(6, "7")...), heat.Rules{Excess: 1, Warm: 0.9}},
		{"reads that want enough", crowd(heat.Read, heat.KeyHeat{Key: "ORDER#1", RateLow: 600, Throttled: 300}), only},
		{"left out", crowd(heat.Write, keys(2, "")...), heat.Rules{Excess: 1, Exclude: func(key string) bool { return key == "ORDER#0" }}},
		{"of a source that has ended", but(crowd(heat.Write, keys(2, "")...), func(r *heat.Report) {
			r.Ended = true
			r.Resources[0].Writes.Keys[0].Busiest = 650
		}), only},
	}
}
