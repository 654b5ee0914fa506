package heat_test

import (
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// statuses is a minute of writes to the values of a status, in units.
func statuses(units ...float64) heat.Report {
	var f heat.Flow
	p := heat.Pattern{Shape: "STATUS#{value}", Distinct: heat.Distinct{Keys: int64(len(units))}}
	for i, n := range units {
		word := string(rune('A' + i))
		f.Units += n
		f.Requests += int64(n)
		f.Keys = append(f.Keys, heat.KeyHeat{Key: "STATUS#" + word, Units: n, Low: n, Rate: n / 60, RateLow: n / 60, Consumed: n / 60, Requests: int64(n), Items: 50})
		p.Values = append(p.Values, heat.PatternValue{Value: word, Key: "STATUS#" + word, Writes: n})
		p.Writes += n
		p.Example = "STATUS#A"
	}
	f.Distinct.Keys = int64(len(units))
	for i := range f.Keys {
		f.Keys[i].Share = f.Keys[i].Units / f.Units
	}
	return report(f, func(r *heat.ResourceReport) { r.Patterns = []heat.Pattern{p} })
}

func setSituations() []situation {
	reads := statuses(100, 850, 50)
	reads.Resources[0].Reads, reads.Resources[0].Writes = reads.Resources[0].Writes, heat.Flow{}
	for i := range reads.Resources[0].Patterns[0].Values {
		v := &reads.Resources[0].Patterns[0].Values[i]
		v.Reads, v.Writes = v.Writes, 0
	}
	reads.Resources[0].Patterns[0].Reads, reads.Resources[0].Patterns[0].Writes = 1000, 0
	twoWays := statuses(1000, 80_000)
	twoWays.Resources[0].Reads = statuses(200_000, 1000).Resources[0].Writes
	twoWays.Resources[0].Patterns[0].Values[0].Reads, twoWays.Resources[0].Patterns[0].Values[1].Reads = 200_000, 1000
	rename := func(shape string, key ...string) func(*heat.ResourceReport) {
		return func(r *heat.ResourceReport) { r.Patterns[0].Shape, r.Key = shape, key }
	}
	return []situation{
		{"85, 10 and 5 %", statuses(100, 850, 50), heat.Rules{}},
		{"a quarter beyond a fair share", statuses(625, 375), heat.Rules{}},
		{"less than a quarter beyond it", statuses(624, 376), heat.Rules{}},
		{"reads", reads, heat.Rules{}},
		{"too few requests", statuses(85, 10, 4), heat.Rules{}},
		{"just enough requests", statuses(100, 0), heat.Rules{}},
		{"a trickle", in(statuses(950, 50), func(r *heat.ResourceReport) {
			for i := range r.Writes.Keys {
				r.Writes.Keys[i].RateLow, r.Writes.Keys[i].Busiest = 1.6, 1.66
			}
		}), heat.Rules{}},
		{"hardly more than a trickle", in(statuses(950, 50), func(r *heat.ResourceReport) {
			for i := range r.Writes.Keys {
				r.Writes.Keys[i].RateLow, r.Writes.Keys[i].Busiest = 1.6, 1.67
			}
		}), heat.Rules{}},
		{"a value that the report does not list", in(statuses(950, 50), func(r *heat.ResourceReport) { r.Writes.Keys = r.Writes.Keys[1:] }), heat.Rules{}},
		{"eight values", statuses(930, 10, 10, 10, 10, 10, 10, 10), heat.Rules{}},
		{"ten values", statuses(910, 10, 10, 10, 10, 10, 10, 10, 10, 10), heat.Rules{}},
		{"one value", statuses(1000), heat.Rules{}},
		{"a tenth of the table", in(statuses(950, 50), func(r *heat.ResourceReport) { r.Writes.Units = 10_000 }), heat.Rules{}},
		{"less than a tenth of the table", in(statuses(950, 50), func(r *heat.ResourceReport) { r.Writes.Units = 10_001 }), heat.Rules{}},
		{"left out", statuses(950, 50), heat.Rules{Exclude: func(key string) bool { return key == "STATUS#A" }}},
		{"two values that are hot", statuses(80_000, 50_000, 1000), heat.Rules{}},
		{"a value that is hot", statuses(1000, 80_000), heat.Rules{}},
		{"a value that is hot, and another that is read", twoWays, heat.Rules{}},
		{"two tables with a value that is hot", but(statuses(1000, 80_000), func(r *heat.Report) {
			other := statuses(80_000, 1000).Resources[0]
			other.Table = "other"
			r.Resources = append(r.Resources, other)
		}), heat.Rules{}},
		{"a value that is hot, and a key of another set", in(statuses(1000, 80_000), func(r *heat.ResourceReport) {
			r.Patterns = append(r.Patterns, heat.Pattern{Shape: "REGION#{value}", Values: []heat.PatternValue{{Value: "EU", Key: "REGION#EU", Writes: 70_000}, {Value: "US", Key: "REGION#US"}}})
			k := r.Writes.Keys[1]
			k.Key = "REGION#EU"
			r.Writes.Keys = append(r.Writes.Keys, k)
		}), heat.Rules{}},
		{"without a name before it", in(statuses(950, 50), rename("{value}", "state", "region")), heat.Rules{}},
		{"without any name", in(statuses(950, 50), rename("{value}")), heat.Rules{}},
		{"a name before a bar", in(statuses(950, 50), rename("ORDER_STATE|{value}")), heat.Rules{}},
	}
}

func shareSituations() []situation {
	pattern := func(p heat.Pattern) func(*heat.ResourceReport) {
		return func(r *heat.ResourceReport) { r.Patterns = append(r.Patterns, p) }
	}
	flow := func(units float64) heat.Flow {
		return heat.Flow{Units: units, Requests: int64(units), Distinct: heat.Distinct{Keys: 50}}
	}
	oneValue := heat.Pattern{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 1}, Writes: 60, Reads: 40}
	days := heat.Pattern{Shape: "LOG#{day}", Example: "LOG#2026-06-22", Distinct: heat.Distinct{Keys: 30}, Writes: 6000}
	two := func(first float64) heat.Flow {
		return shares(map[string]float64{"user-1": first, "user-2": 100 - first})
	}
	slow := func(rate float64) heat.Flow {
		f := two(90)
		for i := range f.Keys {
			f.Keys[i].RateLow = rate
		}
		return f
	}
	sorted := func(f heat.Flow) heat.Flow {
		slices.SortFunc(f.Keys, func(a, b heat.KeyHeat) int { return strings.Compare(a.Key, b.Key) })
		return f
	}
	readShares := report(heat.Flow{})
	readShares.Resources[0].Reads = sorted(shares(map[string]float64{"user-1": 90, "user-2": 10}))
	return []situation{
		{"a quarter beyond a fair share", report(sorted(two(62.5))), heat.Rules{}},
		{"less than that", report(sorted(two(62.4))), heat.Rules{}},
		{"reads", readShares, heat.Rules{}},
		{"a hundred requests", report(sorted(slow(100.0 / 60))), heat.Rules{Sample: 100}},
		{"a hundred in a minute", report(sorted(slow(1.66))), heat.Rules{Sample: 100}},
		{"the only key", report(shares(map[string]float64{"user-1": 100})), heat.Rules{}},
		{"the same key in both directions", but(report(sorted(two(90))), func(r *heat.Report) { r.Resources[0].Reads = sorted(two(80)) }), heat.Rules{}},
		{"a constant of many keys", in(report(sorted(shares(map[string]float64{"CONFIG": 90, "user-2": 10}))), pattern(heat.Pattern{Shape: "CONFIG", Example: "CONFIG", Distinct: heat.Distinct{Keys: 1}, Writes: 9000})), heat.Rules{}},
		{"one value by design", report(flow(1000), pattern(oneValue)), heat.Rules{}},
		{"one value, with too little of the traffic", report(flow(1001), pattern(oneValue)), heat.Rules{}},
		{"one value, with too few requests", report(flow(100), pattern(heat.Pattern{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 1}, Writes: 99})), heat.Rules{}},
		{"one value that is stored", report(heat.Flow{}, pattern(heat.Pattern{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 1}, Items: 100})), heat.Rules{}},
		{"one value that is hardly stored", report(heat.Flow{}, pattern(heat.Pattern{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 1}, Items: 99})), heat.Rules{}},
		{"one value that is left out", report(flow(1000), pattern(oneValue)), heat.Rules{Exclude: func(key string) bool { return key == "OPS_LOG" }}},
		{"two keys of a shape that does not vary", report(flow(1000), pattern(heat.Pattern{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 2}, Writes: 1000})), heat.Rules{}},
		{"one value that has shards", in(report(flow(1000), pattern(oneValue)), func(r *heat.ResourceReport) {
			r.Writes.Keys = []heat.KeyHeat{{Key: "OPS_LOG#SHARD_0", Requests: 1}, {Key: "OPS_LOG#SHARD_1", Requests: 1}}
		}), heat.Rules{}},
		{"days at a tenth of the limit", report(flow(6000), pattern(days)), heat.Rules{}},
		{"days below it", report(flow(6000), pattern(heat.Pattern{Shape: "LOG#{day}", Example: "LOG#2026-06-22", Distinct: heat.Distinct{Keys: 30}, Writes: 5999})), heat.Rules{}},
		{"days that are half of the traffic", report(flow(12_000), pattern(days)), heat.Rules{}},
		{"days that are left out", report(flow(6000), pattern(days)), heat.Rules{Exclude: func(key string) bool { return key == "LOG#2026-06-22" }}},
		{"days that are stored", report(heat.Flow{}, pattern(heat.Pattern{Shape: "LOG#{day}", Example: "LOG#2026-06-22", Distinct: heat.Distinct{Keys: 30}, Items: 3000})), heat.Rules{}},
		{"a day that is hot", report(hotFlow("LOG#2026-06-22", 2000, 50), pattern(days)), heat.Rules{}},
	}
}

