package plan

import (
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// notes collects the notes on a plan, the most severe first.
func (w *Workload) notes(p *Plan) []Note {
	n := noting{Workload: w, plan: p, list: []Note{}}
	n.impossible()
	n.shardCount()
	n.partitions()
	n.table()
	n.buckets()
	n.indexes()
	n.existing()
	n.reading()
	n.observed()
	slices.SortStableFunc(n.list, func(a, b Note) int { return int(b.Severity - a.Severity) })
	return n.list
}

// noting is a plan whose notes are being collected.
type noting struct {
	*Workload
	plan *Plan
	list []Note
}

func (n *noting) say(s Severity, code, format string, args ...any) {
	n.list = append(n.list, Note{s, code, fmt.Sprintf(format, args...)})
}

// impossible is for loads that the strategy cannot bear.
func (n *noting) impossible() {
	p, l := n.plan, &n.plan.Load
	if p.Strategy == Leave && l.tooHot() {
		n.say(Critical, "cannot-spread", "the key will be throttled, and shards cannot help: %s",
			p.Reasons[len(p.Reasons)-1])
	}
	if n.Atomic {
		severity := Info
		if p.Shard || l.HotWrites {
			severity = Critical
		}
		n.say(severity, "cross-item-consistency",
			"one request reads the items of one key, and one transaction changes up to 100 of them; a read of several "+
				"shards is not a snapshot")
	}
	if p.Strategy == Replicated && p.Shards > maxCopies {
		n.say(Critical, "beyond-one-key", "the load needs %s copies, and package replica keeps at most %s: divide the reads among "+
			"several items first", grouped(p.Shards), grouped(maxCopies))
	} else if p.Shards == MaxShards {
		n.say(Critical, "beyond-one-key", "the load is more than %s can take: divide it among several keys "+
			"first", figure.Count(MaxShards, "shard"))
	}
}

// shardCount judges the number of shards in the workload.
func (n *noting) shardCount() {
	p, f := n.plan, &n.plan.Formulas
	if n.adaptive {
		return // its number of shards is not for a plan to judge
	}
	if n.Shards == 0 {
		if !p.Shard && p.Load.WriteUnits*2 > p.Load.PartitionWrites && !p.Load.HotWrites {
			n.say(Info, "near-limit", "the key uses %s of a partition's limit: with BareZero, shards can be "+
				"added later without moving any item",
				percent(float64(p.Load.WriteUnits)/float64(p.Load.PartitionWrites)))
		}
		return
	}
	switch {
	case p.Strategy == Counter: // it writes less than the formula counts
	case n.Shards < f.Minimum:
		n.say(Critical, "too-few-shards", "%s take at most %s write units a second: a load of %s needs at least %s",
			figure.Count(n.Shards, "shard"), grouped(int64(n.Shards)*p.Load.PartitionWrites), grouped(p.Load.WriteUnits),
			grouped(f.Minimum))
	case p.Strategy == Replicated: // shards are not copies
	case p.Recommended != nil && n.Shards < p.Shards:
		limit, unit := float64(p.Load.PartitionWrites), "write"
		if n.readBound(p.Load, p.Strategy) {
			limit, unit = float64(p.Load.PartitionReads), "read"
		}
		n.say(Warning, "few-shards", "%s are fewer than the %s of this plan: on %s they sustain %s %s units a second",
			figure.Count(n.Shards, "shard"), grouped(p.Shards), figure.Count(p.Partitions, "partition"),
			grouped(limit*bins.Spread{Shards: n.Shards, Partitions: p.Partitions}.Sustained(p.Choice, n.Assume.Confidence)), unit)
	case n.Shards > max(p.Shards, f.Generous), n.Shards > p.Shards && p.Recommended == nil:
		n.tooMany()
	}
}

func (n *noting) tooMany() {
	p := n.plan
	strategy := p.Strategy
	if !p.Shard {
		strategy = Random
	}
	all := n.cost(n.readWith(strategy, n.Shards, 1, layout.NoBucket))
	if all.Units <= p.Read.Units {
		n.say(Info, "too-many-shards", "%s are more than the load needs", figure.Count(n.Shards, "shard"))
		return
	}
	n.say(Warning, "too-many-shards", "%s are more than the load needs, and every read pays for them: %s and %s "+
		"units instead of %s and %s",
		figure.Count(n.Shards, "shard"), figure.Count(all.Requests, "request"), grouped(all.Units), grouped(p.Read.Requests),
		grouped(p.Read.Units))
}

// partitions compares shards with partitions.
func (n *noting) partitions() {
	p := n.plan
	if p.Recommended == nil {
		return
	}
	r, formula := p.Recommended, p.Ways[0]
	if !formula.Fits {
		n.say(Info, "shards-are-not-partitions",
			"the formula gives %s, but the %s has %s: in %s of placements the shards sustain %s units a second, not %s; "+
				"on average they accept %s of the peak",
			figure.Count(formula.Shards, "shard"), n.place(), figure.Count(formula.Partitions, "partition"),
			percent(n.Assume.Confidence), grouped(formula.Sustained), grouped(formula.UpperBound),
			grouped(formula.Accepted))
	}
	if !r.Fits {
		n.say(Critical, "does-not-fit", "no number of shards lets %s take the peak with headroom: expect DynamoDB to "+
			"accept %s of %s units a second",
			figure.Count(r.Partitions, "partition"), grouped(r.Accepted), grouped(p.Peak))
	}
	if p.Warm != nil {
		n.say(Warning, "warm-first", "warm the %s to %s before the load starts, which gives it %s; DynamoDB splits "+
			"hot partitions on its own, but only after minutes",
			n.warmed(p), p.Warm.text(), figure.Count(p.Warm.Partitions, "partition"))
	} else if warmed := p.Ways[len(p.Ways)-1]; warmed.Name == Warmed && warmed.Read.Units < r.Read.Units {
		n.say(Info, "warming-saves-reads", "after warming to %s, %s would suffice: a read then takes %s and %s "+
			"units, not %s and %s",
			figure.Count(warmed.Partitions, "partition"), figure.Count(warmed.Shards, "shard"),
			figure.Count(warmed.Read.Requests, "request"), grouped(warmed.Read.Units),
			grouped(r.Read.Requests), grouped(r.Read.Units))
	}
	if n.Shards == 0 && p.Choice == Uniform && p.Shard {
		n.say(Info, "uniform", "the item decides its shard, so writers cannot avoid throttled shards: this takes "+
			"more shards than a random choice")
	}
}

func (w *Warm) text() string {
	if w.WriteUnits == 0 {
		return grouped(w.ReadUnits) + " read units a second"
	}
	return grouped(w.WriteUnits) + " write units a second"
}

// table is about limits that shards do not raise.
func (n *noting) table() {
	p, t := n.plan, &n.Table
	all := n.written(p.Load, p.Strategy) + p.Load.OtherWriteUnits
	if t.WriteUnits > 0 && all > float64(t.WriteUnits) {
		n.say(Critical, "table-capacity", "a demand of %s write units a second exceeds the %s provisioned: shards do "+
			"not change that",
			grouped(all), grouped(t.WriteUnits))
	}
	if t.ReadUnits > 0 && p.Read.UnitsPerSecond > float64(t.ReadUnits) {
		n.say(Critical, "table-read-capacity", "reads take %s units a second, more than the %s provisioned",
			grouped(p.Read.UnitsPerSecond), grouped(t.ReadUnits))
	}
	most := max(all, p.Read.UnitsPerSecond)
	if p.Warm != nil {
		most = max(most, float64(p.Warm.WriteUnits), float64(p.Warm.ReadUnits))
	}
	if most > TableQuota {
		n.say(Warning, "quota", "the load exceeds a table's default quota of %s units a second: ask AWS for a higher "+
			"one",
			grouped(TableQuota))
	}
	if p.Waste != nil && p.Waste.Wasted > 0 && p.Waste.Usable < p.Load.WriteUnits {
		n.say(Warning, "wasted-capacity", "of %s provisioned write units, %s can use %s: the other %s (%s), %s a "+
			"month, cannot help this key",
			grouped(p.Waste.Provisioned), figure.Count(max(n.Shards, 1), "shard"), grouped(p.Waste.Usable),
			grouped(p.Waste.Wasted), percent(p.Waste.Share), dollars(p.Waste.Dollars))
	}
}

// buckets says where a bucket does not help.
func (n *noting) buckets() {
	p := n.plan
	switch p.Strategy {
	case Bucketed:
		n.say(Info, "bucket-alone", "a bucket alone gives × 1: all current writes share its key, so above %s write "+
			"units a second it needs shards as well", grouped(p.Load.PartitionWrites))
	case BucketedShards:
		if p.Load.HotWrites {
			n.say(Info, "bucket-alone", "a bucket by %s alone would give × 1: the %s in each bucket take the load",
				p.Bucket, figure.Count(p.Shards, "shard"))
		}
		if p.Recommended != nil && p.Choice == Aware {
			n.say(Info, "bucket-luck", "the shards of each %s land on other partitions: at %s confidence, one %s in %s has a worse placement",
				p.Bucket, percent(n.Assume.Confidence), p.Bucket, grouped(1/(1-n.Assume.Confidence)))
		}
	}
}

// indexes says when an index is hot.
func (n *noting) indexes() {
	p := n.plan
	if n.Table.Index && p.Load.HotWrites {
		n.say(Warning, "hot-index", "when an index is throttled, DynamoDB refuses the table's writes: shard the index's "+
			"key like a table's, and read the list from all shards")
	}
	if p.Index != nil && p.Index.Hot {
		n.say(Info, "index-as-hot", "an index by this key would be as hot: it takes %s write units a second, so its "+
			"key needs %s as well",
			grouped(p.Index.WriteUnits), figure.Count(p.Index.Shards, "shard"))
	}
}

// existing is about existing items.
func (n *noting) existing() {
	if n.Shards > 0 && !n.Existing && placing(n.plan.Strategy) == layout.Calculated && n.Shards != n.plan.Shards {
		n.say(Info, "past-shards", "if %s already hold items, this layout looks for them in other shards: Existing (--existing) "+
			"adds the old layout to Options.Older", figure.Count(n.Shards, "shard"))
	}
	if n.duplicates(n.plan) {
		n.say(Warning, "second-copy", "Put of an existing item stores a second copy: change the item with Update, or Delete it first; "+
			"heatsink refuses a conditional Put with ErrScattered; see docs/layouts.md")
	}
}

// reading is about reads that are throttled, slow or expensive.
func (n *noting) reading() {
	p := n.plan
	if n.Reads > p.Read.Sustained && p.Strategy != Cached && p.Strategy != Replicated && p.Strategy != Leave {
		n.say(Critical, "read-hot", "%s reads a second exceed the %s that the partitions take, at %s each: put a "+
			"cache in front of them",
			grouped(n.Reads), grouped(p.Read.Sustained), figure.Count(p.Read.Requests, "request"))
	}
	if p.Strategy == Cached {
		units := p.Read.Units / n.Read.Stale.Seconds()
		n.say(Info, "cached", "with a cache that keeps a result for %v, each process takes at most %s read units a "+
			"second", n.Read.Stale, grouped(units))
	}
	if p.Strategy == Replicated {
		n.say(Warning, "copies", "every item is written %s times, %s write units a second in all; package replica serves a copy for up to "+
			"Options.MaxStale after it was current, and AtLeast demands a version",
			grouped(min(p.Shards, maxCopies)+1), grouped(float64(min(p.Shards, maxCopies)+1)*float64(p.Load.WriteUnits)))
		if p.Load.HotWrites {
			n.say(Critical, "hot-copies", "each copy takes all writes, which exceed one partition's limit")
		}
	}
	if limit := n.MaxLatency; limit > 0 && n.Reads > 0 && p.Read.P99Millis > 1e3*limit.Seconds() {
		n.say(Warning, "slow-reads", "a read of %s takes %s ms at the 99th percentile, more than the limit of %v: "+
			"hedge requests, accept partial results, or cache",
			figure.Count(p.Read.Requests, "request"), grouped(p.Read.P99Millis), limit)
	}
	if limit := n.MaxDollars; limit > 0 && p.monthly(n) > limit {
		n.say(Warning, "over-budget", "reads and writes cost %s a month, more than the limit of %s",
			dollars(p.monthly(n)), dollars(limit))
	}
	if p.Trade != nil && p.Trade.Outweighs {
		n.say(Warning, "reads-outweigh", "reads of shards add %s a month, more than the %s for all writes: "+
			"denormalise, with an aggregate or a copy for reads, or list the items in another store",
			dollars(p.Trade.AddedDollars), dollars(p.Recommended.Dollars-p.Read.Dollars))
	}
}

// monthly is the cost of all reads and writes of the key.
func (p *Plan) monthly(n *noting) float64 {
	if p.Recommended != nil {
		return p.Recommended.Dollars
	}
	return p.Read.Dollars + n.Assume.Prices.writes(n.Table.mode(), float64(p.Load.WriteUnits), n.Assume.Average)
}

// throttles says how often the key was throttled, and in what time.
func (n *noting) throttles() string {
	text := figure.Count(n.Throttles, "throttle")
	if n.seen {
		return text + " while it was observed"
	}
	return text + " in five minutes"
}

// tooManyThrottles says that they are more than retries handle.
func (n *noting) tooManyThrottles() string {
	if n.seen {
		return fmt.Sprintf("%s, more than the %d in five minutes that retries handle", n.throttles(), enoughThrottles)
	}
	return fmt.Sprintf("%s are more than %d", n.throttles(), enoughThrottles)
}

// partition says which part of a partition's limit the key's writes are.
func (n *noting) partition() string {
	return percent(float64(n.plan.Load.WriteUnits) / float64(n.plan.Load.PartitionWrites))
}

// crowdedShards reports whether shards are throttled although none of them is too hot.
func (n *noting) crowdedShards() bool { return n.Shards > 1 && (n.crowdedWrites || n.crowdedReads) }

const fewKeys = 10

// observed is about measurements, and what they lack.
func (n *noting) observed() {
	p := n.plan
	if part, below := n.below(p.Load); below {
		n.say(Warning, "held-at-the-limit", "the key is throttled at %s of what one partition serves, and how much more it wants is unknown: "+
			"measure again after this change", percent(part))
	} else if p.Load.Guessed {
		n.say(Warning, "held-at-the-limit", "the key takes all that one partition serves, and how much more it wants is unknown: "+
			"measure again after this change, and expect that it needs more")
	}
	switch {
	case n.crowdedShards() && !n.adaptive:
		n.say(Warning, "full-partition", "each of the %s is below one partition's limit, and they are throttled: they share "+
			"partitions, with each other or with other keys; more warm throughput of the %s gives them partitions of their own",
			figure.Count(n.Shards, "shard"), n.place())
	case n.adaptive && n.Throttles > enoughThrottles:
		n.say(Warning, "grows-by-itself", "%s: a key is throttled in the seconds until it has grown. If it goes on, ask heatsink ledger show whether "+
			"it is frozen or at its maximum, check that all writers have Options.Adaptive, and warm the %s", n.throttles(), n.place())
	case n.crowdedWrites || n.crowdedReads:
		n.say(Warning, "full-partition", "the key is throttled although it is below one partition's limit: other keys share "+
			"its partition; more warm throughput of the %s gives them partitions of their own", n.place())
	case p.Load.Throttled && n.idleShards():
		n.say(Warning, "throttled", "%s, but each of the %s has little load: they share partitions, or the partitions are too "+
			"few; warm the %s", n.tooManyThrottles(), figure.Count(n.Shards, "shard"), n.place())
	case p.Load.Throttled && p.Strategy == Leave:
		n.say(Warning, "throttled", "%s, and shards do not help: if other keys share the partition, warm the %s",
			n.tooManyThrottles(), n.place())
	case p.Load.Throttled && p.Strategy == Counter:
		n.say(Warning, "throttled", "%s: one item takes all the writes", n.tooManyThrottles())
	case p.Load.Throttled && n.Shards > 1:
		n.say(Warning, "throttled", "%s: the key needs more shards than it has", n.tooManyThrottles())
	case p.Load.Throttled:
		n.say(Warning, "throttled", "%s: the key needs shards", n.tooManyThrottles())
	case n.Throttles > 0 && n.bystander && n.neighbour != "":
		n.say(Info, "beside-a-hot-key", "%s cannot come from the key's own load, %s of a partition's limit: it likely shares its "+
			"partition with %s, and that key is the one to shard", n.throttles(), n.partition(), named(n.neighbour))
	case n.Throttles > enoughThrottles && n.bystander:
		n.say(Warning, "short-bursts", "%s, at %s of a partition's limit: its bursts are shorter than the measurement, or it shares its "+
			"partition with keys that were not seen; spread its bursts over some seconds (package ratelimit), or warm the %s",
			n.throttles(), n.partition(), n.place())
	case n.Throttles > 0:
		n.say(Info, "few-throttles", "%s: that is healthy, DynamoDB adapts, and retries handle the rest", n.throttles())
	}
	if p.Load.KeysAbove > 1 {
		n.say(Warning, "more-hot-keys", "with this skew, %s exceed a partition's limit, not only this one",
			figure.Count(p.Load.KeysAbove, "key"))
	}
	if n.Keys > 0 && n.Keys < fewKeys && !p.Shard {
		n.say(Info, "low-cardinality", "a table with %s becomes hot as its load grows: the load is on at most as "+
			"many partitions", figure.Count(n.Keys, "key"))
	}
	if p.Load.HottestShare == 0 && p.Recommended != nil {
		n.say(Info, "others-unknown", "the load of other keys is unknown and not counted: it takes capacity from the "+
			"same partitions")
	}
}