func throttleSituations() []situation {
	flow := func(n int64, reason string, trend ...heat.Point) heat.Flow {
		return heat.Flow{Units: 60_000, Requests: 70_000, Throttled: n, Throttles: []heat.ThrottleCount{{Reason: reason, Count: n}}, Trend: trend}
	}
	minute := func(at time.Duration, throttled int64) heat.Point {
		return heat.Point{From: noon.Add(at), For: time.Minute, Units: 100, Throttled: throttled}
	}
	of := func(source heat.Source, f heat.Flow, capacity *heat.Capacity) heat.Report {
		r := report(f, func(r *heat.ResourceReport) { r.Capacity = capacity })
		r.Source = source
		r.From, r.To = noon.Add(-time.Hour), noon.Add(time.Minute)
		return r
	}
	table := func(n int64) *heat.Capacity { return &heat.Capacity{WriteUnits: n, ReadUnits: n} }
	reads := of(heat.CloudWatch, heat.Flow{}, table(5000))
	reads.Resources[0].Reads = flow(20, "TableReadKeyRangeThroughputExceeded")
	readLimit := of(heat.Live, heat.Flow{}, table(5000))
	readLimit.Resources[0].Reads = flow(20, "TableReadProvisionedThroughputExceeded")
	index := of(heat.CloudWatch, flow(20, "IndexWriteKeyRangeThroughputExceeded"), table(5000))
	index.Resources[0].Index = "byStatus"
	indexReads := but(reads, func(r *heat.Report) {
		r.Resources = slices.Clone(r.Resources)
		r.Resources[0].Index = "byStatus"
	})
	two := flow(20, keyRange)
	two.Throttles = append(two.Throttles, heat.ThrottleCount{Reason: provisioned, Count: 7}, heat.ThrottleCount{Reason: "IndexWriteKeyRangeThroughputExceeded", Count: 5})
	blamed := in(hot("user-12345", 2000, 50), func(r *heat.ResourceReport) {
		r.Writes.Throttles = []heat.ThrottleCount{{Reason: keyRange, Count: 50}, {Reason: "", Count: 50}}
	})
	warm := in(hot("user-12345", 800, 50), func(r *heat.ResourceReport) {
		r.Writes.Throttles = []heat.ThrottleCount{{Reason: keyRange, Count: 50}, {Reason: "", Count: 50}}
	})
	peak := flow(20, keyRange)
	peak.Peak = 4500
	second := func(at time.Duration, units float64) heat.Point {
		return heat.Point{From: noon.Add(at), For: time.Second, Units: units, Throttled: 10}
	}
	busy := flow(20, keyRange, second(0, 110_000), second(59*time.Second, 220_000), second(time.Minute, 5000))
	short := flow(20, keyRange, second(0, 30_000), second(time.Hour, 0))
	return []situation{
		{"no reason", of(heat.CloudWatch, flow(20, ""), table(5000)), heat.Rules{}},
		{"no reason, of a key", blamed, only},
		{"a key that is only warm", warm, only},
		{"the table's limit", of(heat.CloudWatch, flow(20, provisioned), table(5000)), heat.Rules{}},
		{"the account's limit", of(heat.CloudWatch, flow(20, "TableWriteAccountLimitExceeded"), table(5000)), heat.Rules{}},
		{"the on-demand maximum", of(heat.CloudWatch, flow(20, "TableWriteMaxOnDemandThroughputExceeded"), table(5000)), heat.Rules{}},
		{"the table's limit, just now", of(heat.Live, flow(20, provisioned, minute(-4*time.Minute, 20)), table(5000)), heat.Rules{}},
		{"the table's limit, a while ago", of(heat.Live, flow(20, provisioned, minute(-5*time.Minute, 20)), table(5000)), heat.Rules{}},
		{"the table's limit, a while ago, by CloudWatch", of(heat.CloudWatch, flow(20, provisioned, minute(-5*time.Minute, 20)), table(5000)), heat.Rules{}},
		{"the table's limit, at an unknown time", of(heat.Live, flow(20, provisioned), table(5000)), heat.Rules{}},
		{"the table's limit of reads", readLimit, heat.Rules{}},
		{"key range, no capacity known", of(heat.CloudWatch, flow(20, keyRange), nil), heat.Rules{}},
		{"key range, ten throttles", of(heat.CloudWatch, flow(10, keyRange), table(5000)), heat.Rules{}},
		{"key range, eleven throttles", of(heat.CloudWatch, flow(11, keyRange), table(5000)), heat.Rules{}},
		{"key range, ten in each five minutes", of(heat.CloudWatch, flow(20, keyRange, minute(-20*time.Minute, 10), minute(-15*time.Minute, 10)), table(5000)), heat.Rules{}},
		{"key range, eleven in five minutes", of(heat.CloudWatch, flow(20, keyRange, minute(-19*time.Minute, 10), minute(-15*time.Minute, 10)), table(5000)), heat.Rules{}},
		{"key range, long ago, live", of(heat.Engine, flow(20, keyRange, minute(-19*time.Minute, 20)), table(5000)), heat.Rules{}},
		{"key range, eleven of late, live", of(heat.Engine, flow(20, keyRange, minute(-19*time.Minute, 9), minute(-4*time.Minute, 11)), table(5000)), heat.Rules{}},
		{"key range of reads", reads, heat.Rules{}},
		{"key range of an index", index, heat.Rules{}},
		{"key range of an index that is read", indexReads, heat.Rules{}},
		{"key range and the table's limit", of(heat.CloudWatch, two, table(5000)), heat.Rules{}},
		{"90 % of the capacity used", of(heat.CloudWatch, peak, table(5000)), heat.Rules{}},
		{"less than 90 % used", of(heat.CloudWatch, peak, table(5001)), heat.Rules{}},
		{"a peak of another source", of(heat.Stream, peak, table(5000)), heat.Rules{}},
		{"a busy minute", of(heat.Stream, busy, table(5000)), heat.Rules{}},
		{"a busy second", of(heat.Stream, short, table(5000)), heat.Rules{}},
		{"on demand, warm", of(heat.Stream, flow(20, keyRange), &heat.Capacity{OnDemand: true, WriteUnits: 77, WarmWrites: 8000, WarmReads: 9}), heat.Rules{}},
		{"provisioned, warm", of(heat.Stream, flow(20, keyRange), &heat.Capacity{WriteUnits: 77, WarmWrites: 8000, WarmReads: 9}), heat.Rules{}},
		{"provisioned for nothing, warm", of(heat.Stream, flow(20, keyRange), &heat.Capacity{WarmWrites: 8000, WarmReads: 9}), heat.Rules{}},
		{"nothing served", of(heat.Stream, but(report(flow(20, keyRange)), func(r *heat.Report) { r.Resources[0].Writes.Units = 0 }).Resources[0].Writes, table(5000)), heat.Rules{}},
	}
}

func signSituations() []situation {
	flow := func(edit func(*heat.Flow)) heat.Report {
		f := heat.Flow{
			Units: 6000, Requests: 1000, Throttled: 5,
			Latency: heat.Latency{P50: 6 * time.Millisecond, P99: 100 * time.Millisecond, P999: 2 * time.Second},
		}
		edit(&f)
		return report(f, func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 1000} })
	}
	capacity := func(r heat.Report, n int64) heat.Report {
		return in(r, func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: n} })
	}
	errors := flow(func(f *heat.Flow) { f.Errors = 3 })
	return []situation{
		{"slow at low traffic", flow(func(*heat.Flow) {}), heat.Rules{}},
		{"not slow", flow(func(f *heat.Flow) { f.Latency.P99-- }), heat.Rules{}},
		{"fast and slow", flow(func(f *heat.Flow) { f.Latency.P50 = 5 * time.Millisecond }), heat.Rules{}},
		{"fast and not slow", flow(func(f *heat.Flow) { f.Latency.P50, f.Latency.P99 = time.Millisecond, 99*time.Millisecond }), heat.Rules{}},
		{"nothing throttled", flow(func(f *heat.Flow) { f.Throttled = 0 }), heat.Rules{}},
		{"no latency", flow(func(f *heat.Flow) { f.Latency = heat.Latency{} }), heat.Rules{}},
		{"too few requests", flow(func(f *heat.Flow) { f.Requests = 99 }), heat.Rules{}},
		{"just enough requests", flow(func(f *heat.Flow) { f.Requests = 100 }), heat.Rules{}},
		{"30 % of the capacity", capacity(flow(func(f *heat.Flow) { f.Units = 18_000 }), 1000), heat.Rules{}},
		{"less than 30 %", capacity(flow(func(f *heat.Flow) { f.Units = 17_999 }), 1000), heat.Rules{}},
		{"an unknown capacity", capacity(flow(func(*heat.Flow) {}), 0), heat.Rules{}},
		{"a moment", but(flow(func(*heat.Flow) {}), func(r *heat.Report) { r.To = r.From }), heat.Rules{}},
		{"a fifth are retries", flow(func(f *heat.Flow) { f.Retries, f.Latency = 200, heat.Latency{} }), heat.Rules{}},
		{"less than a fifth", flow(func(f *heat.Flow) { f.Retries, f.Latency = 199, heat.Latency{} }), heat.Rules{}},
		{"errors of DynamoDB", but(errors, func(r *heat.Report) { r.Source = heat.CloudWatch }), heat.Rules{Sample: 2000}},
		{"errors that a program saw", errors, heat.Rules{Sample: 2000}},
	}
}

// items is a table with some stored items, of keys and their items.
func items(fraction float64, shape string, keys int64, counts ...heat.KeyItems) heat.Report {
	s := &heat.Stored{Fraction: fraction, Distinct: heat.Distinct{Keys: keys}, Keys: counts}
	p := heat.Pattern{Shape: shape, Distinct: heat.Distinct{Keys: keys}}
	for _, k := range counts {
		s.Items += k.Low
		p.Example = k.Key
	}
	s.Items = max(s.Items, 1000)
	p.Items = s.Items
	for i := range s.Keys {
		s.Keys[i].Items, s.Keys[i].Share = s.Keys[i].Low, float64(s.Keys[i].Low)/float64(s.Items)
	}
	r := report(heat.Flow{}, func(r *heat.ResourceReport) {
		r.Stored = s
		if shape != "" {
			r.Patterns = []heat.Pattern{p}
		}
	})
	r.Source = heat.Scan
	return r
}

func storedSituations() []situation {
	expired := func(n int64) heat.Report {
		return in(items(1, "", 50), func(r *heat.ResourceReport) { r.Stored.Expired = n })
	}
	one := func(n int64) heat.KeyItems { return heat.KeyItems{Key: "TENANT#big-one", Low: n} }
	set := in(items(1, "STATUS#{value}", 2, heat.KeyItems{Key: "STATUS#ACTIVE", Low: 900}, heat.KeyItems{Key: "STATUS#NEW", Low: 100}), func(r *heat.ResourceReport) {
		r.Patterns[0].Values = []heat.PatternValue{{Value: "NEW", Key: "STATUS#NEW", Items: 100}, {Value: "ACTIVE", Key: "STATUS#ACTIVE", Items: 900}}
	})
	past := in(items(1, "ORDERS", 3, heat.KeyItems{Key: "ORDERS", Low: 800}, heat.KeyItems{Key: "ORDERS#SHARD_0", Low: 10}), func(r *heat.ResourceReport) {
		r.Patterns[0].Distinct.Keys, r.Patterns[0].Example = 1, "ORDERS"
		r.Stored.Sharded = []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4}, Unsharded: true}, Count: 10, Keys: []heat.KeyShards{{Key: "ORDERS", Shards: 4}}}}
	})
	return []situation{
		{"a tenth has expired", expired(100), heat.Rules{}},
		{"less than a tenth has expired", expired(99), heat.Rules{}},
		{"all have expired", expired(1000), heat.Rules{}},
		{"a tenth of too few", expired(100), heat.Rules{Items: 1001}},
		{"a tenant with a quarter more than its share", items(1, "TENANT#{id}", 101, one(258)), heat.Rules{}},
		{"two large tenants", items(1, "TENANT#{id}", 101, one(410), heat.KeyItems{Key: "TENANT#second", Low: 360}, heat.KeyItems{Key: "TENANT#third", Low: 130}), heat.Rules{}},
		{"a tenant with less", items(1, "TENANT#{id}", 101, one(257)), heat.Rules{}},
		{"a tenant with a hundred items", items(1, "TENANT#{id}", 101, one(300)), heat.Rules{Items: 300}},
		{"a tenant with too few items", items(1, "TENANT#{id}", 101, one(300)), heat.Rules{Items: 301}},
		{"the only tenant", items(1, "TENANT#{id}", 1, one(1000)), heat.Rules{}},
		{"two tenants", items(1, "TENANT#{id}", 2, one(900)), heat.Rules{}},
		{"a sample", items(0.5, "TENANT#{id}", 101, one(500)), heat.Rules{}},
		{"a sample with less of it", items(0.25, "TENANT#{id}", 101, one(500)), heat.Rules{}},
		{"a sample of one key", items(0.5, "TENANT#{id}", 1, one(500)), heat.Rules{}},
		{"left out", items(1, "TENANT#{id}", 101, one(500)), heat.Rules{Exclude: func(string) bool { return true }}},
		{"a status", set, heat.Rules{}},
		{"a heap of unknown shape", items(1, "", 51, one(900)), heat.Rules{}},
		{"a heap of a shape of its own", in(items(1, "TENANT#{id}", 51, one(900)), func(r *heat.ResourceReport) { r.Patterns[0].Distinct.Keys = 1 }), heat.Rules{}},
		{"a heap in a sample", in(items(0.999, "TENANT#{id}", 51, one(900)), func(r *heat.ResourceReport) { r.Patterns[0].Distinct.Keys = 1 }), heat.Rules{}},
		{"a key that has shards now", past, heat.Rules{}},
	}
}

func indexSituations() []situation {
	indexed := func(has, of int64) heat.Report {
		r := report(heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: of}})
		r.Resources = append(r.Resources, heat.ResourceReport{
			Resource: heat.Resource{Table: "app", Index: "byStatus"}, Key: []string{"status", "region"},
			Writes: heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: has}},
		})
		return r
	}
	second := func(r heat.Report, edit func(*heat.ResourceReport)) heat.Report {
		edit(&r.Resources[1])
		return r
	}
	stored := second(indexed(500, 500), func(r *heat.ResourceReport) {
		r.Stored = &heat.Stored{Items: 100, Distinct: heat.Distinct{Keys: 4}}
	})
	stored.Resources[0].Stored = &heat.Stored{Items: 100, Distinct: heat.Distinct{Keys: 90}}
	fewer := second(indexed(4, 90), func(r *heat.ResourceReport) { r.Stored = &heat.Stored{Items: 99, Distinct: heat.Distinct{Keys: 99}} })
	fewer.Resources[0].Stored = &heat.Stored{Items: 100, Distinct: heat.Distinct{Keys: 90}}
	spread := func(shards float64) heat.Report {
		return second(indexed(16, 900), func(r *heat.ResourceReport) {
			r.Patterns = []heat.Pattern{{Shape: "{id}#SHARD_{n}", Sharded: true, Writes: shards, Distinct: heat.Distinct{Keys: 16}}, {Shape: "{id}", Writes: 250, Items: 250, Distinct: heat.Distinct{Keys: 16}}}
		})
	}
	listed := func(has, items int64) heat.Report {
		r := second(indexed(99, 1194), func(r *heat.ResourceReport) {
			r.Stored = &heat.Stored{Items: items, Distinct: heat.Distinct{Keys: has}}
		})
		r.Resources[0].Stored = &heat.Stored{Items: 2782, Distinct: heat.Distinct{Keys: 1194}}
		return r
	}
	few := second(indexed(4, 90), func(r *heat.ResourceReport) { r.Writes.Requests = 99 })
	fewOfTable := in(indexed(4, 90), func(r *heat.ResourceReport) { r.Writes.Requests = 99 })
	return []situation{
		{"a tenth of the table's keys", indexed(10, 100), heat.Rules{}},
		{"more than a tenth", indexed(11, 109), heat.Rules{}},
		{"one of ten", indexed(1, 10), heat.Rules{}},
		{"one of nine", indexed(1, 9), heat.Rules{}},
		{"a hundred keys with little traffic", indexed(100, 100_000), heat.Rules{}},
		{"a hundred keys", second(indexed(100, 100_000), func(r *heat.ResourceReport) { r.Writes.Peak = 200 }), heat.Rules{}},
		{"twenty keys", indexed(20, 1000), heat.Rules{}},
		{"fewer items in the index than keys of the table", listed(99, 447), heat.Rules{}},
		{"few keys of these items", listed(9, 447), heat.Rules{}},
		{"more than a hundred keys", indexed(101, 100_000), heat.Rules{}},
		{"no keys", indexed(0, 100), heat.Rules{}},
		{"a table that the report lacks", but(indexed(3, 900), func(r *heat.Report) { r.Resources = r.Resources[1:] }), heat.Rules{}},
		{"stored items", stored, heat.Rules{}},
		{"too few stored items", fewer, heat.Rules{}},
		{"too few writes", few, heat.Rules{}},
		{"too few writes of the table", fewOfTable, heat.Rules{}},
		{"mostly shards", spread(501), heat.Rules{}},
		{"shards for a half", spread(500), heat.Rules{}},
		{"throttled", second(indexed(3, 900), func(r *heat.ResourceReport) {
			r.Writes.Throttled, r.Writes.Throttles = 50, []heat.ThrottleCount{{Reason: "IndexWriteKeyRangeThroughputExceeded", Count: 50}}
		}), heat.Rules{}},
		{"throttled a few times", second(indexed(3, 900), func(r *heat.ResourceReport) {
			r.Reads.Throttled, r.Reads.Throttles = 5, []heat.ThrottleCount{{Reason: "IndexReadKeyRangeThroughputExceeded", Count: 5}}
		}), heat.Rules{}},
	}
}

func suspectSituations() []situation {
	var all []situation
	for _, key := range []string{
		"test", "USER#Tests#1", "a.testing", "loadtest-7", "perftest|1", "x/benchmark", "bench x", "dummy:1", "my_fake", "smoketest",
		"USER#null", "nil", "none", "undefined", "USER#NaN", "bot", "crawler#1", "spider", "scraper",
		"USER#00000000-0000-0000-0000-000000000000", "contest", "robot", "USER#latest", "nullable",
	} {
		all = append(all, situation{"the key " + key, report(shares(map[string]float64{key: 100})), heat.Rules{}})
	}
	few := func(share float64) heat.Report {
		f := shares(map[string]float64{"loadtest": 100 * share})
		f.Distinct.Keys = 50
		return report(f)
	}
	reads := report(heat.Flow{})
	reads.Resources[0].Reads = shares(map[string]float64{"loadtest": 100})
	return append(all,
		situation{"a twentieth of the traffic", few(0.05), heat.Rules{}},
		situation{"less than a twentieth", few(0.0499), heat.Rules{}},
		situation{"too few requests", few(0.05), heat.Rules{Sample: 10_001}},
		situation{"just enough requests", few(0.05), heat.Rules{Sample: 10_000}},
		situation{"read", reads, heat.Rules{}},
		situation{"left out", reads, heat.Rules{Exclude: func(key string) bool { return key == "loadtest" }}},
	)
}
